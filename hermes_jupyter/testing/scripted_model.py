"""A model that says what a test tells it to."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Message, Reply
from hermes_jupyter.agent.models.prices import FREE, Price, priced
from hermes_jupyter.testing.scripts import Script, as_reply, estimated_usage, pieces


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was asked, as it was at that moment."""

    messages: list[Message]
    tools: list[dict[str, Any]]


class ScriptedModel:
    """Gives one reply of its script after the other.

    Parameters
    ----------
    *replies
        Text; ``call(...)``; a tuple of both; a `Reply`; an exception, which is raised; or a
        function ``(messages, tools)`` that returns one of these.
    delay
        Seconds before each piece of a reply.
    name
        What the model calls itself.
    window
        Tokens of its context window; 0 stands for unknown.
    sees
        Whether it takes images.

    Examples
    --------
    >>> model = ScriptedModel((call("read_file", path="a.txt"),), "It says hello.")
    """

    def __init__(
        self,
        *replies: Script,
        delay: float = 0.0,
        name: str = "scripted",
        window: int = 0,
        sees: bool = True,
    ) -> None:
        self.name = name
        self.window = window
        self.price: Price | None = None
        self.prefills = False
        self.sees = sees
        self.limits: list[int] = []
        """Of each answer, as it was asked for."""
        self.requests: list[Request] = []
        self.closed = False
        self._replies = list(replies)
        self._delay = delay

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
        *,
        max_answer: int = 0,
    ) -> Reply:
        """Give the next reply of the script. See `base.Model`."""
        self.limits.append(max_answer)
        self.requests.append(Request(copy.deepcopy([*messages]), copy.deepcopy([*tools])))
        script = self._next()
        if callable(script):
            script = script(messages, tools)
        if isinstance(script, BaseException):
            raise script
        reply = as_reply(script, len(self.requests))
        for piece in pieces(reply):
            await asyncio.sleep(self._delay)
            on_delta(piece)
        await asyncio.sleep(self._delay)
        usage = priced(estimated_usage(messages, reply), self.price or FREE, None, "")
        return replace(reply, usage=usage)

    def _next(self) -> Any:
        number = len(self.requests)
        if number > len(self._replies):
            raise AssertionError(f"the script has {len(self._replies)} replies, not {number}")
        return self._replies[number - 1]

    async def learn(self) -> None:
        """All that is known is known."""

    async def close(self) -> None:
        """Remember that the model was closed."""
        self.closed = True
