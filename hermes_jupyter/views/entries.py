"""A turn's events, folded into what a reader wants to see, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.calls import Child, Question, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    Event,
    MessageSaid,
    NoticeGiven,
    QuestionAnswered,
    ReplayCompared,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnRecorded,
    TurnStarted,
)
from hermes_jupyter.views.words import is_worth_showing, resolved


@dataclass(slots=True)
class TextEntry:
    """What the model said in one step (Markdown)."""

    text: str


@dataclass(slots=True)
class ThoughtEntry:
    """What the model thought before it said or did something."""

    text: str


@dataclass(slots=True)
class CallEntry:
    """A tool call, with what people decided about it and how it ended."""

    call: ToolCall
    decisions: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    """What a person made of the call before it ran."""
    result: ToolResult | None = None
    at: float = 0.0
    """When it began; see `ToolCallStarted`."""
    children: int = 0
    """How many children it has work for."""
    lanes: list[LaneEntry] = field(default_factory=list)


@dataclass(slots=True)
class LaneEntry:
    """What a child of a call did."""

    child: Child
    inside: Entries
    at: float = 0.0
    """When it began; see `ChildStarted`."""
    finished: ChildFinished | None = None


@dataclass(slots=True)
class QuestionEntry:
    """A question to a person; ``answer`` is None if nobody could be asked."""

    question: Question
    answer: str | None


@dataclass(slots=True)
class SpokenEntry:
    """What the person said while it ran."""

    text: str


@dataclass(slots=True)
class WarningEntry:
    text: str
    key: str


@dataclass(slots=True)
class ComparedEntry:
    """What tools answered in another way when a turn was made again."""

    text: str
    count: int


Entry = (
    TextEntry
    | ThoughtEntry
    | CallEntry
    | QuestionEntry
    | SpokenEntry
    | WarningEntry
    | ComparedEntry
)


class Entries:
    """A listener that folds the events of one turn."""

    def __init__(self) -> None:
        self.started: TurnStarted | None = None
        self.finished: TurnFinished | None = None
        self.recorded: dict[str, Any] | None = None
        """The recording of the turn, or where it lies; what the record says of it."""
        self._entries: list[Entry] = []
        self._calls: dict[str, CallEntry] = {}
        self._lanes: dict[str, LaneEntry] = {}
        self._pieces: list[str] = []
        self._spoken: list[Entry] = []
        """What the person said while the model spoke; it stands behind that."""

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self.started = event
            case StepStarted():
                self._pieces.clear()  # of a model call that broke and is made again
            case TextStreamed(text=text):
                self._pieces.append(text)
            case StepFinished(text=text, reasoning=reasoning):
                self._pieces.clear()
                if reasoning.strip():
                    self._entries.append(ThoughtEntry(reasoning))
                self._add_text(text)
                self._settle()
            case BatchStarted(calls=calls):
                for call in calls:
                    self._add_call(call)
            case ToolCallStarted(call=call, at=at) if not call.by:
                self._entry(call).at = at
            case ApprovalResolved() if not event.request.path:  # else it comes in a ChildTold
                self._decide(event)
            case ToolCallFinished(result=result):
                # Of the calls of a script only those are shown that somebody has decided on.
                if not result.call.by or result.call.id in self._calls:
                    self._entry(result.call).result = result
            case ChildrenPlanned() | ChildStarted() | ChildTold() | ChildFinished():
                self._follow_children(event)
            case QuestionAnswered(question=question, answer=answer):
                self._entries.append(QuestionEntry(question, answer))
            case MessageSaid(text=text):
                self._spoken.append(SpokenEntry(text))
                if not self._pieces:
                    self._settle()
            case NoticeGiven(text=text, level="warning", key=key):
                self._add_warning(text, key)
            case ReplayCompared(differences=differences):
                count = len(differences)
                self._entries.append(ComparedEntry("\n\n".join(differences), count))
            case TurnRecorded(content=content, file=file):
                named = {"file": file, "sha256": event.sha256, "size": event.size}
                self.recorded = named if content is None else dict(content)
            case TurnFinished():
                self._finish(event)

    @property
    def by_hand(self) -> bool:
        """Did a person make the call, without a model? Then its answer is what they want to see."""
        return self.started is not None and self.started.steps == 0

    @property
    def began(self) -> float:
        """When, on the clock of the events; 0 if nobody knows."""
        return self.started.at if self.started is not None else 0.0

    def entries(self) -> list[Entry]:
        """What has happened so far, with the text that is just being streamed."""
        text = "".join(self._pieces)
        return [*self._entries, *([TextEntry(text)] if text.strip() else []), *self._spoken]

    def _settle(self) -> None:
        self._entries += self._spoken
        self._spoken.clear()

    def settled(self) -> list[Entry]:
        """The same without that text."""
        return [*self._entries]

    def _add_text(self, text: str) -> None:
        if text.strip():
            self._entries.append(TextEntry(text))

    def _add_call(self, call: ToolCall) -> CallEntry:
        entry = self._calls[call.id] = CallEntry(call)
        self._entries.append(entry)
        return entry

    def _entry(self, call: ToolCall) -> CallEntry:
        return self._calls.get(call.id) or self._add_call(call)

    def _follow_children(self, event: Event) -> None:
        match event:
            case ChildrenPlanned(call_id=call_id, number=number) if call_id in self._calls:
                self._calls[call_id].children = number
            case ChildStarted(call_id=call_id, child=child, at=at):
                self._lane(call_id, child).at = at
            case ChildTold(child=name, event=told) if name in self._lanes:
                self._lanes[name].inside(told)
            case ChildFinished(call_id=call_id, child=child):
                self._lane(call_id, child).finished = event

    def _lane(self, call_id: str, child: Child) -> LaneEntry:
        lane = self._lanes.get(child.id)
        if lane is None:
            lane = self._lanes[child.id] = LaneEntry(child, Entries())
            if call_id in self._calls:
                lanes = self._calls[call_id].lanes
                lanes.append(lane)
                lanes.sort(key=lambda each: each.child.number)
        lane.child = child
        return lane

    def _decide(self, event: ApprovalResolved) -> None:
        if event.request.call.by and not is_worth_showing(event):
            return
        entry = self._entry(event.request.call)
        entry.decisions.append(resolved(event))
        if event.edited is not None and event.decision != "deny":
            entry.edited.append(event.edited)

    def _add_warning(self, text: str, key: str) -> None:
        for entry in self._entries:
            if key and isinstance(entry, WarningEntry) and entry.key == key:
                entry.text = text
                return
        self._entries.append(WarningEntry(text, key))

    def _finish(self, event: TurnFinished) -> None:
        self._add_text("".join(self._pieces))  # the step that was interrupted
        self._pieces.clear()
        self._settle()
        said = [entry.text.strip() for entry in self._entries if isinstance(entry, TextEntry)]
        if event.text.strip() not in said[-1:]:
            self._add_text(event.text)
        self.finished = event
