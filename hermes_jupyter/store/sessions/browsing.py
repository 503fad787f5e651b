"""What an agent sees of stored conversations: short texts, ids to read on from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.sessions.catalog import Sessions, Stored
from hermes_jupyter.store.sessions.schema import SHIFT
from hermes_jupyter.store.sessions.search import Found, Order, search
from hermes_jupyter.store.sessions.words import Query, plain, query

SNIPPET_CHARS = 400
SHORT_CHARS = 300
MESSAGE_CHARS = 2_000
BEGINNING, END = 20, 10
"""Messages of a session that are read without another word."""
NEAR = 2
CALL_CHARS = 200

# Withdrawn messages were taken back before the model answered; compacted ones were said.
_MESSAGES = """
    SELECT e.id, e.kind, e.at, coalesce(e.text, s.text), e.body
    FROM entries e LEFT JOIN entries s ON s.id = e.source
    WHERE e.id BETWEEN ? AND ? AND e.kind IN ('user', 'assistant', 'tool')
    AND coalesce(e.gone, '') != 'withdrawn' ORDER BY e.id {way} LIMIT ?
"""
_COUNT = """
    SELECT count(*) FROM entries WHERE id BETWEEN ? AND ?
    AND kind IN ('user', 'assistant', 'tool') AND coalesce(gone, '') != 'withdrawn'
"""
Row = tuple[int, str, float, str | None, str | None]


class Browser:
    """The conversations, for the agent of one of them. See ``tools/session_search_tool.py``.

    Parameters
    ----------
    own
        Id of the session whose agent asks: what it can read in its own transcript is not found.
    """

    def __init__(self, stored: Sessions, own: str) -> None:
        self._stored = stored
        self._own = own

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """The sessions that were used last."""
        return [_about(each) for each in self._listing(limit + 1) if each.id != self._own][:limit]

    def find(
        self, text: str, *, limit: int, order: str, roles: tuple[str, ...]
    ) -> tuple[list[dict[str, Any]], int]:
        """Sessions in which a message has all words, and how many sessions there are."""
        sought = query(text)
        try:
            own = self._stored.look_up(self._own)
            found = search(
                self._stored.database,
                sought,
                limit=limit,
                order=cast(Order, order),
                kinds=roles,
                but_live_of=own.number if own else 0,
            )
            with self._stored.database.read() as connection:
                results = [self._result(connection, each, sought) for each in found]
            return results, self._stored.count()
        except StoreError as error:
            raise LookupError(str(error)) from error

    def read(self, session: str) -> dict[str, Any]:
        """The beginning and the end of a session."""
        about = self._get(session)
        with self._stored.database.read() as connection:
            total = _count(connection, about.number)
            first = _from(connection, about.number, 0, BEGINNING)
            last = _before(connection, about.number, (1 << SHIFT) - 1, END)
        seen = {row[0] for row in first}
        last = [row for row in last if row[0] not in seen]
        left_out = total - len(first) - len(last)
        return {
            **_about(about),
            "messages": [_message(row, MESSAGE_CHARS) for row in first],
            **({"left_out": left_out} if left_out else {}),
            **({"end": [_message(row, MESSAGE_CHARS) for row in last]} if last else {}),
            "total_messages": total,
        }

    def around(self, session: str, message: int, window: int) -> dict[str, Any]:
        """The messages around one."""
        about = self._get(session)
        base = about.number << SHIFT
        with self._stored.database.read() as connection:
            before = _before(connection, about.number, message - 1, window)
            behind = _from(connection, about.number, message, window + 1)
            shown = [*before, *behind]
            if not shown:
                raise LookupError(f"session {session!r} has no messages there")
            earlier = _count(connection, about.number, last=shown[0][0] - base - 1)
            later = _count(connection, about.number, first=shown[-1][0] - base + 1)
        return {
            **_about(about),
            "messages": [_message(row, MESSAGE_CHARS) for row in shown],
            "messages_before": earlier,
            "messages_after": later,
        }

    def _listing(self, limit: int) -> list[Stored]:
        try:
            return self._stored.listing(limit=limit)
        except StoreError as error:
            raise LookupError(str(error)) from error

    def _get(self, session: str) -> Stored:
        try:
            return self._stored.find(session)
        except StoreError as error:
            raise LookupError(str(error)) from error

    def _result(
        self, connection: sqlite3.Connection, found: Found, sought: Query
    ) -> dict[str, Any]:
        about = self._stored.by_number(found.number)
        place = found.best - (found.number << SHIFT)
        near = [
            *_before(connection, found.number, place - 1, NEAR),
            *_from(connection, found.number, place, NEAR + 1),
        ]
        match = next(row for row in near if row[0] == found.best)
        opening = _from(connection, found.number, 0, 1)
        closing = _before(connection, found.number, (1 << SHIFT) - 1, 1)
        shown = {row[0] for row in near}
        return {
            **_about(about),
            "matched_role": found.best_kind,
            "match_message_id": place,
            "matches": found.count,
            "snippet": _snippet(_said(match), sought),
            "messages": [_message(row, SHORT_CHARS) for row in near if row[0] != found.best],
            "bookend_start": [_message(r, SHORT_CHARS) for r in opening if r[0] not in shown],
            "bookend_end": [_message(r, SHORT_CHARS) for r in closing if r[0] not in shown],
        }


def _about(about: Stored) -> dict[str, Any]:
    return {
        "session_id": about.id,
        "name": about.name,
        "title": about.title,
        "when": _time(about.updated),
        **({"notebook": about.notebook} if about.notebook else {}),
        **({"works_for_session": about.parent} if about.is_child else {}),
        **({"model": about.model} if about.model else {}),
        "message_count": about.messages,
    }


def _message(row: Row, limit: int) -> dict[str, Any]:
    identity, role, at, _, _ = row
    text = _said(row)
    shown = text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"
    place = identity & ((1 << SHIFT) - 1)
    return {"message_id": place, "role": role, "when": _time(at), "content": shown}


def _said(row: Row) -> str:
    """The text of a message, and what its calls ask for."""
    _, role, _, text, body = row
    if role != "assistant" or not body:
        return text or ""
    wanted = [call["function"] for call in json.loads(body).get("tool_calls") or ()]
    calls = (f"[{each['name']} {each['arguments'][:CALL_CHARS]}]" for each in wanted)
    return "\n".join(filter(None, [text, *calls]))


def _snippet(text: str, sought: Query) -> str:
    """The neighbourhood of the first match."""
    at = sought.first_in(plain(text))  # about there: one spelling may be longer than another
    start = max(0, at - SNIPPET_CHARS // 3)
    piece = text[start : start + SNIPPET_CHARS]
    return f"{'…' if start else ''}{piece}{'…' if start + SNIPPET_CHARS < len(text) else ''}"


def _time(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"


def _from(connection: sqlite3.Connection, number: int, place: int, limit: int) -> list[Row]:
    sql = _MESSAGES.format(way="ASC")
    base = number << SHIFT
    last = base + (1 << SHIFT) - 1
    return connection.execute(sql, (base + place, last, limit)).fetchall()


def _before(connection: sqlite3.Connection, number: int, place: int, limit: int) -> Sequence[Row]:
    sql = _MESSAGES.format(way="DESC")
    base = number << SHIFT
    return connection.execute(sql, (base, base + max(place, 0), limit)).fetchall()[::-1]


def _count(
    connection: sqlite3.Connection, number: int, first: int = 0, last: int = (1 << SHIFT) - 1
) -> int:
    base = number << SHIFT
    bounds = (base + max(0, first), base + max(0, last))
    return int(connection.execute(_COUNT, bounds).fetchone()[0])
