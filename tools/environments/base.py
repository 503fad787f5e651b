"""What every place that runs commands promises: this machine's shell, a container, another host."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from tools.environments.processes import BackgroundProcess, ProcessTable

TIMED_OUT = 124
INTERRUPTED = 130


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
    processes : ProcessTable
        The background processes started here; they end with the environment.
    """

    processes: ProcessTable

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
        on_output
            Called with pieces of the output as they come, a few times per second, in this thread.
        cancelled
            Kills the command when set (exit code 130).

        Raises
        ------
        ValueError
            If the command cannot be given to a shell, or ``cwd`` is no folder.
        RuntimeError
            If the environment is closed.
        """

    @abstractmethod
    def interrupt(self) -> None:
        """Kill the running command, if there is one. For other threads; returns at once."""

    @abstractmethod
    def spawn(self, command: str, *, cwd: str | None = None) -> BackgroundProcess:
        """Start a command beside the shell, with a copy of its state; it is in `processes` then."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started here."""

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
