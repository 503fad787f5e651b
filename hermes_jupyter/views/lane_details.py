"""What a child has done, call by call: made when a person asks for it, and only added to then."""

from __future__ import annotations

import asyncio
from typing import Any

from hermes_jupyter.views import words
from hermes_jupyter.views.base import Emoji
from hermes_jupyter.views.cards import call_html
from hermes_jupyter.views.entries import CallEntry, Entries, Entry, TextEntry
from hermes_jupyter.views.limits import excerpt
from hermes_jupyter.views.markdown import to_html
from hermes_jupyter.views.widgets import Stage

MAX_TEXT = 8_000


class LaneDetails:
    """A button, and below it the calls and texts so far.

    What is there stays as it is, so that a fold which was opened does not close while its reader
    reads. Clicks arrive in any thread; everything else happens on the loop that made it.
    """

    def __init__(self, stage: Stage, entries: Entries, emoji: Emoji, name: str) -> None:
        self._stage, self._entries, self._emoji = stage, entries, emoji
        self._loop = asyncio.get_running_loop()
        self._is_open = False
        self._has_ended = False
        self._made: list[Any] = []
        about = f"Show or hide what was done: {name}"
        self.button = stage.button("Details", about, self._pressed, "hermes-flat")
        self.box = stage.column((), "hermes-child-details")

    def end(self) -> None:
        """Nothing more will be complete than is."""
        self._has_ended = True
        self.refresh()

    def refresh(self) -> None:
        """Add what is complete by now."""
        if not self._is_open or self._stage.closed:
            return
        entries = self._entries.entries() if self._has_ended else self._entries.settled()
        for entry in entries[len(self._made) :]:
            if not self._is_complete(entry):
                break
            self._made.append(self._stage.html(self._html(entry)))
        if len(self._made) != len(self.box.children):
            self.box.children = tuple(self._made)

    def _pressed(self) -> None:
        self._loop.call_soon_threadsafe(self._toggle)

    def _toggle(self) -> None:
        self._is_open = not self._is_open
        if not self._is_open and not self._stage.closed:
            self.box.children = ()
        self.refresh()

    def _is_complete(self, entry: Entry) -> bool:
        return self._has_ended or not isinstance(entry, CallEntry) or entry.result is not None

    def _html(self, entry: Entry) -> str:
        match entry:
            case CallEntry(call=call, result=result) if result is not None:
                ending = words.ending(result.status, result.seconds, result.exit_code)
                answer = words.readable_result(result.text)
                return call_html(call, result.status, answer, ending, self._emoji)
            case CallEntry(call=call):
                return call_html(call, "interrupted", "", "◼ not finished", self._emoji)
            case TextEntry(text=text):
                return f'<div class="hermes-text">{to_html(excerpt(text, MAX_TEXT))}</div>'
        return ""
