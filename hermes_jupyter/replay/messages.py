"""What the model would have read of a turn, from its events."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import BatchStarted, Event, StepFinished, ToolCallFinished
from hermes_jupyter.recording.values import Recording

UNANSWERED = "The turn was made again from a recording, which has no answer to this call."


def messages_of(recording: Recording, prompt: str) -> list[Message]:
    """The messages that a conversation gets of it: valid for any provider."""
    results = {
        event.result.call.id: event.result.text
        for event in recording.events
        if isinstance(event, ToolCallFinished)
    }
    messages: list[Message] = [{"role": "user", "content": prompt}]
    for text, calls in _steps(recording.events):
        if not calls:
            if text.strip():
                messages.append({"role": "assistant", "content": text})
            continue
        messages.append(
            {"role": "assistant", "content": text or None, "tool_calls": [*map(_call, calls)]}
        )
        for call in calls:
            content = results.get(call.id, UNANSWERED)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    if messages[-1]["role"] != "assistant":
        said = recording.finished.text or f"[The turn ended: {recording.finished.reason}]"
        messages.append({"role": "assistant", "content": said})
    return messages


def _steps(events: Sequence[Event]) -> list[tuple[str, list[ToolCall]]]:
    """The text of each step, and its calls."""
    steps: list[tuple[str, list[ToolCall]]] = []
    for event in events:
        if isinstance(event, StepFinished):
            steps.append((event.text, []))
        elif isinstance(event, BatchStarted):
            if not steps:
                steps.append(("", []))
            steps[-1][1].extend(event.calls)
    return steps


def _call(call: ToolCall) -> Message:
    arguments = json.dumps(dict(call.args), ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name or "unknown", "arguments": arguments},
    }
