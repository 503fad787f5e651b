"""What is being streamed: on disk before it is shown, gone when its whole is an entry.

A text grows in one row, which is masked anew with each piece, since a secret may come in pieces.
A long one goes on in another row.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from hermes_jupyter.redaction import is_suspicious
from hermes_jupyter.store.sessions.masking import masked

Kind = Literal["text", "reasoning", "output"]

ROW_CHARS = 1_500
MOST_CHARS = 6_000
"""So long a row gets if a secret may be about to begin in it."""
OUTPUT_ROWS = 8
"""Of the output of a running call the last ones are kept: a view shows no more."""


@dataclass(slots=True)
class _Growing:
    part: int
    raw: str


class Partials:
    """The streams of one session. The caller holds the database."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._growing: dict[tuple[Kind, str], _Growing] = {}
        self._parts: dict[tuple[Kind, str], list[int]] = {}
        self._next = 0

    def add(self, connection: sqlite3.Connection, kind: Kind, text: str, call: str = "") -> None:
        """Write a piece down."""
        stream = (kind, call)
        if kind == "output":
            text = text[-MOST_CHARS:]
        row = self._growing.get(stream)
        if row is None or self._is_full(row):
            row = self._begin(connection, stream)
        row.raw += text
        connection.execute(
            "INSERT INTO partials VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (session, part) DO UPDATE SET text = excluded.text",
            (self._session, row.part, kind, call, masked(row.raw)),
        )

    def whole(self, connection: sqlite3.Connection, kind: Kind) -> str:
        """All of a stream that is there, masked."""
        return "".join(
            text
            for (text,) in connection.execute(
                "SELECT text FROM partials WHERE session = ? AND kind = ? ORDER BY part",
                (self._session, kind),
            )
        )

    def has(self, kind: Kind, call: str = "") -> bool:
        """Has anything come since the last `drop`?"""
        return (kind, call) in self._growing

    def drop(self, connection: sqlite3.Connection, kind: Kind, call: str = "") -> None:
        """Its whole is an entry now, or was taken back."""
        stream = (kind, call)
        if self._growing.pop(stream, None) is not None:
            self._remove(connection, self._parts.pop(stream))

    def drop_all(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM partials WHERE session = ?", (self._session,))
        self._growing.clear()
        self._parts.clear()

    def _is_full(self, row: _Growing) -> bool:
        size = len(row.raw)
        return size > MOST_CHARS or (size > ROW_CHARS and not is_suspicious(row.raw[-400:]))

    def _begin(self, connection: sqlite3.Connection, stream: tuple[Kind, str]) -> _Growing:
        row = self._growing[stream] = _Growing(self._next, "")
        self._next += 1
        parts = self._parts.setdefault(stream, [])
        parts.append(row.part)
        if stream[0] == "output" and len(parts) > OUTPUT_ROWS:
            self._remove(connection, [parts.pop(0)])
        return row

    def _remove(self, connection: sqlite3.Connection, parts: list[int]) -> None:
        connection.executemany(
            "DELETE FROM partials WHERE session = ? AND part = ?",
            [(self._session, part) for part in parts],
        )


def streamed(connection: sqlite3.Connection, session: int) -> dict[tuple[str, str], str]:
    """What a dead kernel has left: each stream's text by kind and call."""
    found: dict[tuple[str, str], str] = {}
    for kind, call, text in connection.execute(
        "SELECT kind, call, text FROM partials WHERE session = ? ORDER BY part", (session,)
    ):
        found[kind, call] = found.get((kind, call), "") + text
    return found
