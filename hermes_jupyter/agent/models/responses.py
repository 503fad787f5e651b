"""The Responses API: a conversation as its items, and its events as chunks of Chat Completions.

Nothing is stored at the provider (``store: false``); what a model thought goes back encrypted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.models.base import Message, extras_of
from hermes_jupyter.agent.models.shaping import IMAGES, NO_IMAGE
from hermes_jupyter.agent.models.streams import ReplyBuilder
from hermes_jupyter.agent.models.wire import json_safe

PATH = "/responses"
BODY: Mapping[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}


def items_of(message: Message, model: str, *, images: bool = True) -> list[Any]:
    """A message of the Chat Completions as items."""
    role, content = message["role"], message.get("content")
    if role == "tool":
        output = {"call_id": message["tool_call_id"], "output": _plain(content)}
        return [json_safe({"type": "function_call_output", **output})]
    items: list[Any] = [*(extras_of(message, model).get("items") or ())]
    if content:
        kind = "output_text" if role == "assistant" else "input_text"
        items.append(
            {"type": "message", "role": role, "content": _parts(content, kind, images=images)}
        )
    for call in message.get("tool_calls") or ():
        made = {"call_id": call["id"], **call["function"]}
        items.append({"type": "function_call", **made})
    return [json_safe(item) for item in items]


def tools_of(tools: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Definitions of tools, flat as this API has them."""
    return [{"type": "function", "strict": False, **tool.get("function", tool)} for tool in tools]


class Events:
    """Feeds the events of one answer to a builder, in the words of the Chat Completions."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self._builder = builder
        self._streamed: set[Any] = set()
        """Places of items of which a piece has come."""
        self._parts = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Take an event, or a whole response."""
        for delta in self._deltas(event):
            self._builder.add({"choices": [{"delta": delta}]})

    def _deltas(self, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        kind, place = str(event.get("type") or ""), event.get("output_index")
        match kind.removeprefix("response."):
            case "output_text.delta" | "refusal.delta":
                self._streamed.add(place)
                yield {"content": event.get("delta")}
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                self._streamed.add(place)
                yield {"reasoning_content": event.get("delta")}
            case "reasoning_summary_part.added":
                self._parts += 1
                if self._parts > 1:
                    yield {"reasoning_content": "\n\n"}
            case "output_item.added":
                yield from self._call(event.get("item"), place, whole=False)
            case "function_call_arguments.delta":
                self._streamed.add(place)
                function = {"arguments": event.get("delta")}
                yield {"tool_calls": [{"index": place, "function": function}]}
            case "output_item.done":
                yield from self._done(event.get("item"), place)
            case "completed" | "incomplete":
                yield from self._end(event.get("response") or {})
            case "" if event.get("object") == "response":
                yield from self._end(event)

    def _call(self, item: Any, place: Any, *, whole: bool) -> Iterator[dict[str, Any]]:
        if isinstance(item, Mapping) and item.get("type") == "function_call":
            arguments = item.get("arguments") if whole else ""
            function = {"name": item.get("name"), "arguments": arguments or ""}
            call = {"index": place, "id": item.get("call_id") or item.get("id")}
            yield {"tool_calls": [{**call, "function": function}]}

    def _done(self, item: Any, place: Any) -> Iterator[dict[str, Any]]:
        """A whole item: what of it was not streamed, and what must go back."""
        if not isinstance(item, Mapping):
            return
        if item.get("type") == "reasoning" and item.get("encrypted_content"):
            kept = {name: value for name, value in item.items() if name not in ("id", "status")}
            self._builder.keep("items", {"summary": [], **kept})
        if place in self._streamed:
            return
        self._streamed.add(place)
        match item.get("type"):
            case "function_call":
                yield from self._call(item, place, whole=True)
            case "message":
                yield {"content": _plain(item.get("content"))}
            case "reasoning":
                yield {"reasoning_content": _plain(item.get("summary") or item.get("content"))}

    def _end(self, response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        output = response.get("output")
        for place, item in enumerate(output if isinstance(output, list) else ()):
            if place not in self._streamed:
                yield from self._done(item, place)
        reason = (response.get("incomplete_details") or {}).get("reason")
        is_over = response.get("status") != "incomplete" and not reason
        finish = "stop" if is_over else str(reason or "length")
        self._builder.add(
            {"choices": [{"finish_reason": finish}], "usage": _usage(response.get("usage"))}
        )


def error_of(event: Mapping[str, Any]) -> Any:
    """The error that an event tells; None if it tells none."""
    if event.get("type") == "response.failed":
        return (event.get("response") or {}).get("error") or "the response failed"
    return event if event.get("type") == "error" else event.get("error")


def _usage(said: Any) -> dict[str, Any] | None:
    if not isinstance(said, Mapping):
        return None
    return {
        **said,
        "prompt_tokens": said.get("input_tokens"),
        "completion_tokens": said.get("output_tokens"),
        "prompt_tokens_details": said.get("input_tokens_details"),
    }


def _parts(content: Any, kind: str, *, images: bool) -> list[Any]:
    if isinstance(content, str):
        return [{"type": kind, "text": content}]
    return [_part(part, kind, images=images) for part in content]


def _part(part: Mapping[str, Any], kind: str, *, images: bool) -> Any:
    if part.get("type") not in IMAGES:
        return {"type": kind, "text": part.get("text") or ""}
    if not images:
        return {"type": kind, "text": NO_IMAGE}
    url = part.get("image_url")
    said = dict(url) if isinstance(url, Mapping) else {"url": url}
    detail = {"detail": said["detail"]} if said.get("detail") else {}
    return {"type": "input_image", "image_url": said.get("url"), **detail}


def _plain(content: Any) -> str:
    """The text of a content, whatever its shape."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
