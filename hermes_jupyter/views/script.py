"""Views of a turn that a script runs: nothing is printed, but a person may be asked."""

from __future__ import annotations

import sys
from typing import Any

from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
)
from hermes_jupyter.views.base import CellOutput, Desk, Emoji
from hermes_jupyter.views.streams import StandardStreams
from hermes_jupyter.views.text import TextView


class Silent:
    """Nobody is there: nothing is shown, and every question is answered no."""

    nobody_answers = True

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __call__(self, event: Event) -> None:
        match event:
            case ApprovalRequested(request=request):
                self._desk.answer(request.id, "deny", by="policy", digest=request.digest)
            case QuestionAsked(question=question):
                self._desk.reply(question.id, None, by="policy")

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """There is nothing to show."""


class Prompting:
    """A person at a terminal is asked; of the rest nothing is printed."""

    nobody_answers = False

    def __init__(self, cell: CellOutput, desk: Desk, emoji: Emoji) -> None:
        streams = StandardStreams(cell)
        self._text = TextView(
            streams.write,
            streams.ask,
            desk=desk,
            prefills=streams.prefills,
            ask_secret=streams.ask_secret,
            emoji=emoji,
        )

    def __call__(self, event: Event) -> None:
        match event:
            case ApprovalRequested() | ApprovalResolved() | QuestionAsked() | QuestionAnswered():
                self._text(event)

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """There is nothing to show."""


def script_view(cell: CellOutput, desk: Desk, emoji: Emoji) -> Silent | Prompting:
    """A person is asked where standard input is a terminal; elsewhere nobody is there."""
    is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    return Prompting(cell, desk, emoji) if is_terminal else Silent(desk)
