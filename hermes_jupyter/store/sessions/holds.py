"""Which sessions are open in this process, told to others by locks that end with it.

All locks are bytes of one file, so nothing is left behind and nothing has to be cleaned up.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there two kernels may go on with one session
    fcntl = None  # type: ignore[assignment]


class Holds:
    """The sessions that this process has open. Only one object may use a file in a process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # guards the next three
        self._descriptor: int | None = None
        self._held: set[int] = set()
        self._process = os.getpid()

    def take(self, number: int) -> bool:
        """Hold the session with this number; False if another process does, or we do already."""
        with self._lock:
            if number in self._held and self._process == os.getpid():
                return False
            try:
                self._change(number, take=True)
            except BlockingIOError:
                return False
            self._held.add(number)
            return True

    def give_up(self, number: int) -> None:
        """Let others have it."""
        with self._lock:
            if number in self._held and self._process == os.getpid():
                self._held.discard(number)
                self._change(number, take=False)

    def is_free(self, number: int) -> bool:
        """Is it open nowhere?"""
        if not self.take(number):
            return False
        self.give_up(number)
        return True

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None
            self._held.clear()

    def _change(self, number: int, *, take: bool) -> None:
        if self._process != os.getpid():  # a fork has none of its parent's locks
            self._held.clear()
            self._process = os.getpid()
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            how = fcntl.LOCK_EX | fcntl.LOCK_NB if take else fcntl.LOCK_UN
            try:
                fcntl.lockf(self._descriptor, how, 1, number)
            except PermissionError as error:  # what some systems say for "held by another"
                raise BlockingIOError(str(error)) from error
