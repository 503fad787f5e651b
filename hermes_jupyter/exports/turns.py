"""A stored conversation, turn by turn, with what its views have shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hermes_jupyter.events import ChildStarted, ChildTold, Event, TurnFinished, TurnStarted
from hermes_jupyter.store.sessions.catalog import Stored
from hermes_jupyter.store.sessions.reading import Entry, history
from hermes_jupyter.views.base import Emoji, no_emoji
from hermes_jupyter.views.record import Record


@dataclass(slots=True)
class ToldTurn:
    """One turn: what was asked, when, and all that happened."""

    started: TurnStarted
    at: float
    events: list[Event] = field(default_factory=list)

    @property
    def by_hand(self) -> bool:
        """Was it the call of a tool, without a model?"""
        return self.started.steps == 0

    def bundle(self, emoji: Emoji) -> dict[str, Any]:
        """The record that stands below its cell."""
        record = Record(emoji=emoji)
        for event in self.events:
            record(event)
        return record.bundle()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is exported."""

    about: Stored
    entries: list[Entry]
    emoji: Emoji = no_emoji
    children: Callable[[str], list[Entry]] = lambda _id: []
    """What is stored of the child with this session id; empty if that is gone."""

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.about.title or self.about.name

    @property
    def file_name(self) -> str:
        """A name for its file, without the ending."""
        words = re.sub(r"[^\w-]+", "-", self.about.name).strip("-") or "conversation"
        return f"{words}-{self.about.id}"

    @property
    def turns(self) -> list[ToldTurn]:
        return [*_turns(self.entries, self.children)]


def _turns(entries: Iterable[Entry], children: Callable[[str], list[Entry]]) -> Iterable[ToldTurn]:
    turn: ToldTurn | None = None
    for entry, event in history(iter(entries)):
        if isinstance(event, TurnStarted):
            if turn is not None:
                yield turn
            turn = ToldTurn(event, entry.at)
        if turn is not None:
            turn.events += _with_child(event, children)
        if turn is not None and isinstance(event, TurnFinished):
            yield turn
            turn = None
    if turn is not None:
        yield turn


def _with_child(event: Event, children: Callable[[str], list[Entry]]) -> list[Event]:
    """An event, and all that a child did that begins with it: stored in its own conversation."""
    if not isinstance(event, ChildStarted) or not event.child.session_id:
        return [event]
    inside = [
        ChildTold(child=event.child.id, event=told)
        for _, each in history(iter(children(event.child.session_id)))
        for told in _with_child(each, children)
    ]
    return [event, *inside]


def moment(at: float) -> str:
    """A time as people write it, in their zone."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"
