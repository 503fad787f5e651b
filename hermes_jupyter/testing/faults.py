"""A model server that fails on demand: each request gets the next part of its script.

>>> with FaultyServer(refused(429, retry_after="1"), cut("One two three", after=7), "three") as s:
...     model = OpenAIModel("scripted", base_url=s.url)

A part is a reply, as `ScriptedModel` takes it, or one of the faults of this module. Both APIs are
served, by the path of the request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.agent.models.base import Delta
from hermes_jupyter.testing.oddities import chunk
from hermes_jupyter.testing.scripts import PIECE_CHARS, Script, as_reply, pieces
from hermes_jupyter.testing.stub_server import Exchange, StubServer
from hermes_jupyter.testing.writers import Writer, write, writer_for

MODEL = "scripted"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something else than a good answer."""

    play: Callable[[Exchange], object]


class FaultyServer(StubServer):
    """Plays its script, one part for each request to a model."""

    def __init__(self, *script: Script | Fault) -> None:
        self._script = [*script]
        self._lock = threading.Lock()
        self._played = 0
        super().__init__(self._play)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests to a model."""
        return [body for path, body in self.requests if not path.endswith("/models")]

    def _play(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.send_json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            return
        with self._lock:
            place, self._played = self._played, self._played + 1
        if place >= len(self._script):
            exchange.send_error(400, f"the script has no part {place + 1}")
            return
        part = self._script[place]
        if isinstance(part, Fault):
            part.play(exchange)
        else:
            write(exchange, as_reply(part, place + 1))


def refused(status: int, message: str = "scripted error", **headers: str) -> Fault:
    """An error in place of an answer; ``retry_after="1"`` sends the header Retry-After."""
    return Fault(lambda exchange: exchange.send_error(status, message, **headers))


def too_long(window: int = 4_096, asked: int = 9_000) -> Fault:
    """The conversation does not fit."""
    return refused(
        400, f"request ({asked} tokens) exceeds the available context size ({window} tokens)"
    )


def cut(script: Script, after: int) -> Fault:
    """The connection breaks after so many characters of text."""

    def play(exchange: Exchange) -> None:
        _begin(exchange, script, after)

    return Fault(play)


def stalled(script: Script = "", after: int = 0, comment: bytes = b"") -> Fault:
    """Nothing more comes after so many characters but comments, until the client goes away."""

    def play(exchange: Exchange) -> None:
        if after:
            _begin(exchange, script, after)
        _wait(exchange, comment)

    return Fault(play)


def malformed(script: Script, after: int) -> Fault:
    """A chunk that is no JSON."""

    def play(exchange: Exchange) -> None:
        _begin(exchange, script, after)
        exchange.send_event('{"choices": [{"delta"')
        exchange.end_stream()

    return Fault(play)


def failing(script: Script, after: int, message: str = "the worker died", code: int = 502) -> Fault:
    """An error object in the place of a chunk."""

    def play(exchange: Exchange) -> None:
        _begin(exchange, script, after)
        exchange.send_event({"type": "error", "error": {"message": message, "code": code}})
        exchange.end_stream()

    return Fault(play)


def ended(script: Script, finish: str) -> Fault:
    """A whole answer with another end, such as ``length`` or ``content_filter``."""
    return Fault(lambda exchange: write(exchange, replace(as_reply(script, 1), finish=finish)))


def doubled_names(script: Script) -> Fault:
    """The name of a call comes again with each piece of its arguments."""

    def play(exchange: Exchange) -> None:
        exchange.begin_stream()
        for index, call in enumerate(as_reply(script, 1).calls):
            for piece in ("", *call.arguments):
                function = {"name": call.name, "arguments": piece}
                part = {"index": index, "id": f"call_{index}", "function": function}
                exchange.send_event(chunk(tool_calls=[part]))
        exchange.send_event(chunk("tool_calls"))
        exchange.send_event("[DONE]")
        exchange.end_stream()

    return Fault(play)


def in_pieces(text: str, size: int = 1) -> Fault:
    """Text as it is, cut anywhere: also inside a ``<think>`` tag."""

    def play(exchange: Exchange) -> None:
        exchange.begin_stream()
        for start in range(0, len(text), size):
            exchange.send_event(chunk(content=text[start : start + size]))
        exchange.send_event(chunk("stop"))
        exchange.send_event("[DONE]")
        exchange.end_stream()

    return Fault(play)


def _begin(exchange: Exchange, script: Script, after: int) -> Writer:
    writer = writer_for(exchange)
    writer.begin()
    left = after
    for piece in pieces(as_reply(script, 1), PIECE_CHARS):
        shown = piece.text[:left]
        left -= len(shown)
        if shown:
            writer.piece(Delta(piece.kind, shown))
    return writer


def _wait(exchange: Exchange, comment: bytes) -> None:
    """Until the client is gone, which only shows when something is sent."""
    while not exchange.stub.stopping.wait(0.02):
        if comment:
            exchange.send_chunk(comment)
