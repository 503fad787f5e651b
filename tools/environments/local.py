"""This machine: one bash that keeps its state from command to command, and starts at first use."""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tools.environments.base import INTERRUPTED, TIMED_OUT, CommandResult, Environment
from tools.environments.containment import OFF, Containment, Enclosure, report
from tools.environments.output import OutputCollector
from tools.environments.processes import BackgroundProcess, Launch, ProcessTable
from tools.environments.shell import (
    BASH,
    SECONDS_BETWEEN_LOOKS,
    SECONDS_TO_TIDY_UP,
    Ending,
    Shell,
    State,
    make_home,
    open_written,
    remove_home,
)
from tools.environments.sudo import Sudo, uses_sudo
from tools.secrets.variables import for_children

PLAIN_TERMINAL = {"GIT_PAGER": "cat", "PAGER": "cat", "PYTHONUNBUFFERED": "1", "TERM": "dumb"}
CLOSED = "this environment is closed; open another one"
BACKGROUND = """\
{ if [[ -n $1 ]]; then
    builtin source "/dev/fd/$1" 2>/dev/null; PWD=$2; builtin set +e; builtin eval "exec $1<&-"
  fi; builtin shopt -s expand_aliases; __hermes_text=$3; builtin shift "$#"
  builtin eval -- "$__hermes_text"; }"""
"""Start of a background process: the state of the shell from a descriptor, then the command."""


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
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        *,
        passed: Iterable[str] = (),
        sudo: Sudo | None = None,
        containment: Containment = OFF,
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
        self.processes = ProcessTable()

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
        on_output: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> CommandResult:
        text, given = _encoded(command), None if stdin is None else _encoded(stdin, nul=True)
        if not _take_turn(self._lock, cancelled):
            return _halted("interrupted", OutputCollector(on_output), timeout)
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
            return _halted(ending.halted, output, timeout, " ".join(notes))
        printed = output.finish()
        notes.extend(filter(None, [self._sudo.after(attempt, printed)]))
        return CommandResult(printed, ending.exit_code, note=" ".join(notes))

    def interrupt(self) -> None:
        self._interrupted.set()

    def spawn(self, command: str, *, cwd: str | None = None) -> BackgroundProcess:
        _encoded(command)
        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            self._enclose()
            folder, _ = self._start_folder(cwd)
            launch = self._launch(command, folder)
            try:
                process = BackgroundProcess(command, launch)
            finally:
                for number in launch.inherited:
                    os.close(number)
        self.processes.add(process)
        if uses_sudo(command):
            self._sudo.serve_also(process)
        return process

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
        self.processes.close()

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
        self._enclosure.close()
        self._enclosure, self._state = enclosure, State(self._state.cwd)
        if self._shell is None:
            return []
        self._shell.kill(grace=SECONDS_TO_TIDY_UP)
        self._shell = None
        return [f"The shell was started again; containment is now: {enclosure.description}."]

    def _launch(self, command: str, folder: str) -> Launch:
        arguments = [folder, command]
        loader = [BASH, "--noprofile", "--norc", "-c", BACKGROUND, "bash"]
        if self._state.snapshot is None:
            argv, start = [*loader, "", *arguments], self._enclosure.start
            return Launch(argv, folder, self._variables(), start=start)
        # The file may be gone before the child reads it; an open descriptor stays.
        number = open_written(self._state.snapshot)
        argv, start = [*loader, str(number), *arguments], self._enclosure.start
        return Launch(argv, folder, {}, [number], start)

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


def _encoded(text: str, *, nul: bool = False) -> bytes:
    if "\0" in text and not nul:
        raise ValueError("a command cannot contain the character NUL")
    return text.encode("utf-8", "surrogateescape")  # its error is a ValueError as well


def _take_turn(lock: threading.Lock, cancelled: threading.Event | None) -> bool:
    """Wait for the lock; False if the call was cancelled first."""
    while not lock.acquire(timeout=SECONDS_BETWEEN_LOOKS):
        if cancelled is not None and cancelled.is_set():
            return False
    return True


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


def _halted(
    why: str, output: OutputCollector, timeout: float | None, note: str = ""
) -> CommandResult:
    if why == "timed out":
        text = output.finish(f"[Command timed out after {timeout:g}s]")
        return CommandResult(text, TIMED_OUT, timed_out=True, note=note)
    text = output.finish("[Command interrupted]")
    return CommandResult(text, INTERRUPTED, interrupted=True, note=note)
