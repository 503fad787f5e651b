"""What is at a path: kind, mode and the checksum of its content, which the store keeps once."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["absent", "file", "folder", "link", "other"]
PIECE_BYTES = 1 << 20
UNKEPT = "?"
"""Begins what stands for a checksum where the content is not kept."""
CHANGING = "?changing"
UNREADABLE = "?unreadable"
SEPARATOR = os.fsencode(os.sep)
LARGEST = 1 << 63
"""Numbers of the store are smaller; a time far in the future and some inodes are not."""
NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class State(NamedTuple):
    """What is at a path. Two are equal if nobody could tell them apart."""

    kind: Kind
    mode: int = 0
    """Permission bits of a file or folder."""
    digest: str = ""
    """sha256 of a file's content, or of where a link points to."""
    size: int = 0

    @property
    def is_kept(self) -> bool:
        """Can it be made again?"""
        return self.kind in ("absent", "folder") or (
            self.kind in ("file", "link") and not self.digest.startswith(UNKEPT)
        )


ABSENT = State("absent")
BEHIND_LINK = "its folder is a link to another one by now"


class Sign(NamedTuple):
    """What tells, without reading it, that a file is as it was."""

    mtime: int
    ctime: int
    """Both in nanoseconds since 1970."""
    size: int
    inode: int


def sign_of(found: os.stat_result) -> Sign:
    """Other rights or another content change at least ``ctime``, which nobody can set."""
    times = found.st_mtime_ns % LARGEST, found.st_ctime_ns % LARGEST
    return Sign(*times, found.st_size, found.st_ino % LARGEST)


def lstat(path: bytes) -> os.stat_result | None:
    """The status of what is there, links not followed; None if nothing is."""
    try:
        return os.lstat(path)
    except OSError as error:
        if error.errno in NOTHING_THERE:
            return None
        raise


def state_at(path: bytes, most_bytes: int, into: sqlite3.Connection | None = None) -> State:
    """What is at a path now; its content is kept in ``into``, unless it is there.

    Larger files are told by size and times, and cannot be made again; so are files that change
    while they are read, and those that may not be read.
    """
    found = lstat(path)
    if found is None:
        return ABSENT
    if stat.S_ISDIR(found.st_mode):
        return State("folder", stat.S_IMODE(found.st_mode))
    try:
        if stat.S_ISLNK(found.st_mode):
            return _link(os.readlink(path), into)  # noqa: PTH115
        if not stat.S_ISREG(found.st_mode):
            return State("other")
        if found.st_size > most_bytes:
            return unkept(found)
        return _file(path, found, into)
    except FileNotFoundError:
        return ABSENT
    except PermissionError:
        return State("file", stat.S_IMODE(found.st_mode), UNREADABLE, found.st_size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        return State("file", stat.S_IMODE(found.st_mode), UNREADABLE, found.st_size)


def is_behind_link(path: bytes) -> bool:
    """Does a link stand where one of the path's folders was?"""
    folder = os.path.dirname(path)  # noqa: PTH120
    return os.path.realpath(folder) != folder


def there(path: bytes, most_bytes: int, into: sqlite3.Connection | None = None) -> State:
    """The same as `state_at`; what is behind a link is another path's, so nothing is here."""
    return ABSENT if is_behind_link(path) else state_at(path, most_bytes, into)


def unkept(found: os.stat_result) -> State:
    """A file that is told by size and time only."""
    stamp = f"{UNKEPT}{found.st_mtime_ns}.{found.st_ino}"
    return State("file", stat.S_IMODE(found.st_mode), stamp, found.st_size)


def pieces(connection: sqlite3.Connection, digest: str) -> Iterator[bytes]:
    """What is kept under this checksum, piece by piece."""
    place = 0
    while row := connection.execute(
        "SELECT content FROM piece WHERE digest = ? AND place = ?", (digest, place)
    ).fetchone():
        yield bytes(row[0])
        place += 1


def content(connection: sqlite3.Connection, state: State) -> bytes | None:
    """All that a file held, or where a link pointed to; None if that is not kept."""
    if state.kind not in ("file", "link") or not state.is_kept:
        return None
    whole = b"".join(pieces(connection, state.digest))
    return whole if hashlib.sha256(whole).hexdigest() == state.digest else None


def _link(target: bytes, into: sqlite3.Connection | None) -> State:
    digest = hashlib.sha256(target).hexdigest()
    if into is not None:
        _keep(into, digest, 0, target)
    return State("link", 0, digest, len(target))


def _file(path: bytes, found: os.stat_result, into: sqlite3.Connection | None) -> State:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    try:
        first = os.read(descriptor, PIECE_BYTES)
        small = not (more := os.read(descriptor, PIECE_BYTES))
        digest = hashlib.sha256(first)
        while more:
            digest.update(more)
            more = os.read(descriptor, PIECE_BYTES)
        name = digest.hexdigest()
        if into is not None and not _is_there(into, name):
            if small:
                _keep(into, name, 0, first)
            elif not _keep_large(into, descriptor, name):
                return State("file", stat.S_IMODE(found.st_mode), CHANGING, found.st_size)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return State("file", stat.S_IMODE(after.st_mode), name, after.st_size)


def _keep_large(into: sqlite3.Connection, descriptor: int, name: str) -> bool:
    """Read it once more, piece by piece; False if it is another content by now."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    digest, place = hashlib.sha256(), 0
    while piece := os.read(descriptor, PIECE_BYTES):
        digest.update(piece)
        _keep(into, name, place, piece)
        place += 1
    if digest.hexdigest() == name:
        return True
    into.execute("DELETE FROM piece WHERE digest = ?", (name,))
    return False


def _is_there(connection: sqlite3.Connection, digest: str) -> bool:
    found = connection.execute("SELECT 1 FROM piece WHERE digest = ? AND place = 0", (digest,))
    return found.fetchone() is not None


def _keep(into: sqlite3.Connection, digest: str, place: int, piece: bytes) -> None:
    into.execute("INSERT OR IGNORE INTO piece VALUES (?, ?, ?)", (digest, place, piece))
