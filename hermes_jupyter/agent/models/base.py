"""What the loop needs of a model. Knows no provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hermes_jupyter.calls import Usage

Message = dict[str, Any]
"""A message in the Chat Completions format (role, content, tool_calls, tool_call_id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as the model wrote it: name and argument text are unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer of the model."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[RawCall, ...] = ()
    finish: str = "stop"
    """``stop``, ``tool_calls``, ``length``, ``content_filter`` as the server said."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives, or a line about the call itself (``notice``)."""

    kind: Literal["text", "reasoning", "notice"]
    text: str


class Model(Protocol):
    """A model. One instance serves one session; ``reply`` runs on the agent loop."""

    name: str

    @property
    def window(self) -> int:
        """Tokens that a request and its answer may have; 0 if that is not known (yet)."""
        ...

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
    ) -> Reply:
        """Ask for one reply, telling ``on_delta`` each piece.

        Raises
        ------
        ModelError
            For every way in which the call can fail.
        """
        ...

    async def close(self) -> None:
        """Free connections and child processes."""
        ...
