"""Kinds of things besides files that turns change, and that can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, runtime_checkable

How = Literal["added", "changed", "removed"]


REVERSE: Mapping[How, How] = {"added": "removed", "changed": "changed", "removed": "added"}
"""What an undo does to a thing with which a turn did that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a turn changed."""

    name: str
    how: How
    problem: str = ""
    """Why it cannot be taken back, or was not; empty if it can be, or was."""
    before: str = ""
    """What it said before the turn, and after it, where that is text."""
    after: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """What else its kind needs to take it back, also in a later kernel; JSON."""


def read_item(stored: Mapping[str, Any]) -> Item:
    """An item that was stored, maybe by a later version of this program."""
    return Item(**{key: stored[key] for key in _FIELDS if key in stored})


_FIELDS = [each.name for each in fields(Item)]


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
        """Take changes of a turn back, in the name of the turn ``by``, which may be undone, too.

        Says what ``by`` has changed, and with a problem what it could not.
        """


@runtime_checkable
class Told(Protocol):
    """An `Undoable` that tools tell what they change, as they do it."""

    def note(self, turn: str, change: Any) -> list[Item]:
        """A change of this turn; all that it has changed until now."""
