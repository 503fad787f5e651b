"""Replies of a model as messages that any server takes back."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace

from hermes_jupyter.agent.models.base import Message, RawCall, Reply
from hermes_jupyter.agent.repair import is_exact
from hermes_jupyter.calls import ToolCall

MAX_NAME_CHARS = 64
MAX_CALLS = 128
"""In one step. A reply with more is a model in a loop; the rest is dropped."""


def with_own_ids(reply: Reply) -> Reply:
    """Two calls with one id could not be told apart: number the later ones."""
    seen: set[str] = set()
    calls = []
    for call in reply.calls[:MAX_CALLS]:
        names = (f"{call.id or 'call'}_{number}" for number in itertools.count(len(seen)))
        name = call.id
        while not name or name in seen:
            name = next(names)
        seen.add(name)
        calls.append(replace(call, id=name))
    return replace(reply, calls=tuple(calls))


def unanswered(transcript: Sequence[Message]) -> list[str]:
    """Ids of the last message's calls that have no result."""
    answered: set[str] = set()
    for message in reversed(transcript):
        if message["role"] != "tool":
            ids = [str(call["id"]) for call in message.get("tool_calls") or ()]
            return [call for call in ids if call not in answered]
        answered.add(message["tool_call_id"])
    return []


def assistant_message(reply: Reply, checked_calls: Sequence[ToolCall]) -> Message:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": _sendable(call.name), "arguments": _readable(raw, call)},
        }
        for raw, call in zip(reply.calls, checked_calls, strict=True)
    ]
    return with_extras(
        {"role": "assistant", "content": reply.text or None, "tool_calls": calls}, reply
    )


def with_extras(message: Message, reply: Reply) -> Message:
    """The message with what its model wants to get back."""
    return {**message, "extras": dict(reply.extras)} if reply.extras else message


def _sendable(name: str) -> str:
    """Servers refuse a transcript with other signs in a tool's name."""
    return re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:MAX_NAME_CHARS] or "unknown"


def _readable(raw: RawCall, call: ToolCall) -> str:
    """Servers refuse arguments that are no JSON object: send mended ones, or quote the text."""
    if is_exact(raw.arguments):
        return raw.arguments.strip()
    if call.error and not call.args and raw.arguments.strip():
        broken = {"unreadable_arguments": raw.arguments[:1_000]}
        return json.dumps(broken, ensure_ascii=False)
    return json.dumps(dict(call.args), ensure_ascii=False)
