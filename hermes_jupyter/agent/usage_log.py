"""What each model call of a conversation took."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_jupyter.calls import Usage

MAX_CALLS = 10_000
"""Kept one by one; the sums count all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call."""

    at: float
    """When its answer was there, in seconds since the epoch."""
    model: str
    usage: Usage
    seconds: float
    purpose: str = "step"
    """``step``; ``judge`` for a look at a request for approval; ``notes`` on the conversation;
    ``child`` or ``mixture`` for who works for the agent."""


class UsageLog:
    """The calls of one conversation in this kernel."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []
        self._by_model: dict[str, Usage] = {}

    def add(self, record: CallRecord) -> None:
        """Count a call."""
        self.calls.append(record)
        if len(self.calls) > MAX_CALLS:
            del self.calls[: MAX_CALLS // 10]
        known = self._by_model.get(record.model, Usage())
        self._by_model[record.model] = known + record.usage

    def by_model(self) -> dict[str, Usage]:
        """What each model took, in the order in which they were asked first."""
        return dict(self._by_model)
