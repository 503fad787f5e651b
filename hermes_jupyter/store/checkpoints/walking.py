"""Go through a workspace: what is there, without reading it."""

from __future__ import annotations

import logging
import os
import stat
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from hermes_jupyter.store.checkpoints.states import SEPARATOR
from tools.files.paths import SKIPPED_FOLDERS

logger = logging.getLogger(__name__)

MOST_ENTRIES = 20_000
"""Names of one workspace that are looked at, nearest the top first."""
SKIPPED = frozenset(map(os.fsencode, SKIPPED_FOLDERS | {"site-packages", ".bundle", ".pnpm-store"}))
SERVERS = (b".jupyter_ystore.db", b"collaboration_sessions.json")
"""Files of jupyter-collaboration, which its server writes whenever somebody types: to put one back
would spoil the notebooks that are open."""
MADE_ANEW = frozenset({b"pyvenv.cfg", b"CACHEDIR.TAG"})
"""A folder with one of these is an environment or a cache: whoever made it can make it again."""


@dataclass(slots=True)
class Found:
    """What a walk has seen."""

    entries: dict[bytes, os.stat_result] = field(default_factory=dict)
    listed: set[bytes] = field(default_factory=set)
    """Folders of which every name is among the entries."""
    left_out: int = 0
    """Folders that were not looked into, since there was enough already."""


def walk(
    root: bytes,
    known: Mapping[bytes, object],
    skipped: Collection[bytes] = (),
    most_entries: int = MOST_ENTRIES,
) -> Found:
    """All entries below ``root``; folders that were known come first.

    Caches, environments and repositories' own folders are left out, and other file systems.
    """
    found = Found()
    top = os.lstat(root)
    near, new = deque([root]), deque[bytes]()
    while near or new:
        folder = near.popleft() if near else new.popleft()
        if len(found.entries) >= most_entries:
            found.left_out += 1
            continue
        entries = _entries(folder)
        if entries is None or (folder != root and not MADE_ANEW.isdisjoint(entries)):
            continue
        found.listed.add(folder)
        for name, about in entries.items():
            path = folder.rstrip(SEPARATOR) + SEPARATOR + name
            if path in skipped or name.startswith(SERVERS):
                continue
            found.entries[path] = about
            if stat.S_ISDIR(about.st_mode) and name not in SKIPPED and about.st_dev == top.st_dev:
                (near if path in known else new).append(path)
    return found


def _entries(folder: bytes) -> dict[bytes, os.stat_result] | None:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: about for entry in entries if (about := _status(entry))}
    except OSError:
        logger.debug("cannot look into %r", folder, exc_info=True)
        return None


def _status(entry: os.DirEntry[bytes]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # it went while the folder was read
        return None
