"""Put files, links and folders back as they were: each of them is old or new at any moment."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.checkpoints.states import (
    BEHIND_LINK,
    State,
    content,
    is_behind_link,
    lstat,
    pieces,
    state_at,
    there,
)
from hermes_jupyter.store.sessions.database import Database

logger = logging.getLogger(__name__)

NOT_EMPTY = "it holds other files by now"
CHANGED = "it was changed a moment ago"
DAMAGED = "what was kept of it is damaged"
OWNER_MAY_ALL = 0o700


@dataclass(frozen=True, slots=True)
class Putting:
    """A path that is ``now`` so, and shall be ``wanted``."""

    path: bytes
    now: State
    wanted: State


class Putter:
    """Makes the changes of one undo.

    Parameters
    ----------
    connection
        Where contents are read.
    mark
        A part of the names of temporary files; `sweep_temporary` finds them by it.
    """

    def __init__(self, connection: sqlite3.Connection, mark: str, most_bytes: int) -> None:
        self._connection = connection
        self._mark = mark
        self._most_bytes = most_bytes
        self._written = 0
        self.problems: dict[bytes, str] = {}
        """Why a path is not as it was wanted."""

    def put(self, wanted: Sequence[Putting]) -> None:
        """All of them, in an order in which folders are there when they are needed."""
        upwards = sorted(wanted, key=lambda each: each.path, reverse=True)
        downwards = upwards[::-1]
        for each in downwards:
            if each.now.kind == "folder" and each.now.mode & OWNER_MAY_ALL != OWNER_MAY_ALL:
                self._try(each, self._open_folder)
        for each in upwards:  # what is in the way, the deepest first
            if each.now.kind in ("file", "link", "other") and each.wanted.kind in (
                "absent",
                "folder",
            ):
                self._try(each, self._remove)
        for each in upwards:
            if each.now.kind == "folder" and each.wanted.kind != "folder":
                self._try(each, self._remove_folder)
        for each in downwards:
            if each.wanted.kind == "folder":
                self._try(each, self._make_folder)
        for each in downwards:
            if each.wanted.kind in ("file", "link"):
                self._try(each, self._write)
        for each in upwards:
            if each.wanted.kind == "folder":
                self._try(each, self._finish_folder)

    def _try(self, each: Putting, act: Callable[[Putting], str]) -> None:
        if each.path in self.problems:
            return
        try:
            if problem := act(each):
                self.problems[each.path] = problem
        except OSError as error:
            logger.warning("cannot put %r back", each.path, exc_info=True)
            self.problems[each.path] = error.strerror or str(error)

    def _open_folder(self, each: Putting) -> str:
        os.chmod(each.path, each.now.mode | OWNER_MAY_ALL)  # noqa: PTH101
        return ""

    def _remove(self, each: Putting) -> str:
        if self._is_other(each):
            return CHANGED
        os.unlink(each.path)  # noqa: PTH108
        return ""

    def _remove_folder(self, each: Putting) -> str:
        with contextlib.suppress(FileNotFoundError):
            if os.listdir(each.path):  # noqa: PTH208  a Path cannot hold every name
                return NOT_EMPTY
            os.rmdir(each.path)  # noqa: PTH106
        return ""

    def _make_folder(self, each: Putting) -> str:
        if each.now.kind != "folder":
            if is_behind_link(each.path):
                return BEHIND_LINK
            os.makedirs(each.path, 0o777, exist_ok=True)  # noqa: PTH103
        return ""

    def _finish_folder(self, each: Putting) -> str:
        os.chmod(each.path, each.wanted.mode)  # noqa: PTH101
        return ""

    def _write(self, each: Putting) -> str:
        folder = os.path.dirname(each.path)  # noqa: PTH120
        if is_behind_link(each.path):
            return BEHIND_LINK
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        self._written += 1
        name = f".hermes-{self._mark}-{self._written}.tmp"
        temporary = os.path.join(folder, name.encode())  # noqa: PTH118
        try:
            if each.wanted.kind == "link":
                target = content(self._connection, each.wanted)
                if target is None:
                    return DAMAGED
                os.symlink(target, temporary)  # noqa: PTH211
            elif not self._write_file(temporary, each):
                return DAMAGED
            if each.now.kind != "folder" and self._is_other(each):
                return CHANGED
            os.replace(temporary, each.path)  # noqa: PTH105
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108
        return ""

    def _write_file(self, temporary: bytes, each: Putting) -> bool:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(temporary, flags, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces(self._connection, each.wanted.digest):
                file.write(piece)
            file.flush()
            if (old := lstat(each.path)) is not None and hasattr(os, "fchown"):
                # Only root may give a file away; for everyone else the owner is the same anyway.
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
            os.chmod(temporary, each.wanted.mode)  # noqa: PTH101
        # Not waiting for the disk: after a power cut the undo can be done again.
        return state_at(temporary, self._most_bytes).digest == each.wanted.digest

    def _is_other(self, each: Putting) -> bool:
        """Has somebody changed it since it was looked at?"""
        return there(each.path, self._most_bytes) != each.now


def sweep_temporary(database: Database, turn: rows.Turn) -> None:
    """Remove what an undo left half written when its process was killed."""
    with database.read() as connection:
        folders = {os.path.dirname(change.path) for change in rows.changes(connection, turn.number)}  # noqa: PTH120
    start = f".hermes-{turn.id}-".encode()
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(start) and entry.name.endswith(b".tmp"):
                    os.unlink(entry.path)  # noqa: PTH108
