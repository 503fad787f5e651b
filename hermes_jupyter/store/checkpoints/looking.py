"""Look at a workspace: what has changed since the last look, and for which turns that counts.

What a path was is known from the look before. So the first command of a turn costs one look, and
so does the turn's end; between them no file is watched. A turn that has looked and not yet ended
is given every change that a later look finds, by whichever kernel; changes that a tool of ours
has told are known already, and go to its own turn only.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.checkpoints.rows import Known
from hermes_jupyter.store.checkpoints.states import (
    ABSENT,
    Sign,
    State,
    is_behind_link,
    lstat,
    sign_of,
    state_at,
    unkept,
)
from hermes_jupyter.store.checkpoints.walking import MOST_ENTRIES, Found, walk
from hermes_jupyter.store.sessions.database import Database

GRAIN_NS = 20_000_000
"""A file may be changed twice in this time and have the same times: the system's clock ticks."""
COARSE_GRAIN_NS = 2_100_000_000
"""The same on file systems that keep whole seconds."""
AT_ONCE = 200
"""Files of one transaction."""
BYTES_AT_ONCE = 16 << 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What of a workspace is looked at."""

    root: bytes
    skipped: frozenset[bytes] = frozenset()
    """Paths that are no part of it, such as our own files."""
    most_file_bytes: int = 16 << 20
    """Larger files are not kept when a command might change them."""
    most_bytes: int = 512 << 20
    """Of the contents of all files, before a first command."""
    most_entries: int = MOST_ENTRIES


@dataclass(frozen=True, slots=True)
class Look:
    """What a look has left out."""

    folders: int
    """That were not looked into."""


def look(database: Database, area: Area) -> Look:
    """Find what has changed, and note it for the turns that have looked before.

    New files are noted, and not yet read: `copy` does that.

    Raises
    ------
    StoreError
        If the store cannot be read or written.
    """
    with database.read() as connection:
        before = rows.all_known(connection)
    moment = time.time_ns()
    found = walk(area.root, before, area.skipped, area.most_entries)
    found.entries[area.root] = os.lstat(area.root)
    changed = sorted(
        p for p, about in found.entries.items() if not _is_as_before(before.get(p), about)
    )
    seen = _Seen(area, moment, before, found)
    for some in _batched(changed):
        with database.write() as connection:
            seen.note(connection, some)
    gone = _gone(before, found, area.root)
    for some in _batched(gone):
        with database.write() as connection:
            seen.note_gone(connection, some)
    listings = [
        path
        for path, (kind, *_, was_listed) in before.items()
        if kind == "folder" and path in found.entries and was_listed != (path in found.listed)
    ]
    if listings:
        with database.write() as connection:
            connection.executemany(
                "UPDATE known SET settled = ? WHERE path = ? AND kind = 'folder'",
                [(path in found.listed, path) for path in listings],
            )
    return Look(found.left_out)


def _is_as_before(row: rows.KnownRow | None, found: os.stat_result) -> bool:
    """The same as `is_same`, for many: no objects are made."""
    if row is None:
        return False
    kind, mode, _, size, mtime, ctime, inode, settled = row
    if kind == "folder" or stat.S_ISDIR(found.st_mode):
        is_folder = kind == "folder" and stat.S_ISDIR(found.st_mode)
        return is_folder and mode == stat.S_IMODE(found.st_mode)
    return bool(settled) and (mtime, ctime, size, inode) == sign_of(found)


def is_same(known: Known | None, found: os.stat_result) -> bool:
    """Is it surely as it was, without reading it?"""
    if known is None:
        return False
    if stat.S_ISDIR(found.st_mode):
        return known.state == State("folder", stat.S_IMODE(found.st_mode))
    return known.state.kind != "folder" and known.settled and known.sign == sign_of(found)


def present(connection: sqlite3.Connection, path: bytes, most_bytes: int) -> State:
    """What is at a path now, read only if it may have changed. Its content is kept."""
    found, known = lstat(path), rows.known_at(connection, path)
    if found is None or is_behind_link(path):
        if known is not None:
            rows.forget(connection, path)
        return ABSENT
    if known is not None and known.state.is_kept and is_same(known, found):
        return known.state
    moment = time.time_ns()
    state = state_at(path, most_bytes, connection)
    if known is not None or is_listed(connection, os.path.dirname(path)):  # noqa: PTH120
        # Of a folder that was not there before, all that it holds is known.
        listed = known is None or known.settled
        settled = listed if state.kind == "folder" else _is_settled(found, moment)
        sign = sign_of(found)._replace(size=state.size)
        rows.know(connection, path, Known(state, sign, settled))
    return state


def is_listed(connection: sqlite3.Connection, folder: bytes) -> bool:
    """Are all names of this folder known?"""
    known = rows.known_at(connection, folder)
    return known is not None and known.state.kind == "folder" and known.settled


def was_absent(connection: sqlite3.Connection, path: bytes) -> bool:
    """Was there surely nothing at a path that the last look does not know?"""
    while (folder := os.path.dirname(path)) != path:  # noqa: PTH120
        known = rows.known_at(connection, folder)
        if known is not None:
            return known.state.kind != "folder" or known.settled
        path = folder
    return False


def copy(database: Database, area: Area, deadline: float) -> bool:
    """Keep the contents of files that are as the last look saw them, the smallest first.

    Returns
    -------
    bool
        Whether all is kept that shall be.
    """
    with database.read() as connection:
        waiting = _waiting(connection, area)
    for some in _batched(waiting, lambda each: each[1].size):
        if time.monotonic() > deadline:
            return False
        with database.write() as connection:
            for path, sign in some:
                _copy_one(connection, path, sign, area)
    return True


def _waiting(connection: sqlite3.Connection, area: Area) -> list[tuple[bytes, Sign]]:
    """Files whose content is not kept yet, as far as there is room for them."""
    (held,) = connection.execute(
        "SELECT ifnull(sum(size), 0) FROM known "
        "WHERE kind = 'file' AND NOT (digest >= '?' AND digest < '@')"
    ).fetchone()
    room = area.most_bytes - held
    waiting = []
    for path, mtime, ctime, size, inode in connection.execute(
        # What begins with a digit waits; what cannot be read says so with a word.
        "SELECT path, mtime, ctime, size, inode FROM known "
        "WHERE digest >= '?0' AND digest < '?:' AND size <= ? ORDER BY size",
        (area.most_file_bytes,),
    ):
        room -= size
        if room < 0:
            break
        waiting.append((path, Sign(mtime, ctime, size, inode)))
    return waiting


def _copy_one(connection: sqlite3.Connection, path: bytes, sign: Sign, area: Area) -> None:
    found = lstat(path)
    if found is None or sign_of(found) != sign:
        return
    state = state_at(path, area.most_file_bytes, connection)
    again = lstat(path)
    if again is not None and sign_of(again) == sign:
        connection.execute(
            "UPDATE known SET digest = ? WHERE path = ? AND ctime = ? AND inode = ?",
            (state.digest, path, sign.ctime, sign.inode),
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A look, while its findings are noted."""

    area: Area
    moment: int
    before: Mapping[bytes, rows.KnownRow]
    found: Found

    def note(self, connection: sqlite3.Connection, paths: Sequence[bytes]) -> None:
        turns = _looking(connection)
        for path in paths:
            about = lstat(path)
            known = rows.known_at(connection, path)
            if about is None or is_same(known, about):
                continue
            was = known.state if known else self._unknown(path)
            if known is None and stat.S_ISREG(about.st_mode):
                state = unkept(about)  # there may be thousands: they are read later
            else:
                state = state_at(path, self.area.most_file_bytes, connection)
            if was is not None and was != state:
                for turn in turns:
                    rows.claim(connection, turn, path, was, exact=False)
            settled = (
                path in self.found.listed
                if stat.S_ISDIR(about.st_mode)
                else _is_settled(about, self.moment)
            )
            sign = sign_of(about)._replace(size=state.size)
            rows.know(connection, path, Known(state, sign, settled))

    def note_gone(self, connection: sqlite3.Connection, paths: Sequence[bytes]) -> None:
        turns = _looking(connection)
        for path in paths:
            known = rows.known_at(connection, path)
            if known is None or (lstat(path) is not None and not is_behind_link(path)):
                continue
            for turn in turns:
                rows.claim(connection, turn, path, known.state, exact=False)
            rows.forget(connection, path)

    def _unknown(self, path: bytes) -> State | None:
        """What a path was that is new here: nothing, if its folder was listed; else who knows."""
        while path != self.area.root:
            path = os.path.dirname(path)  # noqa: PTH120
            parent = self.before.get(path)
            if parent is not None:
                is_told = parent[0] != "folder" or parent[-1]
                return ABSENT if is_told else None
        return None


def _gone(before: Mapping[bytes, rows.KnownRow], found: Found, root: bytes) -> list[bytes]:
    """Known paths that are no more, folders before what was in them."""
    gone: list[bytes] = []
    missing: set[bytes] = set()
    for path in sorted(before):
        if path in found.entries or path == root:
            continue
        folder = os.path.dirname(path)  # noqa: PTH120
        above = found.entries.get(folder)
        is_no_folder = above is not None and not stat.S_ISDIR(above.st_mode)
        if folder in found.listed or folder in missing or is_no_folder:
            missing.add(path)
            gone.append(path)
    return gone


def _looking(connection: sqlite3.Connection) -> list[int]:
    """The turns that have looked and not ended."""
    found = connection.execute("SELECT number FROM turn WHERE looked AND ended IS NULL")
    return [row[0] for row in found]


def _is_settled(found: os.stat_result, moment: int) -> bool:
    """Would a change from now on have other times?"""
    grain = GRAIN_NS if found.st_ctime_ns % 1_000_000_000 else COARSE_GRAIN_NS
    return found.st_ctime_ns < moment - grain


def _batched(items: Sequence[T], size: Callable[[T], int] = lambda _: 0) -> Iterator[list[T]]:
    """As many in one transaction as let other kernels write in between."""
    some: list[T] = []
    held = 0
    for item in items:
        some.append(item)
        held += size(item)
        if len(some) >= AT_ONCE or held >= BYTES_AT_ONCE:
            yield some
            some, held = [], 0
    if some:
        yield some
