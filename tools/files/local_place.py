"""The files of this machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.files import reading
from tools.files.findings import Clock, Findings, Query
from tools.files.patterns import compile_pattern, is_explosive
from tools.files.place import CHUNK_BYTES, Entry, FileStatus, Kind
from tools.files.problems import Problem
from tools.files.reading import Reading
from tools.files.search_process import search_apart
from tools.files.searching import search_contents, search_names

NEVER_ENDING = frozenset({"/proc/kmsg", "/proc/kcore"})
PERMISSION_BITS = 0o7777


class LocalPlace:
    """Files of this machine."""

    name = ""
    most_bytes = 256 << 20

    def home(self) -> str:
        return self.real(self.expand("~"))

    def temporary(self) -> str:
        return self.real(tempfile.gettempdir())

    def expand(self, path: str) -> str:
        return os.path.expanduser(path)  # noqa: PTH111  Path.expanduser raises for unknown users

    def real(self, path: str) -> str:
        return os.path.realpath(path)

    def stat(self, path: str) -> FileStatus | None:
        try:
            found = os.stat(path)  # noqa: PTH116  a Path costs more than the call
        except FileNotFoundError:
            return None
        return FileStatus(_kind(found.st_mode), found.st_size, found.st_mode & PERMISSION_BITS)

    def iterdir(self, path: str) -> list[Entry]:
        with os.scandir(path) as entries:
            return sorted(map(_entry, entries), key=lambda entry: entry.name)

    def chunks(self, path: str) -> Iterator[bytes]:
        """The file's bytes, a piece at a time."""
        # Without O_NONBLOCK, opening a pipe that took the file's place waits for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode) or path in NEVER_ENDING:
                raise Problem(f"Not a regular file: {path}")
            while chunk := os.read(descriptor, CHUNK_BYTES):
                yield chunk
        finally:
            os.close(descriptor)

    def read_bytes(self, path: str) -> bytes:
        return b"".join(self.chunks(path))

    def read_lines(self, path: str, first: int, count: int, stopped: Callable[[], bool]) -> Reading:
        return reading.read_lines(self.chunks(path), path, first, count, stopped)

    def write_bytes_atomic(self, path: str, content: bytes, mode: int | None = None) -> None:
        old = self._regular(path)
        if mode is None and old is not None:
            mode = old.st_mode & PERMISSION_BITS
        temporary = str(Path(path).parent / f".{secrets.token_hex(8)}.tmp")
        try:
            self._write_new(temporary, content, mode, old)
            os.replace(temporary, path)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108
            raise

    def make_folders(self, path: str) -> list[str]:
        folder = Path(path)
        missing = [str(part) for part in (folder, *folder.parents) if not part.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        return missing[::-1]

    def remove(self, path: str) -> None:
        os.unlink(path)  # noqa: PTH108

    def remove_folder(self, path: str) -> None:
        os.rmdir(path)  # noqa: PTH106

    def search_names(self, query: Query, clock: Clock) -> Findings:
        return search_names(query, self, clock)

    def search_contents(self, query: Query, flags: int, clock: Clock) -> Findings:
        if is_explosive(query.pattern):
            return search_apart(query, flags, clock)
        return search_contents(query, compile_pattern(query.pattern, flags), self, clock)

    def _regular(self, path: str) -> os.stat_result | None:
        try:
            found = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Problem(f"Not a regular file: {path}")
        return found

    def _write_new(
        self, path: str, content: bytes, mode: int | None, old: os.stat_result | None
    ) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(path, flags, 0o666 if mode is None else mode & 0o700)
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            view = memoryview(content)
            while view:
                view = view[stream.write(view) or 0 :]
            if old is not None and hasattr(os, "fchown"):
                # Only root may give a file away; for everyone else the owner is the same anyway.
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
            if mode is not None:
                os.chmod(path, mode)  # noqa: PTH101
            os.fsync(descriptor)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        if entry.is_dir():
            return Entry(entry.name, "folder", entry.is_symlink())
        return Entry(entry.name, "file" if entry.is_file() else "other", entry.is_symlink())
    except OSError:  # a loop of links, or a name that vanished
        return Entry(entry.name, "other", True)


LOCAL = LocalPlace()
