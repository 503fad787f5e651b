"""Which folder a call works in, and what a path of the model's means there."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.environments.host import HostError
from tools.files import globs
from tools.files.findings import Clock, Query
from tools.files.local_place import LOCAL
from tools.files.paths import SKIPPED_FOLDERS, is_inside, name_in
from tools.files.place import Place
from tools.files.problems import Problem, shown

LOOKED_AT = 2_000
"""Entries looked at when a missing file is searched for under another folder."""
SUGGESTED = 5
SECONDS_THERE = 2.0
"""For the same search on another machine."""


@dataclass(frozen=True)
class Workspace:
    """A folder, and the files of the machine it is on."""

    folder: str
    files: Place = LOCAL

    @cached_property
    def real_folder(self) -> str:
        return self.files.real(self.folder)

    def path(self, given: str) -> str:
        """The real path that the model means, all links followed."""
        return self.files.real(self._absolute(given))

    def place(self, given: str) -> str:
        """The same, but a link at the end stays a link: what deleting and moving act on."""
        absolute = self._absolute(given)
        name = os.path.basename(absolute)  # noqa: PTH119
        if name in ("", ".", ".."):
            return self.files.real(absolute)
        return os.path.join(self.files.real(os.path.dirname(absolute)), name)  # noqa: PTH118,PTH120

    def contains(self, path: str) -> bool:
        return is_inside(path, self.real_folder)

    def name(self, path: str) -> str:
        """The path as the model may use it: relative in the workspace, else absolute."""
        return name_in(self.real_folder, path)

    def _absolute(self, given: str) -> str:
        if not given.strip():
            raise Problem("The path is empty; name a file")
        if "\0" in given:
            raise Problem(
                f"The path {given!r} has a NUL character in it; no file can have that name"
            )
        try:
            os.fsencode(given)
        except UnicodeEncodeError:
            raise Problem(f"The path {given!r} has characters that no file name can have") from None
        return os.path.join(self.folder, self.files.expand(given))  # noqa: PTH118


def workspace_of(context: Mapping[str, Any]) -> Workspace:
    """The workspace of a call, from the keywords its handler received."""
    return Workspace(folder_of(context), place_of(context.get("environment")))


def place_of(environment: object) -> Place:
    """Where the commands of an environment find files; this machine if it does not say."""
    return getattr(environment, "files", None) or LOCAL


def folder_of(context: Mapping[str, Any]) -> str:
    """Where a call works: the environment's folder, else the caller's, else the process's.

    Raises
    ------
    ConnectionError
        If the environment cannot tell.
    """
    try:
        here = getattr(context.get("environment"), "cwd", None)
    except HostError as error:
        raise ConnectionError(str(error)) from error
    return str(here or context.get("cwd") or Path.cwd())


def missing(workspace: Workspace, path: str) -> Problem:
    """The problem that nothing is at ``path``, with names that may have been meant."""
    folder, name = os.path.split(path)
    while (status := workspace.files.stat(folder)) is None and folder != os.path.dirname(folder):  # noqa: PTH120
        folder = os.path.dirname(folder)  # noqa: PTH120
    if status is None or status.kind != "folder":
        return Problem(f"No such file: {shown(path)}; {shown(folder)} is not a folder")
    similar = _similar_names(workspace, folder, name) or _namesakes(workspace, name)
    said = f"No such file: {shown(path)}"
    return Problem(said, similar_files=similar) if similar else Problem(said)


def _similar_names(workspace: Workspace, folder: str, name: str) -> list[str]:
    names = [entry.name for entry in workspace.files.iterdir(folder)[:LOOKED_AT]]
    wanted = name.lower()
    by_case = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(wanted, by_case, n=SUGGESTED, cutoff=0.6)
    stem = Path(wanted).stem
    same_stem = [lower for lower in by_case if Path(lower).stem == stem and lower not in close]
    chosen = [by_case[lower] for lower in (*close, *same_stem)][:SUGGESTED]
    return [workspace.name(os.path.join(folder, each)) for each in chosen]  # noqa: PTH118


def _namesakes(workspace: Workspace, name: str) -> list[str]:
    if workspace.files.name:
        return _namesakes_there(workspace, name)
    wanted = name.lower()
    found = (path for path, each in _below(workspace) if each.lower() == wanted)
    return [workspace.name(path) for path, _ in zip(found, range(SUGGESTED), strict=False)]


def _namesakes_there(workspace: Workspace, name: str) -> list[str]:
    """The same on another machine, where each folder would be a trip: in one."""
    if not name or globs.is_glob(name):
        return []
    query = Query(pattern=name, root=workspace.real_folder, folder=workspace.real_folder)
    found = workspace.files.search_names(query, Clock(time.monotonic() + SECONDS_THERE)).counts
    wanted = name.lower()
    return [path for path in found if os.path.basename(path).lower() == wanted][:SUGGESTED]  # noqa: PTH119


def _below(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Files under the workspace, nearest folders first, until enough was looked at."""
    folders, looked_at = [workspace.real_folder], 0
    for folder in folders:
        try:
            entries = workspace.files.iterdir(folder)
        except OSError:  # a folder that may not be read has nothing to suggest
            continue
        for entry in entries:
            looked_at += 1
            path = os.path.join(folder, entry.name)  # noqa: PTH118
            if entry.kind == "file":
                yield path, entry.name
            elif entry.kind == "folder" and not entry.is_link and entry.name not in SKIPPED_FOLDERS:
                folders.append(path)
        if looked_at > LOOKED_AT:
            return
