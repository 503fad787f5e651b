"""Find messages in all conversations.

Frequent terms are found newest first: of the matches a bounded number is looked at, so that a
search takes the same time in a large file.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hermes_jupyter.store.sessions import index
from hermes_jupyter.store.sessions.database import Database, now
from hermes_jupyter.store.sessions.schema import SHIFT
from hermes_jupyter.store.sessions.words import Query

Order = Literal["relevance", "newest", "oldest"]

MOST_MATCHES = 600
MOST_PIECES = 200
"""So many texts are read to see whether a term stands in them."""
JUMP = 40
HALF_LIFE = 60 * 86_400.0
SAID = frozenset({"user", "assistant"})


@dataclass(slots=True)
class Found:
    """The matches in one conversation."""

    number: int
    best: int
    """The row of the message that shows best why it was found."""
    best_kind: str
    count: int = 1


def search(
    database: Database,
    query: Query,
    *,
    limit: int = 10,
    order: Order = "relevance",
    kinds: Sequence[str] = (),
    but_live_of: int = 0,
) -> list[Found]:
    """The conversations in which a message has all terms.

    Parameters
    ----------
    kinds
        Roles of the messages that count; all if empty.
    but_live_of
        Number of a session whose own transcript the reader knows.
    """
    if not query.alternatives:
        return []
    index.catch_up(database)
    with database.read() as connection:
        seeker = _Seeker(connection, query, order, tuple(kinds), but_live_of)
        found = seeker.in_words(limit)
        if len(found) < limit:
            for number, match in seeker.in_pieces().items():
                found.setdefault(number, match)
        times = _times(connection, found)
    ranked = sorted(found.values(), key=lambda match: _rank(match, times, order), reverse=True)
    return ranked[:limit]


@dataclass(slots=True)
class _Seeker:
    connection: sqlite3.Connection
    query: Query
    order: Order
    kinds: tuple[str, ...]
    but_live_of: int

    def in_words(self, limit: int) -> dict[int, Found]:
        """Matches of whole words, by session."""
        expression = self.query.words
        if not expression:
            return {}
        rows = self._rows("words", expression, MOST_MATCHES)
        found = _grouped(rows)
        last = rows[-1][0] >> SHIFT if len(rows) == MOST_MATCHES else None
        while last is not None and len(found) < limit:  # all are of few sessions: look beyond
            rows = self._rows("words", expression, JUMP, beyond=last)
            found.update(_grouped(rows))
            last = rows[-1][0] >> SHIFT if len(rows) == JUMP else None
        return found

    def in_pieces(self) -> dict[int, Found]:
        """Matches inside of words."""
        expression = self.query.pieces
        if not expression:
            return {}
        rows = self._rows("pieces", expression, MOST_PIECES)
        return _grouped(row for row in rows if self.query.is_in(self._text(row[0])))

    def _rows(
        self, table: str, expression: str, limit: int, beyond: int | None = None
    ) -> list[tuple[int, str]]:
        oldest_first = self.order == "oldest"
        first, last = 0, (1 << 63) - 1
        if beyond is not None and oldest_first:
            first = beyond + 1 << SHIFT
        elif beyond is not None:
            last = (beyond << SHIFT) - 1
        kinds = f" AND e.kind IN ({', '.join('?' * len(self.kinds))})" if self.kinds else ""
        way = "ASC" if oldest_first else "DESC"
        return self.connection.execute(
            f"SELECT f.rowid, e.kind FROM {table} f CROSS JOIN entries e ON e.id = f.rowid"
            f" WHERE {table} MATCH ? AND f.rowid BETWEEN ? AND ?"
            " AND coalesce(e.gone, '') != 'withdrawn'"
            f" AND (e.id >> {SHIFT} != ? OR e.gone IS NOT NULL){kinds}"
            f" ORDER BY f.rowid {way} LIMIT ?",
            (expression, first, last, self.but_live_of, *self.kinds, limit),
        ).fetchall()

    def _text(self, row: int) -> str:
        return index.text_of(
            *self.connection.execute(
                "SELECT e.kind, coalesce(e.text, s.text), e.body FROM entries e"
                " LEFT JOIN entries s ON s.id = e.source WHERE e.id = ?",
                (row,),
            ).fetchone()
        )


def _grouped(rows: Iterable[tuple[int, str]]) -> dict[int, Found]:
    found: dict[int, Found] = {}
    for row, kind in rows:
        match = found.get(row >> SHIFT)
        if match is None:
            found[row >> SHIFT] = Found(row >> SHIFT, row, kind)
            continue
        match.count += 1
        if kind in SAID and match.best_kind not in SAID:
            match.best, match.best_kind = row, kind
    return found


def _times(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, float]:
    wanted = [*numbers]
    marks = ", ".join("?" * len(wanted))
    sql = f"SELECT number, updated FROM sessions WHERE number IN ({marks})"
    return dict(connection.execute(sql, wanted))


def _rank(match: Found, times: dict[int, float], order: Order) -> float:
    at = times.get(match.number, 0.0)
    if order != "relevance":
        return at if order == "newest" else -at
    age = max(0.0, now() - at)
    said = 1.5 if match.best_kind in SAID else 1.0
    return said * math.log2(1 + match.count) * math.exp2(-age / HALF_LIFE)
