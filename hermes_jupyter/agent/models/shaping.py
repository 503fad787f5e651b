"""Messages and tools as a provider takes them: its quirks of `providers`, applied."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.models.base import Message, extras_of
from hermes_jupyter.agent.models.providers import Provider
from hermes_jupyter.agent.models.wire import json_safe, tool_name

NO_IMAGE = "[An image was here. The model does not take it.]"
IMAGES = frozenset({"image_url", "input_image", "image"})
OURS = frozenset({"extras", "must_call", "of_results", "pictures"})
"""What the agent notes on a message for itself."""
_NESTED = ("properties", "$defs", "definitions", "dependentSchemas")
"""Where the keys are names, and only the values are schemas."""


def shaped_message(
    message: Message, provider: Provider, model: str, *, images: bool = True
) -> dict[str, Any]:
    """One message of the Chat Completions."""
    sent = {name: value for name, value in message.items() if name not in OURS}
    content = message.get("content")
    if not images and isinstance(content, list):
        content = [_without_image(part) for part in content]
    # llama_cpp.server answers 500 to ``content: null``, and no server minds an empty text.
    sent["content"] = content or ""
    if provider.echo and (extras := extras_of(message, model)):
        sent |= extras.get("message") or {}
        sent["tool_calls"] = _with_extras(sent.get("tool_calls"), extras.get("calls"))
        sent = {name: value for name, value in sent.items() if value is not None}
    if provider.call_id_chars:
        sent = _with_ids(sent, provider.call_id_chars)
    return dict(json_safe(sent))


def shaped_tools(tools: Sequence[Mapping[str, Any]], provider: Provider) -> list[Any]:
    """The first of each name: strict servers reject a request that offers a name twice."""
    by_name: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        by_name.setdefault(tool_name(tool), tool)
    return [json_safe(_simple(tool, provider.schema_without)) for tool in by_name.values()]


def has_images(messages: Sequence[Message]) -> bool:
    """Is there a picture in any of them?"""
    return any(
        isinstance(part, Mapping) and part.get("type") in IMAGES
        for message in messages
        if isinstance(content := message.get("content"), list)
        for part in content
    )


def _without_image(part: Any) -> Any:
    is_image = isinstance(part, Mapping) and part.get("type") in IMAGES
    return {"type": "text", "text": NO_IMAGE} if is_image else part


def _with_extras(calls: Any, extras: Any) -> Any:
    if not calls or not extras:
        return calls
    more = [*extras, *[{}] * (len(calls) - len(extras))]
    return [{**call, **each} for call, each in zip(calls, more, strict=False)]


def _with_ids(message: dict[str, Any], size: int) -> dict[str, Any]:
    """The same with ids of a fixed length; the same id always becomes the same."""
    if calls := message.get("tool_calls"):
        message = {
            **message,
            "tool_calls": [{**call, "id": _short(call["id"], size)} for call in calls],
        }
    if name := message.get("tool_call_id"):
        message = {**message, "tool_call_id": _short(name, size)}
    return message


def _short(name: str, size: int) -> str:
    if len(name) == size and name.isascii() and name.isalnum():
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:size]


def _simple(tool: Mapping[str, Any], rejected: frozenset[str]) -> Mapping[str, Any]:
    function = tool.get("function")
    if not rejected or not isinstance(function, Mapping):
        return tool
    parameters = _schema(function.get("parameters"), rejected)
    return {**tool, "function": {**function, "parameters": parameters}}


def _schema(schema: Any, rejected: frozenset[str]) -> Any:
    """A schema without words that a provider rejects; what they said is checked here anyway."""
    if isinstance(schema, list):
        return [_schema(each, rejected) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        word: {name: _schema(each, rejected) for name, each in value.items()}
        if word in _NESTED and isinstance(value, Mapping)
        else value
        if word in ("enum", "required")
        else _schema(value, rejected)
        for word, value in schema.items()
        if word not in rejected
    }
