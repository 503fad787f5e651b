"""This machine: one bash that keeps its state from command to command, and starts at first use."""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tools.environments.base import PLAIN, CommandResult, Environment, with_variables
from tools.environments.containment import (
    OFF,
    Containment,
    Enclosure,
    best_enclosure,
    report,
)
from tools.environments.job_table import JobTable
from tools.environments.jobs import Job, JobOptions
from tools.environments.local_host import LocalHost, ProcessChannel
from tools.environments.local_jobs import LocalJob, LocalOrder, start_job
from tools.environments.output import OutputCollector
from tools.environments.shell import (
    BASH,
    SECONDS_TO_TIDY_UP,
    Ending,
    Shell,
    State,
    make_home,
    open_written,
    remove_home,
)
from tools.environments.sudo import Sudo, uses_sudo
from tools.environments.turns import CLOSED, PLAIN_TERMINAL, encoded, halted, take_turn
from tools.files.paths import is_inside
from tools.secrets.variables import for_children

TERMINAL = "xterm-256color"
"""What a program in a terminal of its own may use; escapes are taken out of what a model reads."""
BACKGROUND = """\
{ if [[ -n $1 ]]; then
    builtin source "/dev/fd/$1" 2>/dev/null; PWD=$2; builtin set +e; builtin eval "exec $1<&-"
  fi; builtin shopt -s expand_aliases; __hermes_text=$3; [[ -z $4 ]] || builtin export TERM=$4
  builtin shift "$#"; builtin eval -- "$__hermes_text"; }"""
"""Start of a background process: the state of the shell from a descriptor, then the command."""
PLACE = "local"


class LocalEnvironment(Environment):
    """Commands run as the user, in the user's own system.

    Parameters
    ----------
    cwd
        Where the shell starts; the process's folder if None.
    env
        Variables in addition to those of this process.
    passed
        Names, or patterns of names, of variables of this process that commands get although they
        look secret. The others they do not get.
    sudo
        Who answers when ``sudo`` asks for a password. None: then it fails, and nobody is asked.
    containment
        What commands may touch; see `contain`.
    jobs
        Where background processes are kept; those that it knows of this machine are found again.
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        *,
        passed: Iterable[str] = (),
        sudo: Sudo | None = None,
        containment: Containment = OFF,
        jobs: JobTable | None = None,
    ) -> None:
        self._state = State(str(Path(cwd or Path.cwd()).expanduser().absolute()))
        self._extra, self._passed = dict(env or {}), tuple(passed)
        self._sudo = sudo or Sudo(program="")
        self._workspace, self._containment = self._state.cwd, containment
        self._enclosure = Enclosure(OFF, self._workspace)
        self._lock = threading.Lock()  # one command at a time; guards the shell and its state
        self._interrupted = threading.Event()
        self._closed = False
        self._shell: Shell | None = None
        self._home: Path | None = None
        self._beside: Enclosure | None = None
        self._beside_for = OFF
        """What was asked for when those bounds were made."""
        self._inside: list[Job] = []
        """Background processes within the bounds that are in force."""
        self.processes = JobTable() if jobs is None else jobs
        self.processes.adopt(PLACE, LocalJob)
        self.host = LocalHost()

    @property
    def backend(self) -> str:
        return "local"

    @property
    def cwd(self) -> str:
        here = Path(self._state.cwd)  # its folder, or the nearest one if that was removed
        return str(next(folder for folder in (here, *here.parents) if folder.is_dir()))

    def execute(
        self,
        command: str,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        on_output: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> CommandResult:
        text = encoded(with_variables(command, env))
        given = None if stdin is None else encoded(stdin, nul=True)
        if not take_turn(self._lock, cancelled):
            return halted("interrupted", OutputCollector(on_output), timeout)
        try:
            self._interrupted.clear()
            about_bounds = self._enclose()
            folder, notes = self._start_folder(cwd)
            notes = about_bounds + notes
            shell = self._living_shell(notes)
            output = OutputCollector(on_output)
            halt = self._halt_after(timeout, cancelled)
            with self._sudo.serving(command) as attempt:
                ending = shell.run(text, given, folder, output, halt)
            self._remember(ending, stay=cwd is not None)
        finally:
            self._lock.release()
        notes.extend(_notes_about(ending))
        if ending.halted:
            return halted(ending.halted, output, timeout, " ".join(notes))
        printed = output.finish()
        notes.extend(filter(None, [self._sudo.after(attempt, printed)]))
        return CommandResult(printed, ending.exit_code, note=" ".join(notes))

    def prepare(self) -> None:
        """Start the shell, if no command has yet; bounds do not change under what runs."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._shell is None and not self._inside and not self._closed:
                self._enclose()
                self._living_shell([])
        finally:
            self._lock.release()

    def interrupt(self) -> None:
        self._interrupted.set()

    def spawn(self, command: str, *, cwd: str | None = None, options: JobOptions = PLAIN) -> Job:
        encoded(command)
        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            self._enclose()
            folder, _ = self._start_folder(cwd)
            job = self._start(command, folder, options)
        if uses_sudo(command):
            self._sudo.serve_also(job)
        return job

    def close(self) -> None:
        self._closed = True
        self.interrupt()
        with self._lock:
            if self._shell is not None:
                self._shell.kill(grace=SECONDS_TO_TIDY_UP)
                self._shell = None
            if self._home is not None:
                remove_home(self._home, os.getpid())
            self._enclosure.close()
            self._end_beside()
        self.processes.close()

    def start_beside(self, argv: Sequence[str]) -> ProcessChannel:
        """Start a process in the shell's folder, within bounds.

        Where none are asked for it gets those of bubblewrap, if this machine can hold it in them.

        Raises
        ------
        HostError
            If it cannot be started.
        NotContained
            If bounds are asked for that cannot be had.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            folder = self._start_folder(None)[0]
            wanted = self._wanted_beside(folder)
            if self._beside is None or self._beside_for != wanted:
                self._end_beside()
                self._beside = best_enclosure(wanted, self._workspace)
                self._beside_for = wanted
            beside = self._beside
        env = {**for_children(os.environ, self._passed), **self._extra, **beside.variables}
        return ProcessChannel(argv, cwd=folder, env=env, start=beside.start)

    def _wanted_beside(self, folder: str) -> Containment:
        """The bounds that are asked for; if none are, it may write where the shell is."""
        wanted = self._containment
        workspace = wanted.workspace or self._workspace
        if wanted.mode != "off" or is_inside(os.path.realpath(folder), os.path.realpath(workspace)):
            return wanted
        return replace(wanted, workspace=folder)

    @property
    def bounds_beside(self) -> str:
        """Of what was started last by `start_beside`: what holds it, for a person; or "off"."""
        return self._beside.description if self._beside is not None else "off"

    def _end_beside(self) -> None:
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def contain(self, containment: Containment) -> None:
        """Hold all that is started from now on in these bounds.

        Where the bounds cannot be had, no command runs. When they change, the shell forgets its
        state, for what was defined inside must not run outside, and what ran inside ends.
        """
        self._containment = containment

    def bounds(self) -> tuple[bool, str]:
        """Whether the bounds that are asked for can be had; what they are, or why not."""
        return report(self._containment, self._workspace)

    def _enclose(self) -> list[str]:
        """Put the bounds in force that are asked for; what to say if the shell ended by that."""
        wanted = self._containment
        if self._enclosure.containment == wanted:
            return []
        enclosure = Enclosure(wanted, self._workspace)
        inside, self._inside = self._inside, []
        for job in inside:
            job.kill()
        self._enclosure.close()
        self._enclosure, self._state = enclosure, State(self._state.cwd)
        if self._shell is None:
            return []
        self._shell.kill(grace=SECONDS_TO_TIDY_UP)
        self._shell = None
        return [f"The shell was started again; containment is now: {enclosure.description}."]

    def _start(self, command: str, folder: str, options: JobOptions) -> Job:
        contained = self._enclosure.containment.mode != "off"
        order = self._order(command, folder, options)
        try:
            record = self.processes.prepare(command, folder, PLACE, options, outlives=not contained)
            try:
                job = start_job(order, record, self.processes.folder_of(record))
            except BaseException:
                self.processes.abandon(record)
                raise
        finally:
            for number in order.inherited:
                os.close(number)
        self.processes.add(job)
        if contained:
            self._inside.append(job)
        return job

    def _order(self, command: str, folder: str, options: JobOptions) -> LocalOrder:
        end = [folder, command, TERMINAL if options.pty else ""]
        loader = [BASH, "--noprofile", "--norc", "-c", BACKGROUND, "bash"]
        if self._state.snapshot is None:
            argv = self._enclosure.around([*loader, "", *end], folder)
            return LocalOrder(argv=argv, env=self._variables())
        # The file may be gone before the child reads it; an open descriptor stays.
        number = open_written(self._state.snapshot)
        argv = self._enclosure.around([*loader, str(number), *end], folder)
        return LocalOrder(argv=argv, env={}, inherited=[number])

    def _living_shell(self, notes: list[str]) -> Shell:
        """The shell, started if there is none."""
        if self._closed:
            raise RuntimeError(CLOSED)
        home_is_there = self._home is not None and self._home.is_dir()
        if self._shell is not None:
            if home_is_there and self._shell.alive:
                return self._shell
            self._shell.kill(grace=SECONDS_TO_TIDY_UP)
            notes.append("The shell had ended; it was started again.")
        if self._home is None or not home_is_there:
            self._home = make_home()
            weakref.finalize(self, remove_home, self._home, os.getpid())
            self._state = State(self._state.cwd)
        start = self._enclosure.starter(self._home)
        self._shell = Shell(self._state, self._home, self._variables(), start)
        return self._shell

    def _variables(self) -> dict[str, str]:
        """What a new shell finds in its environment."""
        visible = {**for_children(os.environ, self._passed), **PLAIN_TERMINAL, **self._extra}
        if self._enclosure.containment.mode != "off":  # within bounds nobody becomes root
            return {**visible, **self._enclosure.variables}
        return {**visible, **self._sudo.variables(visible)}

    def _start_folder(self, wanted: str | None) -> tuple[str, list[str]]:
        """Folder to start in, and what to say if the shell's own one is gone."""
        if wanted is not None:
            inside = str(Path(self.cwd, Path(wanted).expanduser()))
            folder = os.path.realpath(self._enclosure.outside(inside))
            if not Path(folder).is_dir():
                raise ValueError(f"no such folder: {folder!r}")
            return folder, []
        here, there = self._state.cwd, self.cwd
        if here == there:
            return here, []
        self._state = replace(self._state, cwd=there)
        return there, [f"The folder {here!r} no longer exists; now in {there!r}."]

    def _halt_after(
        self, timeout: float | None, cancelled: threading.Event | None
    ) -> Callable[[], str]:
        deadline = None if timeout is None else time.monotonic() + timeout
        asked = self._sudo.seconds_asking

        def halt() -> str:
            if self._interrupted.is_set() or (cancelled is not None and cancelled.is_set()):
                return "interrupted"
            if deadline is None or time.monotonic() < deadline:
                return ""
            # The time in which a person looks for a password is not the command's.
            in_time = time.monotonic() < deadline + self._sudo.seconds_asking - asked
            return "" if in_time else "timed out"

        return halt

    def _remember(self, ending: Ending, *, stay: bool) -> None:
        cwd = self._state.cwd if stay else self._enclosure.outside(ending.state.cwd)
        self._state = replace(ending.state, cwd=cwd)
        if ending.shell_ended:
            self._shell = None


def shell_is_available() -> tuple[bool, str]:
    """Whether bash can be started, and why not. On Windows it is not looked for yet."""
    if os.name != "posix":
        return False, "needs bash on Linux or macOS"
    return shutil.which(BASH) is not None, "bash is not on PATH"


def _notes_about(ending: Ending) -> list[str]:
    notes = []
    if ending.halted:
        notes.append("The shell was killed with the command; the next one starts with its state.")
    elif ending.shell_ended:
        notes.append(
            "The command ended the shell. The next one starts with its folder, variables, "
            "functions and aliases; background jobs were stopped and `set -e` is off."
        )
    if ending.left_running:
        notes.append("A background child still runs; what it prints from now on is not shown.")
    return notes
