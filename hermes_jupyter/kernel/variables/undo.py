"""What turns do to the user's variables, and the way back as long as this kernel lives.

Found are names that come, go or are bound to another object, and objects that change in place:
small lists, dicts, sets, arrays and frames by a copy, others by length, shape and type, so that a
change of a single element of a large one is not seen. What an object of another class holds is not
looked at.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from hermes_jupyter.kernel.variables.marks import (
    GONE,
    Gone,
    Mark,
    Room,
    is_as_marked,
    mark,
    put_back,
)
from hermes_jupyter.undoable import REVERSE, How, Item

APART = frozenset({"terminal", "process", "execute_code"})
"""Tools that run apart from the kernel, and cannot reach its variables."""
MOST_TURNS = 20
RESTARTED = "the kernel that had it has ended"


@dataclass(frozen=True, slots=True)
class Rebound:
    """A variable before a turn and after it."""

    was: Mark | Gone
    now: Mark | Gone


class Variables:
    """An `Undoable`: the variables of the namespace.

    Parameters
    ----------
    namespace
        Gives the user's variables.
    hidden
        Gives names that are not the user's.
    """

    kind = "variable"

    def __init__(
        self,
        namespace: Callable[[], MutableMapping[str, Any]],
        hidden: Callable[[], Any] = tuple,
    ) -> None:
        self._namespace = namespace
        self._hidden = hidden
        self._lock = threading.RLock()  # guards the next two
        self._before: dict[str, dict[str, Mark]] = {}
        self._changed: OrderedDict[str, dict[str, Rebound]] = OrderedDict()

    def begin(self, turn: str, tool: str) -> None:
        """See `Undoable`."""
        with self._lock:
            if tool not in APART and turn not in self._before:
                room = Room()
                there = self._there()
                self._before[turn] = {name: mark(value, room) for name, value in there.items()}

    def end(self, turn: str) -> list[Item]:
        """See `Undoable`."""
        with self._lock:
            before = self._before.pop(turn, None)
            if before is None:
                return []
            there, room = self._there(), Room()
            changed = {
                name: Rebound(before.get(name, GONE), _marked(there.get(name, GONE), room))
                for name in sorted({*before, *there})
                if not _is_still(before.get(name, GONE), there.get(name, GONE))
            }
            self._keep(turn, changed)
            return [_item(name, each) for name, each in changed.items()]

    def plan(self, turn: str, items: list[Item], *, force: bool) -> list[Item]:
        """See `Undoable`."""
        with self._lock:
            changed = self._changed.get(turn)
            if changed is None:
                return [replace(item, problem=RESTARTED) for item in items]
            there = self._there()
            return [
                replace(item, problem=_problem(changed[item.name], there, item.name, force=force))
                for item in items
                if item.name in changed
            ]

    def undo(self, turn: str, items: list[Item], by: str, *, force: bool) -> list[Item]:
        """See `Undoable`."""
        with self._lock:
            planned = self.plan(turn, items, force=force)
            self.begin(by, "")
            names = self._namespace()
            done = []
            for item in planned:
                problem = item.problem
                if not problem:
                    problem = _bind(names, item.name, self._changed[turn][item.name].was)
                how = item.how if problem else REVERSE[item.how]
                done.append(replace(item, how=how, problem=problem))
            self.end(by)
            return done

    def _there(self) -> dict[str, Any]:
        hidden = frozenset(self._hidden())
        return {
            name: value
            for name, value in dict(self._namespace()).items()
            if not name.startswith("_")
            and name not in hidden
            and not issubclass(type(value), ModuleType)
        }

    def _keep(self, turn: str, changed: dict[str, Rebound]) -> None:
        if changed:
            self._changed[turn] = changed
            while len(self._changed) > MOST_TURNS:
                self._changed.popitem(last=False)


def _marked(value: Any, room: Room) -> Mark | Gone:
    return GONE if value is GONE else mark(value, room)


def _is_still(noted: Mark | Gone, value: Any) -> bool:
    if isinstance(noted, Gone) or value is GONE:
        return noted is value
    return is_as_marked(noted, value)


def _item(name: str, each: Rebound) -> Item:
    how: How = "changed"
    if isinstance(each.was, Gone):
        how = "added"
    elif isinstance(each.now, Gone):
        how = "removed"
    return Item(name=name, how=how, problem=_lost(each.was))


def _lost(was: Mark | Gone) -> str:
    """Why it cannot be had again; nothing is changed to find out."""
    if isinstance(was, Gone) or was.node is not None:
        return ""
    if was.value is GONE:
        return "it was too large to keep it beside what took its place"
    return "" if is_as_marked(was, was.value) else "it was changed in place; too large to copy"


def _problem(each: Rebound, there: dict[str, Any], name: str, *, force: bool) -> str:
    if lost := _lost(each.was):
        return lost
    if not force and not _is_still(each.now, there.get(name, GONE)):
        return "changed since"
    return ""


def _bind(names: MutableMapping[str, Any], name: str, was: Mark | Gone) -> str:
    if isinstance(was, Gone):
        names.pop(name, None)
        return ""
    value, problem = put_back(was)
    if value is not GONE:
        names[name] = value
    return problem
