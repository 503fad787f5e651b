"""What happened in a turn, in order. The agent says it, listeners hear it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hermes_jupyter.calls import (
    ApprovalRequest,
    Child,
    ChildStatus,
    Decision,
    Question,
    ToolCall,
    ToolResult,
    TurnStatus,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. Past tense, frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    session: str
    turn: str
    prompt: str
    model: str
    steps: int
    """Model calls allowed in this turn."""
    approvals: str = "ask"
    """The mode of approvals."""
    session_id: str = ""
    """The id under which the conversation is stored."""
    max_tokens: int = 0
    """Tokens allowed in this turn; 0 for any number."""
    max_cost: float = 0.0
    """US dollars allowed in this turn; 0 for any amount."""
    line: str = ""
    """What the options say about model and tools, as a user writes it: ``-m big -t file``."""
    cell: str = ""
    """The id of its cell, if the front end tells it."""
    after: str = ""
    """The turn before it in the conversation; empty for the first."""
    replayed: str = ""
    """How it is made again: ``record``, ``tools``, or ``kept``; empty if it is not."""
    recorded_at: str = ""
    """Of a turn that is made again: when it ran, as an ISO time in UTC."""
    at: float = field(default=0.0, compare=False)
    """When, on the clock of `time.monotonic`; 0 if nobody knows."""
    asked_sha256: str = ""
    """Stands for the prompt, if that also says things which play no part; see `TurnOptions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Event):
    """A model call begins; ``number`` counts from 1.

    With the number of the one before, it is made again, and its text begins anew.
    """

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStreamed(Event):
    """A piece of the model's answer (Markdown)."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningStreamed(Event):
    """A piece of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPlanned(Event):
    """A model call failed and will be made again."""

    reason: str
    seconds: float
    """Until then."""
    number: int
    """Of the next try, from 2."""
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(Event):
    """A model gave an answer. A step may take several, if one was cut."""

    number: int
    """Of the step."""
    model: str
    usage: Usage
    seconds: float
    finish: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished(Event):
    """A model call ended: its whole text, what it thought before, and its tokens."""

    number: int
    text: str
    usage: Usage = field(default_factory=Usage)
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStarted(Event):
    """These calls run side by side (one call is a batch of one)."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted(Event):
    """The handler runs now (after approval, if it needed one)."""

    call: ToolCall
    at: float = field(default=0.0, compare=False)
    """When, on the clock of `time.monotonic`; 0 if nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputStreamed(Event):
    """Output of a running call, as it comes."""

    call: ToolCall
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDisplayed(Event):
    """A running call has shown something below the cell: a figure, a table."""

    call: ToolCall
    data: Mapping[str, Any]
    """By MIME type, as a notebook's file has it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished(Event):
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(Event):
    """A call waits for a person.

    One of a child comes twice: by itself, with the ``path`` to the child, for whoever answers;
    and in a `ChildTold`, without it, for whoever keeps what the child did.
    """

    request: ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(Event):
    """A call was allowed or denied, by a person ("widget", "input"), "policy" or "interrupt".

    One of a child comes twice, as its `ApprovalRequested` did.
    """

    request: ApprovalRequest
    decision: Decision
    by: str
    note: str = ""
    edited: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked(Event):
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered(Event):
    """``answer`` is None if nobody could be asked."""

    question: Question
    answer: str | None
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSaid(Event):
    """The person said something while the turn ran; the model reads it at its next step."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildrenPlanned(Event):
    """A call has work for so many children; they begin as there is room for them."""

    call_id: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildStarted(Event):
    """An agent works for a call now; what it does comes in `ChildTold`."""

    call_id: str
    child: Child
    at: float = field(default=0.0, compare=False)
    """When, on the clock of `time.monotonic`; 0 if nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildTold(Event):
    """Something happened in a child. It is stored in the child's own conversation."""

    child: str
    """Its id."""
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildFinished(Event):
    """A child has ended, or was ended before it began."""

    call_id: str
    child: Child
    status: ChildStatus
    text: str = ""
    """Its answer, or how far it came; cut."""
    reason: str = ""
    """Why it ended, unless it is done: one line."""
    steps: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven(Event):
    """One line about the turn itself, for the person: a model is loading, a call is retried."""

    text: str
    level: Literal["info", "warning"] = "info"
    key: str = ""
    """Notices with the same key replace each other (progress); an empty text takes it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCompared(Event):
    """The calls of a recording ran again, and some answered in another way."""

    differences: tuple[str, ...]
    """One for each such call: its name and, line by line, what was and what is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecorded(Event):
    """All that it takes to make the turn again was kept; told just before the turn ends."""

    sha256: str
    size: int
    """Of its JSON, in bytes."""
    content: Mapping[str, Any] | None = None
    """The recording, if it is small enough for the notebook."""
    file: str = ""
    """Otherwise the file that holds it, seen from the notebook's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(Event):
    status: TurnStatus
    text: str
    """The answer; for a turn that failed, empty."""
    reason: str = ""
    """Why it ended, unless it is done: one line."""
    model: str = ""
    """Its name, which may be known only after its first answer."""
    steps: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    refused: tuple[str, ...] = ()
    """What was not run because nobody could be asked, or approvals were set to deny."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """How many things it changed that can be taken back, by kind: "file", "variable"."""
    tools: tuple[str, ...] = ()
    """What the model could call, by name and in order; empty if it never came so far."""


Listener = Callable[[Event], None]
