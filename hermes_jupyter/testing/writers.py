"""A scripted reply as the stream of Chat Completions, or of the Responses API."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from hermes_jupyter.agent.models.base import Delta, Message, RawCall, Reply
from hermes_jupyter.testing.oddities import chunk
from hermes_jupyter.testing.scripts import PIECE_CHARS, estimated_usage, pieces
from hermes_jupyter.testing.stub_server import Exchange

_NUMBERS = itertools.count(1)
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class Writer(Protocol):
    """Writes one reply to an exchange, piece by piece."""

    def begin(self) -> None: ...

    def piece(self, delta: Delta) -> None: ...

    def call(self, call: RawCall) -> None: ...

    def end(self, reply: Reply) -> None: ...


def writer_for(exchange: Exchange) -> Writer:
    """The writer that the request asks for by its path."""
    is_responses = exchange.path.endswith("/responses")
    return ResponsesWriter(exchange) if is_responses else ChatWriter(exchange)


def messages_in(exchange: Exchange) -> list[Message]:
    """The conversation of a request, in either API, as messages."""
    if not exchange.path.endswith("/responses"):
        return [*(exchange.body.get("messages") or [])]
    told = exchange.body.get("input") or []
    items = [{"role": "user", "content": told}] if isinstance(told, str) else told
    return [*_messages(items)]


def _messages(items: Sequence[dict[str, Any]]) -> Iterator[Message]:
    for from_model, group in itertools.groupby(items, _is_from_model):
        if from_model:
            yield {"role": "assistant", "content": "", "items": [*group]}
        else:
            yield from map(_message, group)


def _is_from_model(item: dict[str, Any]) -> bool:
    return item.get("type") in ("function_call", "reasoning") or item.get("role") == "assistant"


def _message(item: dict[str, Any]) -> Message:
    if item.get("type") == "function_call_output":
        return {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
    return {"role": item["role"], "content": item["content"]}


class ChatWriter:
    """Chunks of a completion."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._calls = 0

    def begin(self) -> None:
        self._exchange.begin_stream()
        self._exchange.send_event(chunk(role="assistant", content=""))

    def piece(self, delta: Delta) -> None:
        field = "content" if delta.kind == "text" else "reasoning_content"
        self._exchange.send_event(chunk(**{field: delta.text}))

    def call(self, call: RawCall) -> None:
        """Its name, then its arguments in two parts."""
        head = {"name": call.name, "arguments": ""}
        identity = {"id": f"call_{next(_NUMBERS)}", "type": "function"}
        self._part({**identity, "function": head})
        for part in _halves(call.arguments):
            self._part({"function": {"arguments": part}})
        self._calls += 1

    def end(self, reply: Reply) -> None:
        usage = _usage(self._exchange, reply)
        self._exchange.send_event(chunk(reply.finish))
        self._exchange.send_event({**chunk(), "choices": [], "usage": usage})
        self._exchange.send_event("[DONE]")
        self._exchange.end_stream()

    def _part(self, part: dict[str, Any]) -> None:
        self._exchange.send_event(chunk(tool_calls=[{"index": self._calls, **part}]))


class ResponsesWriter:
    """Events of a response."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._items: list[dict[str, Any]] = []
        self._open = ""

    def begin(self) -> None:
        self._exchange.begin_stream()
        self._send("created", response={"id": "resp_1", "status": "in_progress"})

    def piece(self, delta: Delta) -> None:
        kind = "message" if delta.kind == "text" else "reasoning"
        if self._open != kind:
            self._add({"type": kind, "id": f"{kind}_{len(self._items)}"})
            self._open = kind
        name = "output_text.delta" if kind == "message" else "reasoning_summary_text.delta"
        self._send(name, output_index=len(self._items) - 1, delta=delta.text)

    def call(self, call: RawCall) -> None:
        self._open = ""
        head = {"type": "function_call", "call_id": f"call_{next(_NUMBERS)}", "name": call.name}
        self._add({**head, "arguments": ""})
        place = len(self._items) - 1
        for part in _halves(call.arguments):
            self._send("function_call_arguments.delta", output_index=place, delta=part)
        self._items[place] = {**head, "arguments": call.arguments}

    def end(self, reply: Reply) -> None:
        for place, item in enumerate(self._items):
            kept = {"encrypted_content": "kept"} if item["type"] == "reasoning" else {}
            self._send("output_item.done", output_index=place, item={**item, **kept})
        reason = _INCOMPLETE.get(reply.finish)
        said = _usage(self._exchange, reply)
        response = {
            "status": "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "output": self._items,
            "usage": {
                "input_tokens": said["prompt_tokens"],
                "output_tokens": said["completion_tokens"],
                "input_tokens_details": {"cached_tokens": said["prompt_tokens"] // 2},
            },
        }
        self._send("incomplete" if reason else "completed", response=response)
        self._exchange.end_stream()

    def _add(self, item: dict[str, Any]) -> None:
        self._items.append(item)
        self._send("output_item.added", output_index=len(self._items) - 1, item=item)

    def _send(self, kind: str, **fields: Any) -> None:
        self._exchange.send_event({"type": f"response.{kind}", **fields})


def write(exchange: Exchange, reply: Reply, delay: float = 0.0) -> None:
    """A whole reply; ``delay`` is seconds per character."""
    writer = writer_for(exchange)
    writer.begin()
    for piece in pieces(reply, 1 if delay else PIECE_CHARS):
        if exchange.stub.stopping.wait(delay):
            return
        writer.piece(piece)
    for call in reply.calls:
        writer.call(call)
    writer.end(reply)


def _halves(text: str) -> tuple[str, str]:
    half = len(text) // 2
    return text[:half], text[half:]


def _usage(exchange: Exchange, reply: Reply) -> dict[str, int]:
    usage = estimated_usage(messages_in(exchange), reply)
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
