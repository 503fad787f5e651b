"""Where files are: what the file tools ask of this machine, a container or another host.

A backend gives its place as ``Environment.files``; without one, files are on this machine. The
rules of the file tools (patches, secrets, guards, searching) are written once, over `Place`.
Paths are absolute. All failures are `OSError` or `Problem`; `ConnectionError` if the place cannot
be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from tools.files.findings import Clock, Findings, Query
    from tools.files.reading import Reading

CHUNK_BYTES = 256 * 1024
Kind = Literal["file", "folder", "other"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What is at a path, links followed."""

    kind: Kind
    size: int
    mode: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder. A link is what it points to, and says that it is a link."""

    name: str
    kind: Kind
    is_link: bool


class Readable(Protocol):
    """Files that a search can go through."""

    def home(self) -> str:
        """The real path of the home folder."""

    def real(self, path: str) -> str:
        """Resolve links and ``..`` as the system does; the path need not exist."""

    def stat(self, path: str) -> FileStatus | None:
        """What is there, or None if nothing is."""

    def iterdir(self, path: str) -> list[Entry]:
        """The folder's entries, by name."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """The bytes of a regular file, `CHUNK_BYTES` at a time."""

    def read_bytes(self, path: str) -> bytes:
        """All of a regular file."""


class Place(Protocol):
    """The files of one machine. Its methods may be called from any thread."""

    @property
    def name(self) -> str:
        """What tells its files from those of other places; empty for this machine."""

    @property
    def most_bytes(self) -> int:
        """Larger files are not read or written as a whole."""

    def home(self) -> str:
        """The real path of the home folder."""

    def temporary(self) -> str:
        """The real path of the folder for temporary files."""

    def expand(self, path: str) -> str:
        """Replace a leading ``~`` by the home folder."""

    def real(self, path: str) -> str:
        """Resolve links and ``..`` as the system does; the path need not exist."""

    def stat(self, path: str) -> FileStatus | None:
        """What is there, or None if nothing is."""

    def iterdir(self, path: str) -> list[Entry]:
        """The folder's entries, by name."""

    def read_bytes(self, path: str) -> bytes:
        """All of a regular file."""

    def read_lines(self, path: str, first: int, count: int, stopped: Callable[[], bool]) -> Reading:
        """Some lines of a file, as a person would see them; a notebook as its cells."""

    def write_bytes_atomic(self, path: str, content: bytes, mode: int | None = None) -> None:
        """Put all of ``content`` there, or leave what was there.

        Mode and owner stay as they were, unless another ``mode`` is given.
        """

    def make_folders(self, path: str) -> list[str]:
        """Make the folder and its parents; returns those that were missing, outermost first."""

    def remove(self, path: str) -> None:
        """Remove a file, or a link itself."""

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""

    def search_names(self, query: Query, clock: Clock) -> Findings:
        """Files whose name, or path below the root, fits the pattern."""

    def search_contents(self, query: Query, flags: int, clock: Clock) -> Findings:
        """Lines that match the pattern. ``flags`` are those of `re`."""
