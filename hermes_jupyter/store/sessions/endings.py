"""How a stored conversation ended: is something of it left to do, or to be read?"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from hermes_jupyter.store.sessions.schema import bounds

LOOKED_AT = 20
"""So many of the last turns, and of the last messages that were said in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A turn that ended before its work was done."""

    prompt: str
    is_kept: bool
    """Does the transcript hold the prompt, and what was done for it?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What the next turn may go on with."""

    unfinished: Unfinished | None = None
    unread: tuple[str, ...] = ()
    """What the person has said and no model has read."""


def ending_of(connection: sqlite3.Connection, number: int) -> Ending:
    """How the session ended that is stored under this number."""
    return Ending(unfinished=_unfinished(connection, number), unread=_unread(connection, number))


def _unfinished(connection: sqlite3.Connection, number: int) -> Unfinished | None:
    began = connection.execute(
        "SELECT id, text, body FROM entries WHERE id BETWEEN ? AND ? AND kind = 'TurnStarted'"
        " ORDER BY id DESC LIMIT ?",
        (*bounds(number), LOOKED_AT),
    ).fetchall()
    # One without steps is a call by hand, which leaves the rest as it is.
    at = next((n for n, found in enumerate(began) if json.loads(found[2]).get("steps")), None)
    if at is None:
        return None
    row, prompt, _ = began[at]
    last = began[at - 1][0] - 1 if at else bounds(number)[1]
    ended = connection.execute(
        "SELECT body FROM entries WHERE id BETWEEN ? AND ? AND kind = 'TurnFinished' LIMIT 1",
        (row, last),
    ).fetchone()
    if ended is None or json.loads(ended[0]).get("status") == "done":
        return None
    kept = connection.execute(
        "SELECT 1 FROM entries WHERE id BETWEEN ? AND ? AND kind = 'user'"
        " AND coalesce(gone, '') != 'withdrawn' LIMIT 1",
        (row, last),
    ).fetchone()
    return Unfinished(prompt=prompt or "", is_kept=kept is not None)


def _unread(connection: sqlite3.Connection, number: int) -> tuple[str, ...]:
    first, last = bounds(number)
    said = connection.execute(
        "SELECT id, text FROM entries WHERE id BETWEEN ? AND ? AND kind = 'MessageSaid'"
        " ORDER BY id DESC LIMIT ?",
        (first, last, LOOKED_AT),
    ).fetchall()
    unread: dict[str, None] = {}
    for row, text in reversed(said):
        read = connection.execute(
            "SELECT 1 FROM entries e LEFT JOIN entries s ON s.id = e.source"
            " WHERE e.id BETWEEN ? AND ? AND e.kind = 'user'"
            " AND coalesce(e.gone, '') != 'withdrawn'"
            " AND instr(coalesce(e.text, s.text), ?) LIMIT 1",
            (row, last, text),
        ).fetchone()
        if read is None:
            unread[text] = None
    return tuple(unread)
