"""Folders that belong to one kernel while it lives, and what dead kernels have left of them.

A folder's name says whose it is: the session, the machine, the process, and a random end, since
two kernels may have sessions of the same name.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import secrets
import shutil
import time
from pathlib import Path

logger = logging.getLogger(__name__)

DAY = 86_400.0
WEEK = 7 * DAY
_OWNED = re.compile(r".*\.(?P<machine>[0-9a-f]{8})\.(?P<process>\d+)\.[0-9a-f]{8}", re.DOTALL)


def own_folder(parent: Path, name: str) -> Path:
    """Make a folder of our own below ``parent``, which nobody else may look into."""
    for folder in (*reversed(parent.parents), parent):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    readable = re.sub(r"\W", "_", name, flags=re.ASCII)[:40] or "session"
    own = parent / f"{readable}.{_machine()}.{os.getpid()}.{secrets.token_hex(4)}"
    own.mkdir(mode=0o700)
    return own


def sweep(parent: Path) -> None:
    """Remove what kernels that are dead for more than a day have left."""
    try:
        left = [folder for folder in parent.iterdir() if _is_left_over(folder)]
    except OSError:
        logger.debug("cannot look for what dead kernels have left", exc_info=True)
        return
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)


def _is_left_over(folder: Path) -> bool:
    owner = _OWNED.fullmatch(folder.name)
    if owner is None:
        return False
    age = time.time() - folder.stat().st_mtime
    if owner["machine"] != _machine() or os.name == "nt":  # cannot know whether it lives
        return age > WEEK
    return age > DAY and not _lives(int(owner["process"]))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's, so it is there
        return True
    return True


def _machine() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
