"""Answers of servers that do not behave: ``StubServer(ODDITIES["llama_cpp"])``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hermes_jupyter.testing.stub_server import Exchange

MODELS = {"object": "list", "data": [{"id": "stub-small"}, {"id": "stub-large"}]}
SLOW_PIECE_SECONDS = 0.02


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of a streamed completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "stub-small",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _llama_cpp(exchange: Exchange) -> None:
    """llama_cpp.server: the name in every piece, no usage, fails on a message without text."""
    if any(message["content"] is None for message in exchange.body["messages"]):
        exchange.send_error(500, "1 validation error: content none is not an allowed value")
        return
    exchange.begin_stream()
    exchange.send_event(chunk(role="assistant", content=None))
    for piece in ('{"path"', ": ", '"a.txt"}'):
        function = {"name": "read_file", "arguments": piece}
        call = {"index": 0, "id": "call__0_read_file_x", "type": "function", "function": function}
        exchange.send_event(chunk(tool_calls=[call], function_call=None))
    exchange.send_event(chunk("tool_calls"))
    exchange.send_event("[DONE]")
    exchange.end_stream()


def _broken_stream(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.send_event(chunk(content="The answer "))
    exchange.send_event(chunk(content="is"))


def _truncated_stream(exchange: Exchange) -> None:
    """Ends properly for HTTP, in the middle for the protocol."""
    exchange.begin_stream()
    exchange.send_event(chunk(content="The answer is"))
    exchange.end_stream()


def _empty_stream(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.end_stream()


def _not_json(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.send_event(chunk(content="Well"))
    exchange.send_event('{"choices": [{"delta"')
    exchange.end_stream()


def _html(exchange: Exchange) -> None:
    exchange.send(b"<!DOCTYPE html><title>Sign in</title>", content_type="text/html")


def _error_in_stream(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.send_event(chunk(content="Let me"))
    exchange.send_event({"error": {"message": "the worker died", "code": 502}})
    exchange.end_stream()


def _slow(exchange: Exchange) -> None:
    """Writes until the client goes away or the server ends."""
    exchange.begin_stream()
    while not exchange.stub.stopping.wait(SLOW_PIECE_SECONDS):
        exchange.send_event(chunk(content="and so on "))


def _silent(exchange: Exchange) -> None:
    """Takes the request and never answers."""
    exchange.stub.stopping.wait()


def _no_finish(exchange: Exchange) -> None:
    """No finish_reason, no usage."""
    exchange.begin_stream()
    exchange.send_event(chunk(content="Done."))
    exchange.send_event("[DONE]")
    exchange.end_stream()


def _non_stream_json(exchange: Exchange) -> None:
    """A whole completion where a stream was asked for."""
    function = {"name": "read_file", "arguments": '{"path": "a.txt"}'}
    message = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    exchange.send_json({"object": "chat.completion", "choices": [choice], "usage": usage})


def _no_stream_options(exchange: Exchange) -> None:
    """Knows no stream_options, as older servers do."""
    if "stream_options" in exchange.body:
        exchange.send_error(400, "Unrecognized request argument supplied: stream_options")
    else:
        _no_finish(exchange)


def _bad_key(exchange: Exchange) -> None:
    key = exchange.headers.get("Authorization", "").removeprefix("Bearer ")
    exchange.send_error(401, f"Incorrect API key provided: {key}")


def _too_many(exchange: Exchange) -> None:
    exchange.send_error(429, "Rate limit reached", retry_after="2")


def _out_of_order(exchange: Exchange) -> None:
    exchange.send_error(500, "Internal server error")


def _too_long(exchange: Exchange) -> None:
    exchange.send_error(400, "This model's maximum context length is 4096 tokens")


def _unknown_model(exchange: Exchange) -> None:
    exchange.send_error(404, f"The model `{exchange.body['model']}` does not exist")


ODDITIES: dict[str, Callable[[Exchange], None]] = {
    "llama_cpp": _llama_cpp,
    "broken_stream": _broken_stream,
    "truncated_stream": _truncated_stream,
    "empty_stream": _empty_stream,
    "not_json": _not_json,
    "html": _html,
    "error_in_stream": _error_in_stream,
    "slow": _slow,
    "silent": _silent,
    "no_finish": _no_finish,
    "non_stream_json": _non_stream_json,
    "no_stream_options": _no_stream_options,
    "401": _bad_key,
    "404": _unknown_model,
    "429": _too_many,
    "500": _out_of_order,
    "context": _too_long,
}


def odd(name: str) -> Callable[[Exchange], None]:
    """The answers of a server with that oddity; its list of models is in order."""

    def answer(exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.send_json(MODELS)
        else:
            ODDITIES[name](exchange)

    return answer


def streamed(*events: Any) -> Callable[[Exchange], None]:
    """Answers with these events, each a value for JSON or text, and nothing else."""

    def answer(exchange: Exchange) -> None:
        exchange.begin_stream()
        for event in events:
            exchange.send_event(event)
        exchange.end_stream()

    return answer


def as_chunks(*deltas: dict[str, Any]) -> Iterator[Any]:
    """Deltas as the events of a complete stream."""
    yield from (chunk(**delta) for delta in deltas)
    yield chunk("stop")
    yield "[DONE]"
