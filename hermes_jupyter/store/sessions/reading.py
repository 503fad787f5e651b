"""Read a conversation back: what the model reads, and all that happened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import BatchStarted, Event, ToolCallFinished, ToolCallStarted
from hermes_jupyter.store.sessions import pictures
from hermes_jupyter.store.sessions.event_rows import event_of
from hermes_jupyter.store.sessions.message_rows import ROLES, Message, args_of, message_of
from hermes_jupyter.store.sessions.schema import SHIFT, bounds

Stored = tuple[int, float, Message]
"""A message of a transcript: its row, its place, and itself."""

_ROLES = ", ".join(f"'{role}'" for role in ROLES)
# Of a message without a text of its own that of its source. Most texts are long: read once.
_TRANSCRIPT = f"""
    SELECT e.id, e.place, e.kind, coalesce(e.text, s.text), e.body
    FROM entries e LEFT JOIN entries s ON s.id = e.source
    WHERE e.id BETWEEN ? AND ? AND e.kind IN ({_ROLES}) AND e.gone IS NULL
"""
_ENTRIES = """
    SELECT e.id, e.kind, e.at, coalesce(e.text, s.text), e.body, e.gone
    FROM entries e LEFT JOIN entries s ON s.id = e.source
    WHERE e.id BETWEEN ? AND ? ORDER BY e.id
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that is stored: a message, or an event."""

    place: int
    """Its number in the conversation."""
    kind: str
    at: float
    text: str | None
    body: str | None
    gone: str

    @property
    def is_message(self) -> bool:
        return self.kind in ROLES

    @property
    def message(self) -> Message:
        return message_of(self.kind, self.text, self.body)

    @property
    def event(self) -> Event | None:
        """The event; None for messages, and for events that are not known here."""
        return None if self.is_message else event_of(self.kind, self.text, self.body)


def transcript(connection: sqlite3.Connection, number: int) -> list[Stored]:
    """The messages of a session, in their order."""
    base = number << SHIFT
    look_up = partial(pictures.look_up, connection)
    found = [
        (
            row,
            float(row - base) if place is None else place,
            pictures.put_back(message_of(role, text, body), look_up),
        )
        for row, place, role, text, body in connection.execute(
            _TRANSCRIPT, bounds(number)
        ).fetchall()
    ]
    return sorted(found, key=lambda stored: stored[1])


def entries(connection: sqlite3.Connection, number: int, first: int = 0) -> Iterator[Entry]:
    """All that is stored of a session, from a place on, as it happened."""
    base, last = number << SHIFT, bounds(number)[1]
    for row, kind, at, text, body, gone in connection.execute(_ENTRIES, (base + first, last)):
        yield Entry(row - base, kind, at, text, body, gone or "")


def history(found: Iterator[Entry]) -> Iterator[tuple[Entry, Event]]:
    """The events among them, with the arguments of calls filled in from the messages."""
    calls: dict[str, ToolCall] = {}
    for entry in found:
        if entry.kind == "assistant":
            for name, args in args_of(entry.message).items():
                calls[name] = ToolCall(id=name, name="", args=args)
        event = entry.event
        if event is not None:
            yield entry, _whole(event, calls)


def _whole(event: Event, calls: dict[str, ToolCall]) -> Event:
    match event:
        case BatchStarted(calls=wanted):
            filled = tuple(_filled(call, calls) for call in wanted)
            calls.update((call.id, call) for call in filled)
            return replace(event, calls=filled)
        case ToolCallStarted(call=call):
            return replace(event, call=_filled(call, calls))
        case ToolCallFinished(result=result):
            return replace(event, result=replace(result, call=_filled(result.call, calls)))
    return event


def _filled(call: ToolCall, calls: dict[str, ToolCall]) -> ToolCall:
    known = calls.get(call.id)
    return call if call.args or known is None else replace(call, args=known.args)
