"""What a backend gives: start a process there, speak with it, move files. No state, no shell.

The persistent shell, timeouts, background processes and file tools are built on this once, for all
backends. A backend is one module in `tools.environments.backends`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Stream = Literal["out", "err"]


class HostError(Exception):
    """The place where commands run cannot be reached or refuses; the text names the remedy."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes that a process has printed; none of them at the end of the stream."""

    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class Completed:
    """How a process ended that was waited for."""

    exit_code: int
    out: bytes
    err: bytes


@dataclass(frozen=True, slots=True)
class Health:
    """Whether commands can run there now, and what to know about it."""

    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Isolation:
    """How far commands are kept from this machine."""

    isolated: bool
    """They run in a container or on another machine."""
    host_paths: tuple[str, ...] = ()
    """Folders of this machine that they may write to all the same."""
    network: bool = True


class Channel(ABC):
    """One process that runs there. One thread reads; any thread may write or close."""

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Send to its standard input.

        Raises
        ------
        HostError
            If the connection is lost, or its input is closed.
        """

    @abstractmethod
    def read(self, timeout: float) -> Piece | None:
        """The next bytes; None if there were none for ``timeout`` seconds.

        Raises
        ------
        HostError
            If the connection is lost.
        """

    @abstractmethod
    def close_input(self) -> None:
        """End its standard input."""

    @property
    @abstractmethod
    def exit_code(self) -> int | None:
        """None while it runs; 128 + N if signal N ended it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it. What runs there may go on; who wants it dead kills it by its pid."""


class Host(ABC):
    """A place where processes run. Its methods may be called from any thread, also at once."""

    isolation: Isolation
    name: str = ""
    """What tells its files from those of other hosts of its kind, such as ``me@server``; the same
    whenever it is opened again. Empty if they go with it."""

    @abstractmethod
    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> Channel:
        """Start a process. ``env`` is added to what the place gives it.

        Raises
        ------
        HostError
        """

    @abstractmethod
    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        """Run a short process to its end.

        Raises
        ------
        HostError
            Also if it did not end in time.
        """

    @abstractmethod
    def get(self, path: str) -> bytes:
        """The content of a file.

        Raises
        ------
        FileNotFoundError, IsADirectoryError, PermissionError, HostError
        """

    @abstractmethod
    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Write a file as a whole, by renaming, so that no reader sees half of it.

        Raises
        ------
        FileNotFoundError, IsADirectoryError, PermissionError, OSError, HostError
        """

    @abstractmethod
    def home(self) -> str:
        """The folder in which commands start there if nothing else is said."""

    @abstractmethod
    def health(self) -> Health:
        """Look now, within a few seconds; never raises."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the place; a throw-away one is removed. May be called twice."""
