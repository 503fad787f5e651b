"""The client asked over real HTTP, and servers to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from hermes_jupyter.agent.models.base import Delta, Message, Reply
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.testing.oddities import odd
from hermes_jupyter.testing.stub_server import StubServer
from tests.unit.conftest import turn

__all__ = ["turn"]

READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}


@dataclass(frozen=True)
class Asked:
    """A question and its answer."""

    model: OpenAIModel
    reply: Reply
    deltas: list[Delta]

    @property
    def shown(self) -> str:
        return "".join(delta.text for delta in self.deltas if delta.kind == "text")


@pytest.fixture
def ask() -> Callable[..., Asked]:
    """Ask a server one question."""

    def ask(
        url: str,
        messages: Sequence[Message] = ({"role": "user", "content": "Read a.txt"},),
        *,
        name: str = "stub-small",
        tools: Sequence[dict[str, Any]] = (READ_FILE,),
        **options: Any,
    ) -> Asked:
        async def question() -> Asked:
            model = OpenAIModel(name, base_url=url, **options)
            deltas: list[Delta] = []
            try:
                return Asked(model, await model.reply(messages, tools, deltas.append), deltas)
            finally:
                await model.close()

        return asyncio.run(question())

    return ask


@pytest.fixture
def serve() -> Iterator[Callable[[Any], StubServer]]:
    """Start a server that answers as its oddity (or a function) says; ended after the test."""
    with ExitStack() as opened:

        def serve(answer: Any) -> StubServer:
            chosen = odd(answer) if isinstance(answer, str) else answer
            return opened.enter_context(StubServer(chosen))

        yield serve
