"""Which variables a run of code has made, changed or deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.values.marks import mark_of
from tools.values.plain import named

MOST_MARKED = 500
"""Variables that are looked into for changes in place."""
MOST_NAMED = 20
WORDS = 80
KEPT = ("_", "__", "___", "_exit_code", "In", "Out", "_ih", "_oh", "_dh", "_i", "_ii", "_iii")
"""Names of IPython that stay what they are."""


@dataclass(frozen=True, slots=True)
class Changes:
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


class Before:
    """The variables before a run. Nothing is held that could be freed meanwhile."""

    def __init__(self, namespace: dict[str, Any], hidden: Mapping[str, Any]) -> None:
        self._namespace, self._hidden = namespace, hidden
        self._kept = {name: namespace[name] for name in KEPT if name in namespace}
        self._outputs = set(namespace.get("_oh") or ())
        self._there = self._marks()

    def changes(self) -> Changes:
        """What has become of them. IPython's own names are put back."""
        self._put_back()
        now, before = self._marks(), self._there
        return Changes(
            new=self._told([name for name in now if name not in before]),
            changed=self._told([n for n in now if n in before and now[n] != before[n]]),
            deleted=tuple(name for name in before if name not in now)[:MOST_NAMED],
        )

    def _put_back(self) -> None:
        for name in KEPT:
            if name in self._kept:
                self._namespace[name] = self._kept[name]
            else:
                self._namespace.pop(name, None)
        outputs = self._kept.get("_oh") or {}
        for number in set(outputs) - self._outputs:  # of a cell that the code has run
            del outputs[number]
            self._namespace.pop(f"_{number}", None)

    def _told(self, names: list[str]) -> tuple[str, ...]:
        said = [f"{name}: {named(name, self._namespace[name], WORDS)}" for name in names]
        more = len(said) - MOST_NAMED
        return (*said[:MOST_NAMED], *([f"{more} more"] if more > 0 else []))

    def _marks(self) -> dict[str, tuple[int, Any]]:
        there = users(self._namespace, self._hidden)
        marked = list(there)[-MOST_MARKED:] if len(there) > MOST_MARKED else list(there)
        marks = {name: mark_of(there[name]) for name in marked}
        return {name: (id(value), marks.get(name)) for name, value in there.items()}


def users(namespace: Mapping[str, Any], hidden: Mapping[str, Any]) -> dict[str, Any]:
    """The user's own variables: without private names and those that IPython brought."""
    return {
        name: value
        for name, value in dict(namespace).items()
        if type(name) is str
        and not name.startswith("_")
        and not (name in hidden and hidden[name] is value)
    }
