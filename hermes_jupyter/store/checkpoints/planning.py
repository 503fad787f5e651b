"""What it takes to bring files back: worked out before any is touched."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.checkpoints.states import (
    ABSENT,
    BEHIND_LINK,
    SEPARATOR,
    State,
    is_behind_link,
    lstat,
    there,
)

Verdict = Literal["do", "same", "conflict", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One path, and what becomes of it."""

    path: bytes
    now: State
    wanted: State
    verdict: Verdict
    why: str = ""
    """Why nothing is done; empty if something is, or nothing needs to be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A path as it shall be, and as it is if nobody has touched it since."""

    path: bytes
    state: State
    expected: State
    is_doubtful: bool = False
    """Is it a notebook that was only found changed? A page that has it open may have saved it."""


def wanted_by_undo(connection: sqlite3.Connection, turn: int) -> list[Wanted]:
    """All paths of a turn as they were before it."""
    return [
        Wanted(change.path, change.was, change.now or change.was, _is_doubtful(change))
        for change in rows.changes(connection, turn)
    ]


def wanted_by_restore(
    connection: sqlite3.Connection, turn: int, paths: Sequence[bytes] = ()
) -> list[Wanted]:
    """The paths that this turn or a later one changed, as they were before it.

    ``paths`` choose some of them: files, or folders with all that was in them.
    """
    first: dict[bytes, State] = {}
    last: dict[bytes, State] = {}
    doubtful: set[bytes] = set()
    for row in rows.turns(connection, "WHERE number >= ? AND ended IS NOT NULL", (turn,)):
        for change in rows.changes(connection, row.number):
            first.setdefault(change.path, change.was)
            last[change.path] = change.now or change.was
            if _is_doubtful(change):
                doubtful.add(change.path)
    return [
        Wanted(path, was, last[path], path in doubtful)
        for path, was in sorted(first.items())
        if not paths or any(path == each or path.startswith(each + SEPARATOR) for each in paths)
    ]


def _is_doubtful(change: rows.Change) -> bool:
    return not change.exact and change.path.endswith(b".ipynb")


def plan(wanted: Iterable[Wanted], most_bytes: int, *, force: bool) -> list[Step]:
    """What is to be done for each path. ``force`` takes also what somebody has changed since."""
    wanted = list(wanted)
    made = {each.path for each in wanted if each.state.kind == "folder"}
    folded = Counter(each.path.lower() for each in wanted)
    return [
        _step(each, most_bytes, made, force=force, exact_name=folded[each.path.lower()] > 1)
        for each in wanted
    ]


def _step(
    each: Wanted, most_bytes: int, made: Collection[bytes], *, force: bool, exact_name: bool
) -> Step:
    now = there(each.path, most_bytes)
    if exact_name and now != ABSENT and not _has_this_name(each.path):
        now = ABSENT  # where "A" and "a" are the same, the other one is there
    verdict, why = _verdict(each, now, made, force=force)
    return Step(path=each.path, now=now, wanted=each.state, verdict=verdict, why=why)


def _verdict(
    each: Wanted, now: State, made: Collection[bytes], *, force: bool
) -> tuple[Verdict, str]:
    if now == each.state:
        return "same", ""
    if not each.state.is_kept:
        return "lost", _why_lost(each.state)
    folder = os.path.dirname(each.path)  # noqa: PTH120
    if is_behind_link(each.path) and folder not in made:
        return "lost", BEHIND_LINK
    if now != each.expected and not force:
        return "conflict", "removed since" if now == ABSENT else "changed since"
    if each.is_doubtful and not force:
        return "conflict", "a notebook, which a page may have saved meanwhile"
    if not now.is_kept:
        return "lost", "what is there now could not be kept; move it away yourself"
    return "do", ""


def _why_lost(state: State) -> str:
    if state.kind == "other":
        return "it was no file"
    if state.digest == "?dropped":
        return "what it was had to make room"
    if state.digest == "?unreadable":
        return "it could not be read before"
    return "what it was is not kept: too large, or too much to keep before the command ran"


def _has_this_name(path: bytes) -> bool:
    folder, name = os.path.split(path)
    return lstat(path) is not None and name in os.listdir(folder)  # noqa: PTH208
