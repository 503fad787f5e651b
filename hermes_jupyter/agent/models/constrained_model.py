"""A small model behind somebody's server that can hold replies to a schema.

What the embedded model's own server does is done here for llama.cpp, vLLM, Ollama and LM Studio:
the model is shown short manuals and worked examples, and may only write a call that fits or an
answer. A server that refuses the schema after all is asked without it, and what the model writes is
read as well as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Message, RawCall, Reply
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.local.answers import GrowingReply, message_of
from hermes_jupyter.agent.models.local.constrained import constrained
from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.agent.models.requests import wanted_call
from hermes_jupyter.agent.models.text_calls import TextCallFilter
from hermes_jupyter.agent.models.wire import tool_name
from hermes_jupyter.agent.pictures import without_carriers

SENT_ALONE = ("response_format", "temperature")
"""Fields of a constrained request that go along with the messages."""


class ConstrainedModel:
    """See `base.Model`.

    Parameters
    ----------
    inner
        Who is asked.
    plan
        Whether the first reply to a request begins with a plan, which is shown as a thought.
    """

    prefills = False
    """Its answers are made of JSON, which cannot be gone on with."""
    sees = False
    """What it is shown is written anew, as text."""

    def __init__(self, inner: OpenAIModel, *, plan: bool = False) -> None:
        self.inner = inner
        self._plan = plan
        self.name = inner.name

    @property
    def window(self) -> int:
        return self.inner.window

    @property
    def price(self) -> Price | None:
        return self.inner.price

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
        *,
        max_answer: int = 0,
    ) -> Reply:
        """Ask for one reply. See `base.Model`."""
        messages = without_carriers(messages)
        if not tools:
            return await self.inner.reply(messages, (), on_delta, max_answer=max_answer)
        choice = wanted_call(messages, tools) or "auto"
        request = {"messages": messages, "tools": tools, "tool_choice": choice, "plan": self._plan}
        asked = constrained(request)
        said = await self.inner.reply(
            asked.whole(),
            (),
            _hearer(on_delta),
            max_answer=max_answer or asked.options["max_tokens"],
            more={name: asked.options[name] for name in SENT_ALONE},
        )
        self.name = self.inner.name
        return _read(said, [*map(tool_name, tools)], on_delta)

    async def learn(self) -> None:
        """Find out price and window. See `base.Model`."""
        await self.inner.learn()
        self.name = self.inner.name

    async def close(self) -> None:
        """Close the connections."""
        await self.inner.close()


def _hearer(on_delta: Callable[[Delta], None]) -> Callable[[Delta], None]:
    """Tells the final text as it grows out of the JSON; a call is told by nobody."""
    growing = GrowingReply()

    def hear(delta: Delta) -> None:
        if delta.kind != "text":
            on_delta(delta)
        elif text := growing.feed(delta.text):
            on_delta(Delta("text", text))

    return hear


def _with_plan(said: Reply, plan: str, on_delta: Callable[[Delta], None]) -> Reply:
    if not plan:
        return said
    on_delta(Delta("reasoning", plan))
    return replace(said, reasoning=plan, extras={"plan": plan})


def _read(said: Reply, names: Sequence[str], on_delta: Callable[[Delta], None]) -> Reply:
    try:
        message, finish = message_of(said.text, said.finish)
    except (
        KeyError,
        TypeError,
        AttributeError,
    ):  # JSON of another form: the server did not hold it to ours
        message, finish = {}, said.finish
    calls = tuple(
        RawCall(id=call["id"], **call["function"]) for call in message.get("tool_calls") or ()
    )
    if calls or message.get("content"):
        said = replace(said, text=message.get("content") or "", calls=calls, finish=finish)
        return _with_plan(said, message.get("reasoning_content", ""), on_delta)
    filtered = TextCallFilter(names)
    begun = filtered.feed(said.text)
    rest, calls = filtered.finish()
    if text := begun + rest:
        on_delta(Delta("text", text))
    return replace(said, text=text, calls=calls, finish="tool_calls" if calls else said.finish)
