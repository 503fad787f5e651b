"""A lock that kernels share, for files that more than one of them may change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: two kernels that write in one moment are not kept apart there
    fcntl = None  # type: ignore[assignment]

PATIENCE = 2.0
LOOK_SECONDS = 0.01


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that the file ``path`` stands for; it is made if need be.

    Raises
    ------
    OSError
        If it cannot be made, or others hold it for long.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            _take(descriptor)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
        time.sleep(LOOK_SECONDS)
