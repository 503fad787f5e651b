"""What a person has refused in this turn. It cannot be had in other words."""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable

from hermes_jupyter.road.cases import ON_FILES, Case, Impact
from hermes_jupyter.road.commands import normal_form
from tools.files.paths import is_inside

LOSING = frozenset(("delete", "write", "move", "discard"))
"""A file that must not be deleted must not be emptied or moved away either."""


class Denials:
    """The refused calls of one turn. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the four below
        self._reasons: frozenset[tuple[str, str]] = frozenset()
        self._refused: frozenset[Impact] = frozenset()
        self._discussed: frozenset[Impact] = frozenset()
        self._wordings: frozenset[Hashable] = frozenset()

    def add(self, case: Case, *, note: str = "") -> None:
        """Remember a refusal.

        Who says with it what shall be done instead will be asked about the same effects again;
        without a note they are refused from now on.
        """
        with self._lock:
            self._wordings |= {wording(case)}
            if note.strip():
                self._discussed |= frozenset(case.impacts)
            else:
                self._refused |= frozenset(case.impacts)
                if case.impacts and all(each.target for each in case.impacts):
                    self._reasons |= _reasons(case)

    def cover(self, case: Case) -> bool:
        """Does the call do nothing but what was refused, or a part of it? Looking is no part."""
        if wording(case) in self._wordings:
            return True
        # "Deletes notes.txt" is the same wish, whatever language it is written in.
        if case.objection is not None and _reasons(case) <= self._reasons:
            return True
        aimed = [each for each in case.changes if each.target]
        vague = [each for each in case.changes if not each.target]
        if not all(_is_among(each, self._refused) for each in aimed):
            return False
        # "Runs what it cannot see" is the same only if it comes from the same place.
        sources = aimed or [each for each in case.impacts if each.target]
        known = bool(sources) and all(_is_among(each, self._refused) for each in sources)
        return known and bool(case.changes) and all(each in self._refused for each in vague)

    def overlap(self, case: Case) -> bool:
        """Is something of it among what was refused? Then only a person can allow it."""
        refused = self._refused | self._discussed
        return any(_is_among(each, refused) for each in case.changes if each.target)


def _reasons(case: Case) -> frozenset[tuple[str, str]]:
    reason = case.objection.reason if case.objection else ""
    return frozenset((each, case.folder) for each in reason.split("; "))


def wording(case: Case) -> Hashable:
    """The same for calls that differ in blanks, quotes, time limits and the way they wait."""
    if case.command is not None:
        return normal_form(case.command), case.folder
    body = json.dumps(dict(case.call.args), sort_keys=True, default=str)
    return case.call.name, body, case.folder


def _is_among(impact: Impact, refused: frozenset[Impact]) -> bool:
    return impact in refused or any(_is_part(impact, each) for each in refused)


def _is_part(impact: Impact, refused: Impact) -> bool:
    alike = impact.kind == refused.kind or {impact.kind, refused.kind} <= LOSING
    if not alike or not refused.target or impact.kind not in ON_FILES:
        return False
    return is_inside(impact.target, refused.target)
