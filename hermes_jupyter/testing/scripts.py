"""What a scripted model says: values for one reply, and how they are streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from hermes_jupyter.agent.models.base import Delta, Message, RawCall, Reply
from hermes_jupyter.calls import Usage

PIECE_CHARS = 12

Part: TypeAlias = str | RawCall | Delta
Script: TypeAlias = (
    str | RawCall | Reply | BaseException | Sequence[Part] | Callable[..., "str | Sequence[Part]"]
)
"""One reply: text, calls, both, an exception to raise, or a function of messages and tools."""


def call(name: str, /, **args: Any) -> RawCall:
    """A tool call for a script. It gets its id when it is played."""
    return RawCall(id="", name=name, arguments=json.dumps(args, ensure_ascii=False))


def as_reply(script: Any, number: int) -> Reply:
    """The reply that a script stands for; ``number`` makes the ids of its calls.

    Raises
    ------
    TypeError
        If it is no script.
    """
    if isinstance(script, Reply):
        return replace(script, calls=_with_ids(script.calls, number))
    parts = [script] if isinstance(script, str | RawCall | Delta) else list(script)
    if strange := [part for part in parts if not isinstance(part, str | RawCall | Delta)]:
        raise TypeError(f"a script holds text, call(...) and Delta, not {strange[0]!r}")
    calls = _with_ids([part for part in parts if isinstance(part, RawCall)], number)
    return Reply(
        text="".join(part for part in parts if isinstance(part, str)),
        reasoning="".join(part.text for part in parts if isinstance(part, Delta)),
        calls=calls,
        finish="tool_calls" if calls else "stop",
    )


def _with_ids(calls: Sequence[RawCall], number: int) -> tuple[RawCall, ...]:
    return tuple(
        one if one.id else replace(one, id=f"call_{number}_{place}")
        for place, one in enumerate(calls, 1)
    )


def pieces(reply: Reply, size: int = PIECE_CHARS) -> Iterator[Delta]:
    """The reply's thoughts and text, cut as a stream brings them."""
    for start in range(0, len(reply.reasoning), size):
        yield Delta("reasoning", reply.reasoning[start : start + size])
    for start in range(0, len(reply.text), size):
        yield Delta("text", reply.text[start : start + size])


def estimated_usage(messages: Sequence[Message], reply: Reply) -> Usage:
    """Tokens as they would roughly be: four characters each."""
    answer = reply.text + reply.reasoning + "".join(one.arguments for one in reply.calls)
    return Usage(
        prompt_tokens=len(json.dumps(list(messages), default=str)) // 4 + 1,
        completion_tokens=len(answer) // 4 + 1,
        model_calls=1,
    )
