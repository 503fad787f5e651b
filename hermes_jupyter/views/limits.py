"""What of a turn stays in the notebook: its entries, cleaned, redacted and cut to size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hermes_jupyter.calls import CallStatus
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Emoji
from hermes_jupyter.views.entries import (
    CallEntry,
    Entry,
    QuestionEntry,
    TextEntry,
    ThoughtEntry,
)
from hermes_jupyter.views.sanitize import clean, head_and_tail, joined_ends, one_line, reveal

MAX_BYTES = 200_000
"""A rendering that is larger is made again with stricter limits."""
_MARGIN = 4_000
"""Looked at beyond what is kept, so that no secret is cut in half before it is found."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Characters kept of each part of a turn, and how many parts."""

    answer: int
    text: int
    """Of what the model said before the answer, each time."""
    call: int
    """Of the arguments, and of the result."""
    entries: int


LADDER = (
    Limits(answer=100_000, text=20_000, call=4_000, entries=500),
    Limits(answer=40_000, text=4_000, call=1_000, entries=150),
    Limits(answer=20_000, text=1_000, call=400, entries=60),
    Limits(answer=10_000, text=300, call=100, entries=30),
)


@dataclass(frozen=True, slots=True)
class Said:
    """What the model said in one step (Markdown)."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thought before; shown folded, where that can be."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool call."""

    id: str
    emoji: str
    name: str
    short: str
    args: str
    """All arguments; empty if ``short`` says them all."""
    status: CallStatus | Literal["unfinished"]
    seconds: float
    decisions: tuple[str, ...]
    result: str
    edited: str = ""
    """What a person made of the call before it ran."""
    exit_code: int = 0
    by_hand: bool = False
    """A person's own call: its answer is shown at once."""

    @property
    def state(self) -> str:
        """ "✓ done · 0.2 s · Allowed once by you"."""
        if self.status == "unfinished":
            return " · ".join(["◼ not finished", *self.decisions])
        if self.status == "denied" and words.is_denial(self.decisions[-1:]):
            return " · ".join([f"⊘ {self.decisions[-1]}", *self.decisions[:-1]])
        return " · ".join(
            [words.ending(self.status, self.seconds, self.exit_code), *self.decisions]
        )

    @property
    def edited_how(self) -> str:
        """The heading of ``edited``."""
        ran = self.status not in {"denied", "unfinished"}
        return "Edited by you, then run" if ran else "Edited by you"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to the person, and the answer."""

    text: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Warned:
    text: str


@dataclass(frozen=True, slots=True)
class Omitted:
    """So many parts are left out here."""

    number: int


Part = Said | Thought | Called | Asked | Warned | Omitted


def parts_of(
    entries: Sequence[Entry], limits: Limits, emoji: Emoji, *, by_hand: bool = False
) -> list[Part]:
    """What to keep: within ``limits``, the first and the last entries."""
    answer = next((e for e in reversed(entries) if isinstance(e, TextEntry)), None)

    def part(entry: Entry) -> Part:
        match entry:
            case TextEntry(text=text):
                return Said(excerpt(text, limits.answer if entry is answer else limits.text))
            case ThoughtEntry(text=text):
                return Thought(excerpt(text, limits.call))
            case CallEntry():
                # The answer of the only call is worth as much as that of a model.
                limit = limits.text if by_hand else limits.call
                return replace(_called(entry, limit, emoji), by_hand=by_hand)
            case QuestionEntry(question=question, answer=reply):
                kept = None if reply is None else excerpt(reply, 2_000)
                return Asked(excerpt(question.text, 2_000), kept)
            case _:
                return Warned(one_line(excerpt(entry.text, 500), 600))

    if len(entries) <= limits.entries:
        return [part(entry) for entry in entries]
    head = limits.entries // 3
    tail = limits.entries - head
    omitted = Omitted(len(entries) - limits.entries)
    return [*map(part, entries[:head]), omitted, *map(part, entries[-tail:])]


def excerpt(text: str, limit: int) -> str:
    """Cleaned and redacted text, its middle left out if it is long."""
    window = limit + _MARGIN
    if len(text) <= 2 * window:
        return head_and_tail(redact(clean(text)), limit)
    start, end = redact(clean(text[:window])), redact(clean(text[-window:]))
    return joined_ends(start, end, limit, len(text))


def _called(entry: CallEntry, limit: int, emoji: Emoji) -> Called:
    call, result = entry.call, entry.result
    args = "" if words.is_said(call) else excerpt(reveal(words.readable(call.args)), limit)
    return Called(
        id=one_line(call.id, 100),
        emoji=clean(emoji(call.name)),
        name=one_line(call.name, 60),
        short=words.short_args(call, 60),
        args=args,
        status=result.status if result else "unfinished",
        seconds=result.seconds if result else 0.0,
        exit_code=result.exit_code if result else 0,
        decisions=tuple(entry.decisions),
        edited=excerpt(reveal(entry.edited[-1]), limit) if entry.edited else "",
        result=excerpt(words.readable_result(result.text), limit) if result else "",
    )
