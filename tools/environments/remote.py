"""A shell on any host: in a container, on another machine, in a cloud.

`remote_shell` speaks with one shell; here is what stays when it ends: its folder, its state, and
what is said about it.
"""

from __future__ import annotations

import logging
import posixpath
import secrets
import threading
import time
from collections.abc import Callable, Mapping

from tools.environments.base import PLAIN, CommandResult, Environment, with_variables
from tools.environments.host import Host, HostError
from tools.environments.job_table import JobTable
from tools.environments.jobs import Job, JobOptions, JobRecord
from tools.environments.output import OutputCollector
from tools.environments.remote_jobs import RemoteJob, RemoteOrder, start_job
from tools.environments.remote_pty import start_pty_job
from tools.environments.remote_shell import RemoteEnding, RemoteShell, Request, Saved
from tools.environments.turns import CLOSED, PLAIN_TERMINAL, encoded, halted, take_turn
from tools.files.remote_place import RemotePlace

logger = logging.getLogger(__name__)

TOLD_CHARS = 2_000
"""Of the output of a command that was lost with its connection."""


class RemoteEnvironment(Environment):
    """Commands run on a host, in one shell, which starts at first use.

    Parameters
    ----------
    backend
        The name of its kind of place.
    host
        Where. It is closed with the environment.
    cwd
        Where the shell starts; the host's own folder if empty.
    env
        Variables of the shell.
    """

    def __init__(
        self, backend: str, host: Host, *, cwd: str = "", env: Mapping[str, str] | None = None
    ) -> None:
        self._backend = backend
        self.host = host
        self.processes = JobTable()
        self._env = {**PLAIN_TERMINAL, **(env or {})}
        self._cwd = cwd
        self._lock = threading.Lock()  # one command at a time; guards the shell and its state
        self._interrupted = threading.Event()
        self._closed = False
        self._is_guest = False
        """Does the host belong to another shell's environment?"""
        self._shell: RemoteShell | None = None
        self._lost = False
        self._saved = Saved()
        self._workspace = cwd or "~"
        self._files = RemotePlace(host, f"{backend}:{host.name or secrets.token_hex(3)}")

    @property
    def backend(self) -> str:
        return self._backend

    @property
    def cwd(self) -> str:
        if not self._cwd or self._cwd.startswith("~"):
            self._cwd = self._at_home(self._cwd or "~")
        return self._cwd

    @property
    def files(self) -> RemotePlace:
        return self._files

    @property
    def workspace(self) -> str:
        """The folder in which the shell began: the project, as far as anything there is."""
        if self._workspace.startswith("~"):
            self._workspace = self._at_home(self._workspace)
        return self._workspace

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
        output = OutputCollector(on_output)
        try:
            self._interrupted.clear()
            notes: list[str] = []
            shell = self._living_shell(notes)
            here = self.cwd
            request = Request(text, self._folder(cwd), cwd is not None, self._input(shell, given))
            ending = self._run(shell, request, output, self._halt_after(timeout, cancelled))
            self._remember(shell, ending, stay=cwd is not None)
        finally:
            self._lock.release()
        if ending.no_folder:
            raise ValueError(f"no such folder: {request.folder!r}")
        if ending.moved:
            notes.append(f"The folder {here!r} no longer exists; now in {ending.cwd!r}.")
        notes.extend(_notes_about(ending, shell.kind))
        if ending.halted:
            return halted(ending.halted, output, timeout, " ".join(notes))
        return CommandResult(output.finish(), ending.exit_code, note=" ".join(notes))

    def interrupt(self) -> None:
        self._interrupted.set()

    def spawn(self, command: str, *, cwd: str | None = None, options: JobOptions = PLAIN) -> Job:
        encoded(command)
        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            folder, state = self._folder(cwd), self._saved.state
        if cwd is not None and self.host.run(["test", "-d", folder]).exit_code:
            raise ValueError(f"no such folder: {folder!r}")
        record = self.processes.prepare(command, folder, self._place, options)
        order = RemoteOrder(command=command, cwd=folder, env=self._env, state=state)
        try:
            job = self._start(order, record)
        except BaseException:
            self.processes.abandon(record)
            raise
        self.processes.add(job)
        return job

    def _start(self, order: RemoteOrder, record: JobRecord) -> Job:
        if record.options.pty:
            return start_pty_job(self.host, order, record, self.processes.folder_of(record))
        return start_job(self.host, order, record)

    def keep_jobs_in(self, jobs: JobTable) -> None:
        self.processes = jobs
        if self.host.name:  # else it is another place each time
            jobs.adopt(self._place, lambda record, _: RemoteJob(self.host, record))

    @property
    def _place(self) -> str:
        return f"{self._backend}:{self.host.name}"

    def close(self) -> None:
        self._closed = True
        self.interrupt()
        with self._lock:
            shell, self._shell = self._shell, None
            if shell is not None:
                try:
                    shell.end(remove=True)
                except HostError as problem:  # then nothing of it can be reached any more
                    logger.debug("the shell could not be ended: %s", problem)
            self.processes.close()
            if not self._is_guest:
                self._files.close()
                self.host.close()

    def beside(self) -> RemoteEnvironment:
        guest = RemoteEnvironment(self._backend, self.host, cwd=self.cwd, env=self._env)
        guest._files.close()
        guest._files, guest._workspace, guest._is_guest = self._files, self.workspace, True
        return guest

    def _living_shell(self, notes: list[str]) -> RemoteShell:
        """The shell, started if there is none."""
        if self._closed:
            raise RuntimeError(CLOSED)
        former = self._shell
        if former is not None:
            state = "lost" if self._lost else former.look()
            if not state:
                return former
            self._lost = state == "lost"
            former.end()
        shell = RemoteShell(self.host, self._env, self._saved)
        if former is not None:
            why = "The connection was lost and made again" if self._lost else "The shell had ended"
            kept = "its state" if shell.kept_state else "nothing of its state: the place is new"
            notes.append(f"{why}; it was started again with {kept}.")
        self._shell, self._saved, self._lost = shell, shell.saved, False
        return shell

    def _run(
        self,
        shell: RemoteShell,
        request: Request,
        output: OutputCollector,
        halt: Callable[[], str],
    ) -> RemoteEnding:
        try:
            return shell.run(request, output, halt)
        except HostError as problem:
            self._lost = True
            said = output.finish()[-TOLD_CHARS:]
            raise HostError(
                f"The command was lost with its connection ({problem}). It may have run; what is "
                "left of it is ended when the place can be reached again, at the next command."
                + (f" It had printed:\n{said}" if said else "")
            ) from problem
        except BaseException:
            self._shell = None
            raise

    def _remember(self, shell: RemoteShell, ending: RemoteEnding, *, stay: bool) -> None:
        self._saved = shell.saved
        if not stay:
            self._cwd = ending.cwd
        if ending.shell_ended:
            self._shell = None

    def _folder(self, wanted: str | None) -> str:
        if wanted is None:
            return self.cwd
        return posixpath.normpath(posixpath.join(self.cwd, self._at_home(wanted)))

    def _at_home(self, folder: str) -> str:
        first, slash, rest = folder.partition("/")
        return self.host.home() + slash + rest if first == "~" else folder

    def _input(self, shell: RemoteShell, given: bytes | None) -> str:
        """The file that a command reads from."""
        if given is None:
            return "/dev/null"
        path = f"{shell.saved.home}/stdin"
        self.host.put(path, given, 0o600)
        return path

    def _halt_after(
        self, timeout: float | None, cancelled: threading.Event | None
    ) -> Callable[[], str]:
        deadline = None if timeout is None else time.monotonic() + timeout

        def halt() -> str:
            if self._interrupted.is_set() or (cancelled is not None and cancelled.is_set()):
                return "interrupted"
            return "timed out" if deadline and time.monotonic() >= deadline else ""

        return halt


def _notes_about(ending: RemoteEnding, kind: str) -> list[str]:
    kept = "folder, variables, functions and aliases" if kind == "bash" else "folder and exports"
    also = "" if kind == "bash" else " There is no bash here; functions and aliases were lost."
    notes = []
    if ending.halted:
        notes.append(
            f"The shell was killed with the command; the next one starts with its {kept}.{also}"
        )
    elif ending.shell_ended:
        notes.append(
            f"The command ended the shell. The next one starts with its {kept}; background jobs "
            f"were stopped and `set -e` is off.{also}"
        )
    if ending.left_running:
        notes.append("A background child still runs; what it prints from now on is not shown.")
    return notes
