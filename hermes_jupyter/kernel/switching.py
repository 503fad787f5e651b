"""Let the threads of this process take turns more often while an agent works.

A cell that computes in Python holds the interpreter for 5 ms at a time, and an answer passes six
threads and more on its way from the click to the tool. Each of them waits so long for its turn,
and again after each read or write.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 0.0005
"""A tenth of Python's own. It costs nothing where nobody waits for a turn, and some 5 % of the
speed of two threads that compute side by side all the time."""

_lock = threading.Lock()  # guards the next one


class _Switching:
    """How many agents work, and what was so before the first."""

    agents = 0
    usual = 0.0


@contextmanager
def often() -> Iterator[None]:
    """In the block. Any thread, and several at once; what the user sets meanwhile stays."""
    with _lock:
        if _Switching.agents == 0:
            _Switching.usual = sys.getswitchinterval()
            if _Switching.usual > SECONDS:
                sys.setswitchinterval(SECONDS)
        _Switching.agents += 1
    try:
        yield
    finally:
        with _lock:
            _Switching.agents -= 1
            if _Switching.agents == 0 and _Switching.usual > sys.getswitchinterval() == SECONDS:
                sys.setswitchinterval(_Switching.usual)
