"""Messages and tools as bytes. What was sent once is not written anew for each call.

A conversation of thousands of messages grows by two at each step. So the bytes of those before
are kept, and a call costs what is new in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hermes_jupyter.agent.models.base import Message

KEPT = 4
"""Conversations whose bytes are kept: that of the session, and some beside it."""


class Encoder:
    """Writes lists of messages.

    Parameters
    ----------
    shape
        What becomes of a message: a list of values for JSON, mostly one.
    """

    def __init__(self, shape: Callable[[Message], Sequence[Any]]) -> None:
        self._shape = shape
        self._written: dict[int, _Written] = {}
        self._tools: tuple[Any, bytes] = (None, b"")

    def messages(self, messages: Sequence[Message]) -> bytearray:
        """All of them as the inside of a list in JSON. Copy it before the next call."""
        if not messages:
            return bytearray()
        key = id(messages[0])
        written = self._written.pop(key, None) or _Written()
        self._written[key] = written  # the latest last
        if len(self._written) > KEPT:
            del self._written[next(iter(self._written))]
        return written.with_all(messages, self._shape)

    def tools(self, tools: Sequence[Any], shape: Callable[[Sequence[Any]], Any]) -> bytes:
        """The tools as JSON; the same list as the last time is not written again."""
        if self._tools[0] is not tools:
            self._tools = (tools, dumped(shape(tools)))
        return self._tools[1]


class _Written:
    """One conversation and its bytes."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._ends: list[int] = []
        self._bytes = bytearray()

    def with_all(
        self, messages: Sequence[Message], shape: Callable[..., Sequence[Any]]
    ) -> bytearray:
        start = self._common(messages)
        del self._messages[start:], self._ends[start:]
        del self._bytes[self._ends[-1] if self._ends else 0 :]
        for message in messages[start:]:
            for value in shape(message):
                self._bytes += b"," if self._bytes else b""
                self._bytes += dumped(value)
            self._messages.append(message)
            self._ends.append(len(self._bytes))
        return self._bytes

    def _common(self, messages: Sequence[Message]) -> int:
        """How many of the messages are as the last time."""
        known = self._messages
        if known == messages[: len(known)]:  # the same objects, which is seen at once
            return len(known)
        size = min(len(known), len(messages))
        return next((i for i in range(size) if known[i] is not messages[i]), size)


def dumped(value: Any) -> bytes:
    """JSON in UTF-8, without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
