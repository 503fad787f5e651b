"""Which changes need a person, and how they are told; and which files are the session's own.

``written`` is the session's set of real paths that it has written (``context["written"]``), with
the name of their place before those that are not on this machine. Beside each path it holds a stamp
of what was left there, so that a file which somebody else has edited since counts as theirs again
when it is about to be replaced as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, MutableSet, Sequence
from dataclasses import dataclass
from typing import Any

from tools.files import diffs
from tools.files.changes import Change
from tools.files.paths import is_inside
from tools.files.problems import Problem
from tools.files.protected import protection_of, secret_at
from tools.files.text import decode
from tools.files.workspace import Workspace, place_of, workspace_of
from tools.safety import Objection

SHOWN_LINES = 200
SHOWN_CHARS = 20_000
NAMED_PATHS = 5


@dataclass(frozen=True, slots=True)
class Ownership:
    """The files that this session has written itself."""

    written: MutableSet[str]
    place: str = ""
    """The name of the place that paths are on."""

    def has(self, path: str) -> bool:
        return self._key(path) in self.written

    def has_as_it_is(self, path: str, content: bytes) -> bool:
        """Whether it also is as the session left it, as far as that is known."""
        stamps = self._stamps(path)
        return self.has(path) and (not stamps or self._stamp(path, content) in stamps)

    def record(self, changes: Sequence[Change]) -> None:
        """Remember what was just written."""
        for change in changes:
            for entry in self._stamps(change.path):
                self.written.discard(entry)
            if change.after is None:
                self.written.discard(self._key(change.path))
            else:
                self.written.add(self._key(change.path))
                self.written.add(self._stamp(change.path, change.after))

    def _stamps(self, path: str) -> list[str]:
        # A copy first: calls of one batch write and look side by side.
        start = self._key(path) + "\0"
        return [entry for entry in tuple(self.written) if entry.startswith(start)]

    def _key(self, path: str) -> str:
        return f"{self.place}:{path}" if self.place else path

    def _stamp(self, path: str, content: bytes) -> str:
        return f"{self._key(path)}\0{hashlib.sha256(content).hexdigest()}"


def ownership_of(context: Mapping[str, Any]) -> Ownership:
    written = context.get("written")
    place = place_of(context.get("environment"))
    return Ownership(written if isinstance(written, MutableSet) else set(), place.name)


def objection_to(
    changes: Sequence[Change], workspace: Workspace, ownership: Ownership, *, whole: bool = False
) -> Objection | None:
    """Why a person must agree to these changes, or None.

    ``whole`` files are replaced without a look at what they hold; a patch has seen what it changes.
    """
    # What goes for good comes first: the end of a long list or diff is not seen.
    changes = sorted(changes, key=lambda change: change.after is not None or bool(change.moved_to))
    reasons = []
    for change in changes:
        reasons += _reasons(change, workspace, ownership, whole)
    if not reasons:
        return None
    diff = "".join(change.diff(workspace.name(change.path)) for change in changes)
    if diffs.capped(diff, SHOWN_LINES, SHOWN_CHARS) != diff and len(changes) > 1:
        diff = "".join(f"{_phrase(each, workspace, whole)}\n" for each in changes) + "\n" + diff
    named = ", ".join(change.path for change in changes[:NAMED_PATHS])
    more = f" and {len(changes) - NAMED_PATHS} more" if len(changes) > NAMED_PATHS else ""
    there = _there(workspace)
    return Objection(
        reason="; ".join(reasons) + there,
        shown=diffs.capped(diff, SHOWN_LINES, SHOWN_CHARS),
        grant=f"changes to {named}{more}{there} in this session",
    )


def objection_to_reading(path: str, workspace: Workspace) -> Objection | None:
    """Why a person must agree that this file, or folder, is read."""
    secret = secret_at(path, workspace.files.home())
    if not secret:
        return None
    name, there = workspace.name(path), _there(workspace)
    return Objection(
        f"reads {name}, which may hold {secret}{there}",
        path,
        f"reading {path}{there} in this session",
    )


def guard_reading(path: object, context: Mapping[str, Any]) -> Objection | None:
    """The objection of a tool that reads ``path``; what is wrong with the path its handler says."""
    if not isinstance(path, str):
        return None
    workspace = workspace_of(context)
    try:
        return objection_to_reading(workspace.path(path), workspace)
    except ConnectionError:  # the handler may reach the place again, so this is no answer
        raise
    except (Problem, OSError):
        return None


def _there(workspace: Workspace) -> str:
    """Where it is, if not on this machine."""
    return f" on {workspace.files.name}" if workspace.files.name else ""


def _reasons(change: Change, workspace: Workspace, ownership: Ownership, whole: bool) -> list[str]:
    if change.is_none:
        return []
    what = _phrase(change, workspace, whole)
    protection = protection_of(change.path, workspace.files.home())
    if protection:
        return [f"{what}, {protection}"]
    if _is_own(change, ownership, whole):
        return []
    outside = not workspace.contains(change.path) and not _is_temporary(change.path, workspace)
    if outside:
        return [f"{what}, outside the workspace"]
    return [what] if change.before else []


def _is_own(change: Change, ownership: Ownership, whole: bool) -> bool:
    if whole and change.before:
        return ownership.has_as_it_is(change.path, change.before)
    return ownership.has(change.path)


def _is_temporary(path: str, workspace: Workspace) -> bool:
    return is_inside(path, workspace.files.temporary())


def _phrase(change: Change, workspace: Workspace, whole: bool) -> str:
    name = workspace.name(change.path)
    if change.moved_from:
        return f"moves {workspace.name(change.moved_from)} to {name}"
    if change.moved_to:
        return f"moves {name} to {workspace.name(change.moved_to)}"
    if change.before is None:
        return f"creates {name}"
    if change.after is None:
        return f"deletes {name} ({_extent(change.before)})"
    if whole:
        return f"{'replaces' if change.after else 'empties'} {name} ({_extent(change.before)})"
    added, removed = diffs.count_changes(change.diff(name))
    return f"changes {name} (+{added} −{removed})"


def _extent(content: bytes) -> str:
    text = decode(content)
    if text is None:
        return f"{len(content):,} bytes"
    lines = text.text.count("\n") + (not text.text.endswith("\n") and bool(text.text))
    return "1 line" if lines == 1 else f"{lines:,} lines"
