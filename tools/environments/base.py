"""What every place that runs commands promises: this machine's shell, a container, another host."""

from __future__ import annotations

import posixpath
import re
import shlex
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tools.environments.host import Health, Host, HostError, Isolation
from tools.environments.job_table import JobTable
from tools.environments.jobs import Job, JobOptions
from tools.files.local_place import LOCAL
from tools.files.place import Place

TIMED_OUT = 124
INTERRUPTED = 130
PLAIN = JobOptions()
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended, and what it printed."""

    output: str
    """Standard output and standard error as they came, without terminal colours, shortened in
    the middle if long."""
    exit_code: int
    timed_out: bool = False
    interrupted: bool = False
    note: str = ""
    """What a reader should know about the shell itself: it was restarted, its folder is gone."""


class Environment(ABC):
    """A shell that keeps its state (folder, variables, functions) from command to command.

    Attributes
    ----------
    processes : JobTable
        The background processes started here; they end with the environment.
    host : Host
        Where it runs, for those who move files or start processes of their own there.
    """

    processes: JobTable
    host: Host

    @property
    @abstractmethod
    def backend(self) -> str:
        """The name of its kind of place: "local", "docker"."""

    @property
    @abstractmethod
    def cwd(self) -> str:
        """The folder in which the next command starts."""

    @abstractmethod
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
        """Run a command and wait for its end. Calls from several threads take turns.

        Parameters
        ----------
        command
            Text for the shell: any number of lines.
        timeout
            Seconds after which the command and all it started are killed (exit code 124).
        cwd
            Folder for this command alone; the shell goes back to its own afterwards.
        stdin
            What the command can read; nothing if None.
        env
            Variables for this command alone, and what it starts.
        on_output
            Called with pieces of the output as they come, a few times per second, in this thread.
        cancelled
            Kills the command when set (exit code 130).

        Raises
        ------
        ValueError
            If the command cannot be given to a shell, ``cwd`` is no folder, or ``env`` names what
            is no variable.
        HostError
            If the place cannot be reached, or was lost while the command ran. The next call tries
            again.
        RuntimeError
            If the environment is closed.
        """

    @abstractmethod
    def interrupt(self) -> None:
        """Kill the running command, if there is one. For other threads; returns at once."""

    @abstractmethod
    def spawn(self, command: str, *, cwd: str | None = None, options: JobOptions = PLAIN) -> Job:
        """Start a command beside the shell, with a copy of its state; it is in `processes` then.

        Raises
        ------
        JobError
            If it cannot be started, or not in a terminal if ``options`` ask for one.
        ValueError
            If the command cannot be given to a shell, or ``cwd`` is no folder.
        RuntimeError
            If the environment is closed.
        """

    @abstractmethod
    def close(self) -> None:
        """End everything that was started here."""

    def prepare(self) -> None:  # noqa: B027 - most places have nothing to do
        """Have the next command begin sooner, if this costs nothing but a moment. Any thread.

        A person is being asked about that command, so nothing of it may happen yet.
        """

    def beside(self) -> Environment:
        """Another shell in the same place, for somebody who works there at the same time.

        It begins in this one's folder, and closing it leaves the place open.

        Raises
        ------
        HostError
            If the place has one shell only, or cannot be reached.
        """
        raise HostError(f"a terminal of the kind {self.backend!r} has one shell only")

    def keep_jobs_in(self, jobs: JobTable) -> None:
        """Use this table of background processes instead of one of its own."""
        self.processes = jobs

    @property
    def files(self) -> Place:
        """The files that its commands see."""
        return LOCAL

    def get(self, path: str) -> bytes:
        """The content of a file there; a relative path counts from `cwd`.

        Raises
        ------
        FileNotFoundError, IsADirectoryError, PermissionError, HostError
        """
        return self.host.get(self._absolute(path))

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Write a file there as a whole; a relative path counts from `cwd`.

        Raises
        ------
        FileNotFoundError, IsADirectoryError, PermissionError, OSError, HostError
        """
        self.host.put(self._absolute(path), content, mode)

    def health(self) -> Health:
        """Whether commands can run now. Looks within a few seconds; never raises."""
        return self.host.health()

    @property
    def isolation(self) -> Isolation:
        """How far its commands are kept from this machine."""
        return self.host.isolation

    def _absolute(self, path: str) -> str:
        return posixpath.join(self.cwd, path)

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def with_variables(command: str, env: Mapping[str, str] | None) -> str:
    """The text of a command that has these variables, and leaves none of them behind.

    Raises
    ------
    ValueError
        If one cannot be a variable.
    """
    if not env:
        return command
    for name, value in env.items():
        if VARIABLE.fullmatch(name) is None or "\0" in value:
            raise ValueError(f"not a variable: {name!r}")
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    return f"{given} command eval {shlex.quote(command)}"
