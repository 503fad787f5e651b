"""A turn's events, folded into what a reader wants to see, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_jupyter.calls import Question, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    Event,
    NoticeGiven,
    QuestionAnswered,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.words import resolved


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


@dataclass(slots=True)
class QuestionEntry:
    """A question to a person; ``answer`` is None if nobody could be asked."""

    question: Question
    answer: str | None


@dataclass(slots=True)
class WarningEntry:
    text: str
    key: str


Entry = TextEntry | ThoughtEntry | CallEntry | QuestionEntry | WarningEntry


class Entries:
    """A listener that folds the events of one turn."""

    def __init__(self) -> None:
        self.started: TurnStarted | None = None
        self.finished: TurnFinished | None = None
        self._entries: list[Entry] = []
        self._calls: dict[str, CallEntry] = {}
        self._pieces: list[str] = []

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
            case BatchStarted(calls=calls):
                for call in calls:
                    self._add_call(call)
            case ToolCallStarted(call=call):
                self._entry(call)
            case ApprovalResolved():
                self._decide(event)
            case ToolCallFinished(result=result):
                self._entry(result.call).result = result
            case QuestionAnswered(question=question, answer=answer):
                self._entries.append(QuestionEntry(question, answer))
            case NoticeGiven(text=text, level="warning", key=key):
                self._add_warning(text, key)
            case TurnFinished():
                self._finish(event)

    @property
    def by_hand(self) -> bool:
        """Did a person make the call, without a model? Then its answer is what they want to see."""
        return self.started is not None and self.started.steps == 0

    def entries(self) -> list[Entry]:
        """What has happened so far, with the text that is just being streamed."""
        text = "".join(self._pieces)
        return [*self._entries, *([TextEntry(text)] if text.strip() else [])]

    def _add_text(self, text: str) -> None:
        if text.strip():
            self._entries.append(TextEntry(text))

    def _add_call(self, call: ToolCall) -> CallEntry:
        entry = self._calls[call.id] = CallEntry(call)
        self._entries.append(entry)
        return entry

    def _entry(self, call: ToolCall) -> CallEntry:
        return self._calls.get(call.id) or self._add_call(call)

    def _decide(self, event: ApprovalResolved) -> None:
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
        said = [entry.text.strip() for entry in self._entries if isinstance(entry, TextEntry)]
        if event.text.strip() not in said[-1:]:
            self._add_text(event.text)
        self.finished = event
