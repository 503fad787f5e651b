"""What of a turn stays in the notebook: its entries, cleaned, redacted and cut to size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from hermes_jupyter.calls import CallStatus, ChildStatus
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Emoji
from hermes_jupyter.views.entries import (
    CallEntry,
    ComparedEntry,
    Entry,
    LaneEntry,
    QuestionEntry,
    SpokenEntry,
    TextEntry,
    ThoughtEntry,
)
from hermes_jupyter.views.sanitize import clean, head_and_tail, joined_ends, one_line, reveal

MAX_BYTES = 200_000
"""A rendering that is larger is made again with stricter limits."""
LEAST_ENTRIES = 6
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

    @property
    def in_lanes(self) -> Limits:
        """For what a child of a call did."""
        return Limits(
            answer=self.text // 5,
            text=self.text // 20,
            call=self.call // 4,
            entries=max(LEAST_ENTRIES, self.entries // 10),
        )


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
    details: str = ""
    """What the tool told the person alone."""
    edited: str = ""
    """What a person made of the call before it ran."""
    exit_code: int = 0
    by_hand: bool = False
    """A person's own call: its answer is shown at once."""
    lanes: tuple[Lane, ...] = ()
    """What its children did; then arguments and result say nothing more, and are left out."""
    more_lanes: int = 0
    """So many further children are left out."""
    at: float | None = None
    """Seconds after the turn began; None if nobody knows when it ran."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A child of a call, and what it did."""

    name: str
    goal: str
    model: str
    status: ChildStatus | Literal["unfinished"]
    state: str
    """How it ended, and what it took: "✓ done · 3 steps · 2,104 tokens · 12 s"."""
    text: str
    """Its answer (Markdown)."""
    session_id: str
    parts: tuple[Part, ...]
    seconds: float = 0.0
    at: float | None = None
    """Seconds after the turn began; None if nobody knows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to the person, and the answer."""

    text: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the person said while it ran."""

    text: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What tools answered in another way than when the turn was recorded."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Warned:
    text: str


@dataclass(frozen=True, slots=True)
class Omitted:
    """So many parts are left out here."""

    number: int


Part = Said | Thought | Called | Asked | Spoken | Compared | Warned | Omitted


def parts_of(
    entries: Sequence[Entry],
    limits: Limits,
    emoji: Emoji,
    *,
    by_hand: bool = False,
    since: float = 0.0,
) -> list[Part]:
    """What to keep: within ``limits``, the first and the last entries.

    ``since`` is when the turn began, on the clock of its events; 0 if nobody knows.
    """
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
                called = _called(entry, limit, emoji)
                called = replace(called, by_hand=by_hand, at=_after(since, entry.at))
                if not entry.lanes:
                    return called
                return _with_lanes(called, entry, limits.in_lanes, emoji, since)
            case QuestionEntry(question=question, answer=reply):
                kept = None if reply is None else excerpt(reply, 2_000)
                return Asked(excerpt(question.text, 2_000), kept)
            case SpokenEntry(text=text):
                return Spoken(excerpt(text, limits.text))
            case ComparedEntry(text=text, count=count):
                return Compared(excerpt(text, limits.text), count)
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
        seconds=round(result.seconds, 3) if result else 0.0,
        exit_code=result.exit_code if result else 0,
        decisions=tuple(entry.decisions),
        edited=excerpt(reveal(entry.edited[-1]), limit) if entry.edited else "",
        result=excerpt(words.readable_result(result.text), limit) if result else "",
        details=excerpt(result.details, limit) if result else "",
    )


def _after(since: float, moment: float) -> float | None:
    return round(max(0.0, moment - since), 1) if since and moment else None


def _with_lanes(
    called: Called, entry: CallEntry, limits: Limits, emoji: Emoji, since: float
) -> Called:
    kept = entry.lanes[: limits.entries]
    return replace(
        called,
        args="",
        result="",
        lanes=tuple(lane_of(lane, limits, emoji, since) for lane in kept),
        more_lanes=max(entry.children, len(entry.lanes)) - len(kept),
    )


def lane_of(lane: LaneEntry, limits: Limits, emoji: Emoji, since: float = 0.0) -> Lane:
    """What to keep of a child. Its answer stands by itself, and not among the parts."""
    child, finished = lane.child, lane.finished
    parts = parts_of(lane.inside.entries(), limits, emoji, since=since)
    text = finished.text if finished else ""
    if parts and isinstance(parts[-1], Said) and finished:
        parts = parts[:-1]
    return Lane(
        name=one_line(redact(child.name), 60),
        goal=one_line(redact(child.goal), 300),
        model=one_line(child.model, 60),
        status=finished.status if finished else "unfinished",
        state=words.child_state(finished) if finished else "◼ not finished",
        text=excerpt(text.strip(), limits.answer),
        session_id=child.session_id,
        parts=tuple(parts),
        seconds=round(finished.seconds, 1) if finished else 0.0,
        at=_after(since, lane.at),
    )


def told(part: Part) -> dict[str, Any]:
    """A part for programs; ``type`` says which it is."""
    about = {"type": type(part).__name__.lower(), **_fields(part)}
    if isinstance(part, Called):
        if part.lanes:
            inside = [{"parts": [*map(told, lane.parts)]} for lane in part.lanes]
            about["lanes"] = [
                {**_fields(lane), **more} for lane, more in zip(part.lanes, inside, strict=True)
            ]
        else:
            del about["lanes"], about["more_lanes"]
    return about


def _fields(value: Part | Lane) -> dict[str, Any]:
    about = {field.name: getattr(value, field.name) for field in fields(value)}
    if "at" in about and about["at"] is None:
        del about["at"]
    return about
