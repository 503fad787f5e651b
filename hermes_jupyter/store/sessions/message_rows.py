"""Messages of a transcript as they are stored, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.store.sessions.event_rows import Row
from hermes_jupyter.store.sessions.masking import dumped, masked, masked_json, masked_value
from hermes_jupyter.text import mended

Message = dict[str, Any]

ROLES = ("system", "user", "assistant", "tool")


def row_of(message: Message) -> Row:
    """A message as it is stored: its role, its text, and all else as JSON."""
    role, content = str(message["role"]), message.get("content")
    rest: dict[str, Any] = {
        name: value for name, value in message.items() if name not in ("role", "content")
    }
    if "tool_calls" in rest:
        rest["tool_calls"] = [_call(call) for call in rest["tool_calls"] or ()]
    told = masked_value({name: value for name, value in rest.items() if name != "tool_calls"})
    rest.update(told)
    if content is None or isinstance(content, str):
        # What a tool answered was masked when it answered.
        text = content and (mended(content) if role == "tool" else masked(content))
    else:
        rest["content"] = masked_value(content)
        text = "\n".join(_texts(rest["content"]))
    return Row(role, text, dumped(rest) if rest else None)


def message_of(role: str, text: str | None, body: str | None) -> Message:
    """The message of a row."""
    message: Message = {"role": role, "content": text}
    if body:
        message.update(json.loads(body))
    return message


def args_of(message: Message) -> dict[str, Mapping[str, Any]]:
    """The arguments of a message's calls, by id, where they can be read."""
    found: dict[str, Mapping[str, Any]] = {}
    for call in message.get("tool_calls") or ():
        try:
            args = json.loads(call["function"]["arguments"])
        except (ValueError, RecursionError):
            continue
        if isinstance(args, dict):
            found[str(call["id"])] = args
    return found


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {
        **call,
        "id": mended(str(call["id"])),
        "function": {**function, "arguments": masked_json(str(function["arguments"]))},
    }


def _texts(parts: Any) -> list[str]:
    if not isinstance(parts, list):
        return []
    return [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
