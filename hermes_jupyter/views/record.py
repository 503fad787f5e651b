"""The record of a turn: what replaces the live widgets, and what the saved notebook keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hermes_jupyter.events import Event, TurnFinished
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Emoji, no_emoji
from hermes_jupyter.views.entries import Entries
from hermes_jupyter.views.limits import LADDER, MAX_BYTES, Part, parts_of
from hermes_jupyter.views.record_html import html_of
from hermes_jupyter.views.record_json import MIME, VERSION, left_out, turn_of
from hermes_jupyter.views.record_text import markdown_of, plain_of

__all__ = ["MIME", "VERSION", "Record"]


class Record:
    """A listener that makes the output that stays.

    Everything in it is redacted, cleaned and bounded, and the same events always make the same
    bundle.
    """

    def __init__(self, *, emoji: Emoji = no_emoji) -> None:
        self._entries = Entries()
        self._emoji = emoji

    def __call__(self, event: Event) -> None:
        self._entries(event)

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of what has happened so far. Without an end it reads as interrupted."""
        bundle: dict[str, Any] = {}
        entries = self._entries.entries()
        for limits in LADDER:
            parts = parts_of(
                entries,
                limits,
                self._emoji,
                by_hand=self._entries.by_hand,
                since=self._entries.began,
            )
            turn = turn_of(parts, self._entries, self._finished())
            if _size(turn) > MAX_BYTES and limits is not LADDER[-1]:
                continue  # the other renderings are no smaller, and take longer
            bundle = self._rendered(parts, turn)
            if all(_size(rendering) <= MAX_BYTES for rendering in bundle.values()):
                break
        if (recorded := self._entries.recorded) is not None:  # it has a limit of its own
            bundle[MIME]["recording"] = recorded
        return bundle

    def _rendered(self, parts: Sequence[Part], turn: dict[str, Any]) -> dict[str, Any]:
        finished = self._finished()
        ended = "" if finished.status == "done" else words.ended(finished)
        steps = words.steps_done(finished.steps)
        started = self._entries.started
        footer = words.footer(
            turn["model"],
            steps,
            finished.usage,
            finished.seconds,
            started=started,
            changed=finished.changed,
        )
        if left_out(parts) and started and started.session_id:
            footer += f" · the whole turn: %hermes export {started.session_id} FILE"
        return {
            "text/plain": plain_of(parts, ended=ended, footer=footer),
            "text/markdown": markdown_of(parts, ended=ended, footer=footer),
            "text/html": html_of(parts, ended=ended, footer=footer),
            MIME: turn,
        }

    def _finished(self) -> TurnFinished:
        return self._entries.finished or TurnFinished(status="interrupted", text="")


def _size(rendering: Any) -> int:
    is_text = isinstance(rendering, str)
    text = rendering if is_text else json.dumps(rendering, ensure_ascii=False)
    return len(text.encode("utf-8"))
