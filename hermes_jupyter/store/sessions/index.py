"""The two indexes over the texts of messages. They lag behind, and catch up when that is cheap.

They hold no text of their own: to take a message out, the same text must be made again.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable
from typing import Any

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.sessions.database import Database
from hermes_jupyter.store.sessions.schema import SHIFT, bounds
from hermes_jupyter.store.sessions.words import indexable, segmented

logger = logging.getLogger(__name__)

AT_ONCE = 60
CHARS_AT_ONCE = 100_000
"""Other kernels, and the next turn, wait for so much at most."""
_TEXTS = """
    SELECT e.id, e.kind, coalesce(e.text, s.text), e.body
    FROM entries e LEFT JOIN entries s ON s.id = e.source
    WHERE e.id BETWEEN ? AND ? AND e.kind IN ('user', 'assistant', 'tool')
"""


def catch_up(database: Database) -> None:
    """Bring the indexes up to date; in many small steps."""
    try:
        with database.read() as connection:
            stale = connection.execute("SELECT number FROM sessions WHERE stale").fetchall()
        for (number,) in stale:
            while _step(database, number):
                pass
    except StoreError:
        if not database.is_closed:
            logger.warning("the indexes of the conversations are behind", exc_info=True)


def forget(connection: sqlite3.Connection, first: int, last: int, count: int) -> None:
    """Take the last ``count`` entries of a session out of the indexes."""
    number = first >> SHIFT
    (indexed,) = connection.execute(
        "SELECT indexed FROM sessions WHERE number = ?", (number,)
    ).fetchone() or (0,)
    (lowest,) = connection.execute(
        "SELECT min(id) FROM (SELECT id FROM entries WHERE id BETWEEN ? AND ?"
        " ORDER BY id DESC LIMIT ?)",
        (first, last, count),
    ).fetchone()
    if lowest is None or lowest > first + indexed:
        return
    rows = connection.execute(_TEXTS, (lowest, first + indexed))
    _change(connection, rows.fetchall(), "('delete', ?, ?)", "{0}, rowid, text")


def text_of(kind: str, text: str | None, body: str | None) -> str:
    """What of a message can be found: its text, and what its calls ask for."""
    said = text or ""
    if kind == "assistant" and body:
        wanted = (call["function"] for call in json.loads(body).get("tool_calls") or ())
        calls = (f"{function['name']} {function['arguments']}" for function in wanted)
        said = "\n".join((said, *calls))
    return indexable(said)


def _step(database: Database, number: int) -> bool:
    """Take in some texts of a session; False if there are none."""
    with database.write() as connection:
        (indexed,) = connection.execute(
            "SELECT indexed FROM sessions WHERE number = ?", (number,)
        ).fetchone() or (None,)
        if indexed is None:  # deleted meanwhile
            return False
        first, last = bounds(number)
        rows = _some(connection.execute(f"{_TEXTS} ORDER BY e.id", (first + indexed + 1, last)))
        if rows:
            _change(connection, rows, "(?, ?)", "rowid, text")
            connection.execute(
                "UPDATE sessions SET indexed = ? WHERE number = ?", (rows[-1][0] - first, number)
            )
        else:  # of a turn that runs more is to come
            connection.execute("UPDATE sessions SET stale = running WHERE number = ?", (number,))
    return bool(rows)


def _some(cursor: Iterable[tuple[int, str, str | None, str | None]]) -> list[tuple[int, str]]:
    rows, size = [], 0
    for identity, kind, text, body in cursor:
        rows.append((identity, text_of(kind, text, body)))
        size += len(rows[-1][1])
        if len(rows) == AT_ONCE or size > CHARS_AT_ONCE:
            break
    return rows


def _change(
    connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]], values: str, into: str
) -> None:
    made = [row if len(row) == 2 else (row[0], text_of(*row[1:])) for row in rows]
    for table, texts in (
        ("words", [(identity, segmented(text)) for identity, text in made]),
        ("pieces", made),
    ):
        connection.executemany(f"INSERT INTO {table} ({into.format(table)}) VALUES {values}", texts)
