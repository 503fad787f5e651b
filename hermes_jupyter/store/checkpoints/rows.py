"""Turns and their changes, as the tables hold them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from hermes_jupyter.store.checkpoints.states import Kind, Sign, State

TurnKind = Literal["turn", "undo", "restore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn that changed something, or what took one back."""

    number: int
    id: str
    kind: TurnKind
    session: str
    title: str
    began: float
    ended: float | None
    looked: bool
    undoes: int | None
    undone: int | None
    notes: tuple[str, ...]
    files: int = 0


class Change(NamedTuple):
    """A path before a turn and after it."""

    path: bytes
    was: State
    now: State | None
    """None if the turn has not ended."""
    exact: bool = True
    """Was it told by who changed it? Otherwise somebody else may have changed it meanwhile."""


class Known(NamedTuple):
    """What the last look found at a path."""

    state: State
    sign: Sign
    settled: bool
    """Of a file: was it old enough then for its times to tell? Of a folder: was it listed?"""


KnownRow: TypeAlias = tuple[Kind, int, str, int, int, int, int, int]
"""A state, the times and the inode of its sign, and whether it was settled."""

_TURN = (
    "SELECT number, id, kind, session, title, began, ended, looked, undoes, undone, notes, "
    "(SELECT count(*) FROM change WHERE change.turn = number AND was_kind || ifnull(is_kind, '') "
    "NOT IN ('folderabsent', 'absentfolder', 'folderfolder')) FROM turn "
)


def begin(
    connection: sqlite3.Connection,
    *,
    identity: str,
    kind: TurnKind,
    session: str,
    title: str,
    undoes: int | None = None,
) -> int:
    """A new turn; its number."""
    made = connection.execute(
        "INSERT INTO turn (id, kind, session, title, began, undoes) VALUES (?, ?, ?, ?, ?, ?)",
        (identity, kind, session, title, time.time(), undoes),
    )
    return int(made.lastrowid or 0)


def turns(
    connection: sqlite3.Connection, where: str = "", values: Sequence[object] = ()
) -> list[Turn]:
    """The turns for which ``where`` holds, oldest first."""
    rows = connection.execute(f"{_TURN}{where} ORDER BY number", values)
    return [
        Turn(
            number=row[0], id=row[1], kind=row[2], session=row[3], title=row[4], began=row[5],
            ended=row[6], looked=bool(row[7]), undoes=row[8], undone=row[9],
            notes=tuple(json.loads(row[10])), files=row[11],
        )
        for row in rows
    ]  # fmt: skip


def changes(connection: sqlite3.Connection, turn: int) -> list[Change]:
    """What a turn changed, by path."""
    rows = connection.execute(
        "SELECT path, was_kind, was_mode, was, was_size, is_kind, is_mode, now, is_size, exact "
        "FROM change WHERE turn = ? ORDER BY path",
        (turn,),
    )
    return [
        Change(
            path=bytes(row[0]),
            was=State(*row[1:5]),
            now=State(*row[5:9]) if row[5] is not None else None,
            exact=bool(row[9]),
        )
        for row in rows
    ]


def has(connection: sqlite3.Connection, turn: int, path: bytes) -> bool:
    found = connection.execute("SELECT 1 FROM change WHERE turn = ? AND path = ?", (turn, path))
    return found.fetchone() is not None


def claim(
    connection: sqlite3.Connection, turn: int, path: bytes, was: State, *, exact: bool
) -> None:
    """Note what a path was before a turn; what is noted first stays."""
    connection.execute(
        "INSERT OR IGNORE INTO change (turn, path, exact, was_kind, was_mode, was, was_size) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn, path, exact, *was),
    )


def settle(connection: sqlite3.Connection, turn: int, path: bytes, now: State) -> None:
    """Note what a path is after a turn."""
    connection.execute(
        "UPDATE change SET is_kind = ?, is_mode = ?, now = ?, is_size = ? "
        "WHERE turn = ? AND path = ?",
        (*now, turn, path),
    )


def drop(connection: sqlite3.Connection, turn: int, path: bytes) -> None:
    connection.execute("DELETE FROM change WHERE turn = ? AND path = ?", (turn, path))


def drop_turn(connection: sqlite3.Connection, turn: int) -> None:
    for table in ("change", "part"):
        connection.execute(f"DELETE FROM {table} WHERE turn = ?", (turn,))
    connection.execute("DELETE FROM turn WHERE number = ?", (turn,))


def note(connection: sqlite3.Connection, turn: int, notes: Iterable[str]) -> None:
    """Say what of a turn is not covered."""
    (row,) = turns(connection, "WHERE number = ?", (turn,))
    told = json.dumps(list(dict.fromkeys([*row.notes, *notes])))
    connection.execute("UPDATE turn SET notes = ? WHERE number = ?", (told, turn))


def parts(connection: sqlite3.Connection, turn: int) -> dict[str, str]:
    """What of other kinds than files a turn changed: JSON by kind."""
    found = connection.execute("SELECT kind, body FROM part WHERE turn = ? ORDER BY kind", (turn,))
    return dict(found.fetchall())


def all_known(connection: sqlite3.Connection) -> dict[bytes, KnownRow]:
    """All that the last looks found, as the table has it: there may be very many."""
    rows = connection.execute(
        "SELECT path, kind, mode, digest, size, mtime, ctime, inode, settled FROM known"
    )
    return {row[0]: row[1:] for row in rows}


def known_at(connection: sqlite3.Connection, path: bytes) -> Known | None:
    row = connection.execute(
        "SELECT path, kind, mode, digest, size, mtime, ctime, inode, settled FROM known "
        "WHERE path = ?",
        (path,),
    ).fetchone()
    return _known(row) if row else None


def _known(row: Sequence[Any]) -> Known:
    _, kind, mode, digest, size, mtime, ctime, inode, settled = row
    return Known(State(kind, mode, digest, size), Sign(mtime, ctime, size, inode), bool(settled))


def know(connection: sqlite3.Connection, path: bytes, found: Known) -> None:
    """Note what is at a path."""
    state, sign, settled = found
    connection.execute(
        "INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (path, *state, sign.mtime, sign.ctime, sign.inode, settled),
    )


def forget(connection: sqlite3.Connection, path: bytes) -> None:
    connection.execute("DELETE FROM known WHERE path = ?", (path,))
