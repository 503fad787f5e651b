"""How often each tool was called, in all kernels of this user: what is used, stays in sight."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.async_bridge import in_tool_thread
from tools.files.local_place import LOCAL
from tools.files.problems import Problem

try:
    import fcntl
except ImportError:  # not on Windows; there a count may be lost when two kernels meet
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

MOST = 10_000
"""Calls that are remembered. Beyond it all counts are halved, so that old habits fade."""
MAX_BYTES = 1_000_000


class ToolUsage:
    """Counts calls in memory, and adds them to the file when it is told to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # guards the counts
        self._writing = threading.Lock()
        self._new: Counter[str] = Counter()  # not in the file yet
        self._saves: set[asyncio.Task[None]] = set()

    def note(self, tool: str) -> None:
        """Count one call. Never waits."""
        with self._lock:
            self._new[tool] += 1

    def counts(self) -> Mapping[str, int]:
        """All calls so far, those that only the file knows included. Reads the disk."""
        there = _counts_in(self._path)
        with self._lock:
            return there + self._new

    def save_soon(self) -> None:
        """Write in a tool thread; the caller, a coroutine, does not wait for it."""
        if self._new:
            task = asyncio.get_running_loop().create_task(in_tool_thread(self.save))
            self._saves.add(task)
            task.add_done_callback(self._saves.discard)

    def save(self) -> None:
        """Add the new counts to the file. Where it cannot be written, they stay in memory."""
        with self._writing:
            with self._lock:
                new = Counter(self._new)
            try:
                if new:
                    self._add(new)
            except (OSError, Problem):
                logger.debug("the use of tools is not kept in %s", self._path, exc_info=True)
                return
            with self._lock:
                self._new -= new

    def _add(self, new: Counter[str]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._path.with_suffix(".lock")):
            counts = _counts_in(self._path) + new
            while counts.total() > MOST:
                counts = Counter({tool: count // 2 for tool, count in counts.items() if count > 1})
            text = json.dumps({"v": 1, "counts": counts})
            LOCAL.write_bytes_atomic(str(self._path), text.encode(), 0o600)


def _counts_in(path: Path) -> Counter[str]:
    """What the file says; nothing if it is missing or damaged."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return Counter()
    counts = found.get("counts") if isinstance(found, dict) else None
    if not isinstance(counts, dict):
        return Counter()
    return Counter({tool: count for tool, count in counts.items() if _is_count(count)})


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value <= MOST


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Held by one process at a time. The lock ends with its holder."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
