"""What the loop needs of a model. Knows no provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hermes_jupyter.calls import Usage

if TYPE_CHECKING:
    from hermes_jupyter.agent.models.prices import Price

Message = dict[str, Any]
"""A message in the Chat Completions format (role, content, tool_calls, tool_call_id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as the model wrote it: name and argument text are unchecked."""

    id: str
    name: str
    arguments: str
    is_cut: bool = False
    """Did the answer end before the call did? Then it must not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer of the model."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[RawCall, ...] = ()
    finish: str = "stop"
    """``stop``, ``tool_calls``, ``length``, ``content_filter`` as the server said."""
    usage: Usage = field(default_factory=Usage)
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What this model wants to get back with the answer: see `extras_of`."""


def extras_of(message: Message, model: str) -> Mapping[str, Any]:
    """What came with an answer of this very model and must go back with it."""
    extras = message.get("extras") or {}
    return extras if extras.get("model") == model else {}


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

    @property
    def price(self) -> Price | None:
        """What its tokens cost; None if that is not known (yet)."""
        ...

    @property
    def sees(self) -> bool:
        """Does it take images, as far as that is known?"""
        ...

    @property
    def prefills(self) -> bool:
        """Does it go on with an answer of its own that ends the messages?"""
        ...

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
        *,
        max_answer: int = 0,
    ) -> Reply:
        """Ask for one reply, telling ``on_delta`` each piece.

        Parameters
        ----------
        messages
            None of them is changed after it was sent once; a change is a new message.
        max_answer
            Most tokens of the reply; 0 leaves it to the model.

        Raises
        ------
        ModelError
            For every way in which the call can fail.
        """
        ...

    async def learn(self) -> None:
        """Find out price and window, if the server tells them and they are not known."""
        ...

    async def close(self) -> None:
        """Free connections and child processes."""
        ...
