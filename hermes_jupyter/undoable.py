"""Kinds of things besides files that turns change, and that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

How = Literal["added", "changed", "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a turn changed."""

    name: str
    how: How
    problem: str = ""
    """Why it cannot be taken back, or was not; empty if it can be, or was."""


class Undoable(Protocol):
    """Notes how things of a kind are, and takes changes back. Turns are told by their ids.

    Its methods may be called from any thread, one at a time for each turn.
    """

    @property
    def kind(self) -> str:
        """What one of these things is called: "variable"."""

    def begin(self, turn: str, tool: str) -> None:
        """A tool is about to run that may change something. Called before each such call."""

    def end(self, turn: str) -> list[Item]:
        """What the turn has changed. Nothing is noted for it any more."""

    def plan(self, turn: str, items: list[Item], *, force: bool) -> list[Item]:
        """What `undo` would do. ``items`` are those of the turn, as `end` told them.

        ``force`` takes also what somebody has changed since.
        """

    def undo(self, turn: str, items: list[Item], by: str, *, force: bool) -> list[Item]:
        """Take changes of a turn back, in the name of the turn ``by``, which may be undone, too."""
