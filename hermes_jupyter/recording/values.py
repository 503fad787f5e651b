"""A recording, as the program has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.canonical import depends_on
from hermes_jupyter.events import BatchStarted, Event, TurnFinished, TurnStarted


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One turn that came to its end."""

    turn: str
    session_id: str
    prompt_sha256: str
    """Of the prompt as it was asked; the one among the events may be masked."""
    line: str
    """What the options said, see `TurnStarted.line`."""
    cell: str
    at: str
    """When it ended, as an ISO time in UTC."""
    travels: bool
    """Was it asked for, so that it goes with the notebook?"""
    events: tuple[Event, ...] = field(repr=False)
    """From `TurnStarted` to `TurnFinished`, without what was only shown meanwhile."""

    @property
    def started(self) -> TurnStarted:
        first = self.events[0]
        assert isinstance(first, TurnStarted)
        return first

    @property
    def finished(self) -> TurnFinished:
        last = self.events[-1]
        assert isinstance(last, TurnFinished)
        return last

    @property
    def model(self) -> str:
        return self.finished.model or self.started.model

    @property
    def depends_sha256(self) -> str:
        """The fingerprint of all that it depends on."""
        return depends_on(self.prompt_sha256, self.line, self.model, self.finished.tools)

    @cached_property
    def calls(self) -> dict[str, ToolCall]:
        """Its calls with their arguments, by id."""
        batches = [event.calls for event in self.events if isinstance(event, BatchStarted)]
        return {call.id: call for calls in batches for call in calls}

    @property
    def first_line(self) -> str:
        """The beginning of its prompt, for messages."""
        lines = [line.strip() for line in self.started.prompt.splitlines() if line.strip()]
        return lines[0] if lines else ""
