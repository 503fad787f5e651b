"""News of background jobs for the model: put into the transcript between two steps, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.pictures import with_text
from hermes_jupyter.events import Event, NoticeGiven
from hermes_jupyter.redaction import redact
from hermes_jupyter.road.fences import fenced
from tools.environments.job_events import JobEvent

MOST_AT_ONCE = 20


class Inbox(Protocol):
    """Keeps news until they are told."""

    def pending(self) -> Sequence[JobEvent]: ...

    def told(self, event_ids: list[str]) -> None: ...


@dataclass(kw_only=True)
class News:
    """The news of one turn."""

    inbox: Inbox | None
    transcript: list[Message]
    emit: Callable[[Event], None]
    _given: list[str] = field(default_factory=list)
    """Ids in the transcript of which we do not know yet that the model has read them."""

    def give(self) -> None:
        """Add what is new to the transcript, for the next reply."""
        if self.inbox is None:
            return
        events = [event for event in self.inbox.pending() if event.id not in self._given]
        events = events[:MOST_AT_ONCE]
        if not events:
            return
        self._append("\n\n".join(map(_note, events)))
        self._given += [event.id for event in events]
        for event in events:
            command = " ".join(redact(event.command).split())
            self.emit(NoticeGiven(text=f"{event.text} ({command})", level="warning"))

    def confirm(self) -> None:
        """What was given stays in the transcript: it is told, and will not come again."""
        if self.inbox is not None and self._given:
            self.inbox.told(self._given)
            self._given = []

    def _append(self, text: str) -> None:
        last = self.transcript[-1] if self.transcript else {}
        if last.get("role") == "user":
            # Two messages of a user in a row are refused by some servers.
            self.transcript[-1] = with_text(last, text, before=True)
        else:
            self.transcript.append({"role": "user", "content": text})


def _note(event: JobEvent) -> str:
    about = f"[IMPORTANT: {event.text}\nCommand: {redact(event.command)}"
    if event.output.strip():
        about += f"\nOutput:\n{fenced(redact(event.output), event.job)}"
    return f"{about}]"
