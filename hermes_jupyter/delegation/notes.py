"""What a child has done so far: listens to it, so that it can be told at any moment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.calls import ToolResult, Usage
from hermes_jupyter.events import (
    Event,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)

MAX_TRACED = 30
"""Calls that are told one by one: the last ones."""


@dataclass(slots=True)
class Notes:
    """Of one child."""

    model: str = ""
    steps: int = 0
    said: str = ""
    """Its last words."""
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    trace: list[dict[str, Any]] = field(default_factory=list)
    finished: TurnFinished | None = None
    _pieces: list[str] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        match event:
            case TurnStarted(model=model):
                self.model = model
            case StepStarted(number=number):
                self.steps = number
                self._pieces.clear()
            case TextStreamed(text=text):
                self._pieces.append(text)
            case StepFinished(text=text):
                self._pieces.clear()
                self.said = text if text.strip() else self.said
            case ToolCallFinished(result=result):
                self._trace(result)
            case TurnFinished(model=model, steps=steps):
                self.model, self.steps, self.finished = model or self.model, steps, event

    def so_far(self) -> str:
        """What it says, also in the middle of a sentence."""
        return "".join(self._pieces).strip() or self.said

    def _trace(self, result: ToolResult) -> None:
        self.calls += 1
        self.trace.append(
            {
                "tool": result.call.name[:100],
                "args_bytes": _size(json.dumps(dict(result.call.args), default=str)),
                "result_bytes": result.total_chars or _size(result.text),
                "status": result.status,
            }
        )
        del self.trace[:-MAX_TRACED]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
