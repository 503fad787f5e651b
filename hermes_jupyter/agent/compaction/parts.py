"""Which messages of a conversation stay as they are, and which may become notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.agent.pictures import is_request

Message = Mapping[str, Any]
NOTES_MARK = "[Notes on the conversation so far"


@dataclass(frozen=True, slots=True)
class Parts:
    """Places in a transcript: ``head`` messages stay, then the middle, then the tail."""

    head: int
    tail: int
    """Where the tail begins."""

    @property
    def middle(self) -> slice:
        return slice(self.head, self.tail)


def parts_of(
    messages: Sequence[Message], size: Callable[[Sequence[Message]], int], kept: int
) -> Parts:
    """Split a transcript: the system's words and the first exchange, the middle, the recent tail.

    The newest request of the user is in the tail, whatever its size; calls and their results are
    never parted.

    Parameters
    ----------
    kept
        Tokens that the tail may have.
    """
    head = _head(messages)
    newest = max((at for at, each in enumerate(messages) if is_request(each)), default=head)
    tail = len(messages)
    total = 0
    while tail > head:
        start = _begin_of_exchange(messages, tail - 1)
        total += size(messages[start:tail])
        if total > kept and tail < len(messages):
            break
        tail = start
    return Parts(head, max(head, min(tail, max(newest, head))))


def _head(messages: Sequence[Message]) -> int:
    """The system's messages, the first request and what was answered at once."""
    at = 0
    while at < len(messages) and messages[at]["role"] == "system":
        at += 1
    if at < len(messages) and messages[at]["role"] == "user" and not is_note(messages[at]):
        at += 1
        answered = at < len(messages) and messages[at]["role"] == "assistant"
        if answered and not messages[at].get("tool_calls"):
            at += 1
    return at


def _begin_of_exchange(messages: Sequence[Message], at: int) -> int:
    """Where the message begins that a result of a tool belongs to."""
    while at > 0 and (messages[at]["role"] == "tool" or messages[at].get("of_results")):
        at -= 1
    return at


def is_note(message: Message) -> bool:
    return str(message.get("content") or "").startswith(NOTES_MARK)
