"""What children do, as lines of text: each says whose it is, since they work side by side."""

from __future__ import annotations

from typing import Protocol

from hermes_jupyter.events import (
    ApprovalResolved,
    ChildFinished,
    ChildStarted,
    ChildTold,
    Event,
    NoticeGiven,
    ToolCallFinished,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Emoji
from hermes_jupyter.views.sanitize import one_line

MARK_CHARS = 24


class Write(Protocol):
    """Writes a line; ``state`` colours it as that of a call that ended so."""

    def __call__(self, text: str, state: str = "") -> None: ...


class TextLanes:
    """A line when a child begins, for each call when it has ended, and when the child has."""

    def __init__(self, write: Write, emoji: Emoji) -> None:
        self._write, self._emoji = write, emoji
        self._names: dict[str, str] = {}
        self._inside: dict[str, TextLanes] = {}
        self._denied: set[str] = set()

    def __call__(self, event: Event) -> None:
        match event:
            case ChildStarted(child=child):
                self._names[child.id] = one_line(redact(child.name), 60)
                self._write(f"│ {self._names[child.id]}  begins")
            case ChildTold(child=name, event=told):
                self._hear(name, told)
            case ChildFinished(child=child):
                name = self._names.get(child.id) or one_line(redact(child.name), 60)
                state = "ok" if event.status == "completed" else "error"
                self._write(f"│ {name}  {words.child_state(event)}", state)

    def _hear(self, child: str, event: Event) -> None:
        mark = one_line(self._names.get(child, ""), MARK_CHARS)
        match event:
            case ApprovalResolved(request=request, decision=decision):
                if decision == "deny":
                    self._denied.add(f"{child} {request.call.id}")
                about = words.about(request.call, self._emoji)
                sign = words.DECISIONS[decision][0]
                self._write(f"│ {mark} │ {about}  {sign} {words.resolved(event)}")
            case ToolCallFinished(result=result):
                if result.status == "denied" and f"{child} {result.call.id}" in self._denied:
                    return
                ending = words.ending(result.status, result.seconds, result.exit_code)
                about = words.about(result.call, self._emoji)
                self._write(f"│ {mark} │ {about}  {ending}", result.status)
            case NoticeGiven(text=text, level="warning") if text:
                self._write(f"│ {mark} │ {one_line(redact(text), 300)}")
            case ChildStarted() | ChildTold() | ChildFinished():
                self._lanes_of(child, mark)(event)

    def _lanes_of(self, child: str, mark: str) -> TextLanes:
        if child not in self._inside:

            def write(text: str, state: str = "") -> None:
                self._write(f"│ {mark} {text}", state)

            self._inside[child] = TextLanes(write, self._emoji)
        return self._inside[child]
