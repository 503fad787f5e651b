"""A call as the policy sees it: the tool, what the call does and where. All rules look at this."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.commands import plain_spellings, words_of
from tools.entry import ToolEntry
from tools.environments.host import HostError
from tools.files import arguments, v4a
from tools.files.local_place import LOCAL
from tools.files.paths import is_inside
from tools.files.place import Place
from tools.files.problems import Problem
from tools.files.protected import protection_of
from tools.files.workspace import Workspace, workspace_of
from tools.safety import Objection

logger = logging.getLogger(__name__)

Risk = Literal["medium", "high"]
KINDS: Mapping[str, str] = {
    "reads": "read", "writes": "write", "deletes": "delete", "moves": "move", "runs": "execute",
    "discards": "discard", "installs": "install", "sends": "network_out", "listens": "network_in",
    "unclear": "unknown",
}  # fmt: skip
"""What the effects of commands are called in rules; the others are called the same."""
HIGH_RISK = frozenset((
    "accounts", "hidden", "network_in", "network_out", "persistence", "privilege", "remote",
    "secrets", "system", "unknown", "unseen",
))  # fmt: skip
READING = frozenset(("read",))
EDITING = frozenset(("write", "cell_write"))
ON_CELLS = frozenset(("cell_write", "cell_delete"))
"""Kinds of effects whose targets are ids of cells."""
ON_FILES = frozenset(("read", "write", "move", "delete", "discard", "permissions"))
"""Kinds of effects whose targets are paths."""


@dataclass(frozen=True, slots=True)
class Impact:
    """One thing that a call does, and to what."""

    kind: str
    target: str = ""
    """A real path for effects on files; else what the effect names. Empty if it names nothing."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A call, and what is known of it before it runs."""

    call: ToolCall
    entry: ToolEntry
    folder: str
    """Where it would work."""
    workspace: str
    """The project's folder: what is in it is less precious than what is not."""
    objection: Objection | None = None
    reads_only: bool = False
    """Whether it surely changes nothing."""
    files: Place = LOCAL
    """Where its paths are."""

    @property
    def toolset(self) -> str:
        return self.entry.toolset

    @cached_property
    def command(self) -> str | None:
        """The text for a shell, whichever door it takes."""
        args = self.call.args
        if isinstance(command := args.get("command"), str):
            return command
        typed = args.get("data") if self.toolset == "terminal" else None
        return typed if isinstance(typed, str) else None

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """What a rule's pattern is compared with: the command, the paths, else the arguments."""
        if self.command is not None:
            return (self.command,)
        if named := arguments.paths(self.call.args):
            return tuple(named)
        body = json.dumps(dict(self.call.args), sort_keys=True, ensure_ascii=False, default=str)
        return (body,)

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The subjects, and other ways to say the same of those that a model might come upon."""
        if self.command is not None:
            return (self.command, *plain_spellings(self.command))
        paths = [each for path in self.named_paths for each in self._names_of(path)]
        return (*self.subjects, *paths)

    @cached_property
    def named_paths(self) -> tuple[str, ...]:
        """Paths in the arguments; not those in a command."""
        return tuple(path for path in arguments.paths(self.call.args) if "\0" not in path)

    @cached_property
    def impacts(self) -> tuple[Impact, ...]:
        """What it does, as far as that is known; empty if nothing is known."""
        told = tuple(
            Impact(kind, self._place(kind, target))
            for effect in getattr(self.objection, "effects", ())
            if (kind := kind_called(getattr(effect, "kind", "")))
            for target in (tuple(getattr(effect, "targets", ())) or ("",))
        )
        return told or self._declared

    @property
    def changes(self) -> frozenset[Impact]:
        """What it does beside looking."""
        return frozenset(each for each in self.impacts if each.kind not in READING)

    @cached_property
    def risk(self) -> Risk:
        """How bad a mistake could be. What is not known is bad."""
        if not self.impacts:
            return "high"
        told = getattr(self.objection, "effects", ())
        bad = any(getattr(each, "risk", "") == "high" for each in told) or any(
            each.kind in HIGH_RISK or (each.kind in ON_FILES and not self._is_harmless(each.target))
            for each in self.impacts
        )
        return "high" if bad else "medium"

    @cached_property
    def is_edit(self) -> bool:
        """Whether it only edits files of the workspace or cells, and deletes none."""
        return (
            self.entry.effects == "write"
            and bool(self.impacts)
            and self.risk != "high"
            and all(each.kind in EDITING for each in self.impacts)
        )

    @cached_property
    def places(self) -> frozenset[str]:
        """All ways to name the paths it touches, for rules that forbid."""
        paths = [*self.named_paths, *(each.target for each in self.impacts if each.target)]
        if self.command is not None:
            paths += words_of(self.command)
        named = [path for path in paths if "\0" not in path]
        return frozenset(name for path in named for name in self._names_of(path))

    @cached_property
    def targets(self) -> tuple[str, ...] | None:
        """The real paths of all it does, for rules that allow; None if there may be others."""
        if not self.impacts or any(
            each.kind not in ON_FILES or not each.target for each in self.impacts
        ):
            return None
        return tuple(each.target for each in self.impacts)

    def _names_of(self, path: str) -> list[str]:
        full = os.path.normpath(os.path.join(self.folder, self.files.expand(path)))  # noqa: PTH118
        real = self._real(full)
        names = [path, full, real]
        for start in {self.folder, self.workspace}:
            names += [os.path.relpath(full, start), os.path.relpath(real, start)]
        return names

    def _place(self, kind: str, target: str) -> str:
        if kind not in ON_FILES or not target or "\0" in target:
            return target
        there = Workspace(self.folder, self.files)
        try:
            # Deleting a link deletes the link, in a folder that may be another one than it says.
            return there.place(target) if kind == "delete" else there.path(target)
        except (OSError, Problem):
            return os.path.normpath(os.path.join(self.folder, target))  # noqa: PTH118

    def _real(self, path: str) -> str:
        """The real path; as it is written if the place cannot tell. Then the call fails, too."""
        try:
            return self.files.real(path)
        except OSError:
            logger.debug("cannot tell the real path of %r", path, exc_info=True)
            return path

    def _is_harmless(self, path: str) -> bool:
        if not path:
            return False
        try:
            real, home = self.files.real(path), self.files.home()
        except OSError:
            return False
        inside = all(is_inside(each, self.workspace) for each in (path, real))
        return inside and protection_of(real, home) is None

    @cached_property
    def _declared(self) -> tuple[Impact, ...]:
        """What the tool says of itself."""
        if self.entry.effects == "read":
            kind = "read" if self.objection is None else "secrets"
            return tuple(Impact(kind, self._place("read", each)) for each in self.named_paths)
        if self.entry.effects != "write" or not self.named_paths:
            return ()
        gone = _removed_by(self.call.args)
        return tuple(
            Impact(kind, self._place(kind, path))
            for path in self.named_paths
            for kind in (("delete",) if path in gone else ("write",))
        )


def kind_called(kind: str) -> str:
    """The name of a kind of effect, as rules have it."""
    return KINDS.get(kind, kind)


def case_of(
    entry: ToolEntry, call: ToolCall, context: Mapping[str, Any], objection: Objection | None
) -> Case:
    """What is known of a call; looks at the disk, so call it in a tool thread."""
    there = (objection.cwd if objection else "") or str(call.args.get("workdir") or "")
    reads_only = only_reads(entry, call, context)
    if entry.works_in == "kernel":
        context = {**context, "environment": None, "cwd": os.getcwd()}  # noqa: PTH109
    try:
        workspace = workspace_of(context)
        folder, project = workspace.real_folder, _project(workspace, context)
        if there.strip() and "\0" not in there:
            folder = workspace.path(there)
    except (OSError, HostError) as error:  # fail closed: a person is asked, whatever it is
        objection = _unseen(call, error)
        return Case(call=call, entry=entry, folder="/", workspace="/", objection=objection)
    return Case(
        call=call,
        entry=entry,
        folder=folder,
        workspace=project,
        objection=objection,
        reads_only=reads_only,
        files=workspace.files,
    )


def _unseen(call: ToolCall, error: Exception) -> Objection:
    """Where it would work cannot be looked at, so that nobody knows what it touches."""
    return Objection(
        reason=f"works where nothing can be looked at now ({error})",
        shown=json.dumps(dict(call.args), ensure_ascii=False, indent=2, default=str),
        grant=f"this exact {call.name} call",
        firm=True,
    )


def _project(workspace: Workspace, context: Mapping[str, Any]) -> str:
    """The real folder of the project; elsewhere, what the environment calls its workspace."""
    if workspace.files.name:
        named = getattr(context.get("environment"), "workspace", None)
    else:
        named = context.get("workspace")
    return workspace.files.real(str(named)) if named else workspace.real_folder


def only_reads(entry: ToolEntry, call: ToolCall, context: Mapping[str, Any]) -> bool:
    """Does the call surely change nothing?"""
    if entry.reads_only is None:
        return entry.effects == "read"
    try:
        return entry.reads_only(call.args, **context) is True
    except (Exception, SystemExit):  # fail closed: a broken check is no permission
        logger.warning("%r cannot tell whether it only reads", entry.name, exc_info=True)
        return False


def _removed_by(args: Mapping[str, Any]) -> frozenset[str]:
    patch = args.get("patch")
    lines = patch.splitlines() if isinstance(patch, str) else ()
    headers = [found for line in lines if (found := v4a.HEADER.match(line))]
    return frozenset(
        found[2].split(" -> ")[0].strip() for found in headers if found[1] in ("Delete", "Move")
    )
