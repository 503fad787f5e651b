"""Which calls of a step may run side by side.

Two calls conflict when one of them writes and they touch the same place. What cannot be told
counts as a conflict with everything: such a call runs alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hermes_jupyter.agent.known_tools import KNOWN_TOOLS, NEVER_PARALLEL, Resources
from hermes_jupyter.agent.places import Key, Place, Places
from hermes_jupyter.calls import ToolCall
from tools.catalog import Catalog
from tools.registry import ToolEntry

logger = logging.getLogger(__name__)

TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "array": (list, tuple),
    "object": Mapping,
}


class Scope(NamedTuple):
    """What a call touches."""

    writes: bool
    places: tuple[Place, ...] | None
    """None if they cannot be told: for a read it may be any."""

    @property
    def is_barrier(self) -> bool:
        """A write that may be anywhere: nothing runs beside it."""
        return self.writes and not self.places

    @property
    def is_told(self) -> bool:
        return self.places is not None and not self.is_barrier

    def conflicts_with(self, other: Scope) -> bool:
        if self.is_barrier or other.is_barrier:
            return True
        if not self.writes and not other.writes:
            return False
        if self.places is None or other.places is None:
            return True
        return any(one.overlaps(another) for one in self.places for another in other.places)


NOTHING = Scope(writes=False, places=())
ANYWHERE = Scope(writes=False, places=None)
BARRIER = Scope(writes=True, places=None)


def plan(
    calls: Sequence[ToolCall], tools: Catalog, cwd: str | None, home: str | None = None
) -> list[list[ToolCall]]:
    """Cut the calls of a step into batches, in order, as few as can be.

    It holds for the files as they are now. When a batch has run, plan the rest anew: a command
    may have made a link or changed the folder.

    Parameters
    ----------
    cwd
        Folder that relative paths refer to. None if the files are on another machine: to look at
        the links there takes a trip, so that a call which writes runs alone.
    home
        What ``~`` stands for; by default the home folder of the process.
    """
    return list(_batches(calls, tools, _places(cwd, home)))


def next_batch(
    calls: Sequence[ToolCall], tools: Catalog, cwd: str | None, home: str | None = None
) -> list[ToolCall]:
    """The calls that run first: the first so many that do not conflict."""
    return next(_batches(calls, tools, _places(cwd, home)), [])


def _places(cwd: str | None, home: str | None) -> Places | None:
    return None if cwd is None else Places(cwd, home)


class _Batch:
    """Calls that may run side by side, and what they touch."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self._scopes: list[Scope] = []
        self._keys: set[Key] = set()
        self._ways: set[Key] = set()
        self._all_told = True

    def has_room_for(self, scope: Scope) -> bool:
        if self._is_apart_from(scope):
            return True
        return not any(scope.conflicts_with(other) for other in self._scopes)

    def add(self, call: ToolCall, scope: Scope) -> None:
        self.calls.append(call)
        self._scopes.append(scope)
        self._all_told = self._all_told and scope.is_told
        for place in scope.places or ():
            self._keys.add(place.key)
            self._ways |= place.way

    def _is_apart_from(self, scope: Scope) -> bool:
        """A quick look, without comparing each with each, at whether no place is shared."""
        if not (self._all_told and scope.is_told):
            return False
        for place in scope.places or ():
            if place.key in self._ways or not self._keys.isdisjoint(place.way):
                return False
        return True


def _batches(
    calls: Sequence[ToolCall], tools: Catalog, places: Places | None
) -> Iterator[list[ToolCall]]:
    batch = _Batch()
    for call in calls:
        scope = _scope_of(call, tools, places)
        if not batch.has_room_for(scope):
            yield batch.calls
            batch = _Batch()
        batch.add(call, scope)
    if batch.calls:
        yield batch.calls


def _scope_of(call: ToolCall, tools: Catalog, places: Places | None) -> Scope:
    if call.error:  # nothing runs; without arguments nobody knows what was to run in this place
        return NOTHING if call.args else BARRIER
    entry, known = tools.get_entry(call.name), KNOWN_TOOLS.get(call.name)
    effects = entry.effects if entry else known.effects if known else "unknown"
    if call.name in NEVER_PARALLEL or effects not in ("read", "write"):
        return BARRIER
    asked = (entry.resources if entry else None, known.resources if known else None)
    try:
        if entry and not _as_declared(call.args, entry):
            return BARRIER
        return _scope(effects == "write", _names(call.args, asked), places)
    except Exception:  # whatever a tool's function raises: the scope is unknown
        logger.debug("no scope of %r", call.name, exc_info=True)
        return BARRIER


def _as_declared(args: Mapping[str, Any], entry: ToolEntry) -> bool:
    """Whether no text stands for a container, or the reverse: what it means is not settled yet."""
    declared = entry.schema["parameters"].get("properties") or {}
    for name, value in args.items():
        about = declared.get(name)
        wanted = about.get("type") if isinstance(about, dict) else None
        kind = TYPES.get(wanted, object) if isinstance(wanted, str) else object
        if value is not None and not isinstance(value, kind):
            return False
    return True


def _names(args: Mapping[str, Any], asked: Sequence[Resources | None]) -> list[str] | None:
    """All paths that are named, by the tool's own account and by ours."""
    if not any(asked):
        return None
    names: list[str] = []
    for resources in filter(None, asked):
        found = resources(args)
        if found is None or isinstance(found, (str, bytes)):
            raise ValueError(f"no list of paths: {found!r:.80}")
        names += found
    return list(dict.fromkeys(names))


def _scope(writes: bool, names: Sequence[str] | None, places: Places | None) -> Scope:
    if not writes and names == []:
        return NOTHING
    if names is None or places is None:
        return BARRIER if writes else ANYWHERE
    if writes:
        return Scope(True, tuple(place for name in names for place in places.written(name)))
    return Scope(False, tuple(map(places.read, names)))
