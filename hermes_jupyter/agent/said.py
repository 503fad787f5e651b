"""What the person says while the turn runs: put into the transcript between two steps, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.pictures import with_text

WHILE_WORKING = (
    "[The user says this while you work. It adds to the task or changes it; go on with that in "
    "mind.]\n{text}"
)


class Mailbox(Protocol):
    """Keeps messages until the model has read them."""

    def pending(self) -> Sequence[str]: ...

    def told(self, count: int) -> None: ...


@dataclass(kw_only=True)
class Said:
    """The messages of one turn."""

    mailbox: Mailbox | None
    transcript: list[Message]
    _given: int = 0
    """So many stand in the transcript, and we do not know yet that the model has read them."""

    @property
    def is_waiting(self) -> bool:
        """Is there something that the model has not been given?"""
        return self.mailbox is not None and len(self.mailbox.pending()) > self._given

    def give(self) -> None:
        """Add what is new to the transcript, for the next reply."""
        if self.mailbox is None:
            return
        new = self.mailbox.pending()[self._given :]
        if new:
            self._given += len(new)
            add_for_user(self.transcript, "\n\n".join(new))

    def confirm(self) -> None:
        """What was given stays in the transcript: it is told, and will not come again."""
        if self.mailbox is not None and self._given:
            self.mailbox.told(self._given)
            self._given = 0


def add_for_user(transcript: list[Message], text: str) -> None:
    """Say something more in the user's name, behind whatever stands there.

    Between a call and its result nothing can stand, and two messages of a user in a row are
    refused by some servers.
    """
    last = transcript[-1] if transcript else {"role": ""}
    if last["role"] == "tool" or last.get("of_results"):
        text = WHILE_WORKING.format(text=text)
    if last["role"] == "user":
        transcript[-1] = with_text(last, text)
        return
    transcript.append({"role": "user", "content": text})
