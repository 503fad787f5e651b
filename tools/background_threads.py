"""Few daemon threads for small jobs that nobody waits for long, and some of which may hang.

`tools.async_bridge` has the threads in which tools run; a job here takes none of them away.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

Clock = Callable[[], float]
Job = Callable[[], None]


class BackgroundThreads:
    """One thread does all jobs, one after the other, and ends when there are none.

    It is joined by others, up to ``limit``, when a job is urgent, or when all threads hang: each
    is busy with one job for longer than ``patience`` seconds.
    """

    def __init__(self, clock: Clock, *, patience: float, limit: int = 8) -> None:
        self._clock = clock
        self._patience = patience
        self._limit = limit
        self._lock = threading.Lock()
        self._jobs: deque[Job] = deque()
        self._busy_since: dict[threading.Thread, float] = {}

    @property
    def waiting(self) -> bool:
        """Does a job wait for a thread?"""
        return bool(self._jobs)

    def __len__(self) -> int:
        """How many threads there are now."""
        return len(self._busy_since)

    def add(self, job: Job, *, urgent: bool = False) -> None:
        """Have ``job`` done, which must not raise. Returns at once."""
        with self._lock:
            self._jobs.append(job)
            if urgent or self._all_hang():
                self._start_thread()

    def relieve(self) -> None:
        """Start another thread if jobs wait for others that hang."""
        with self._lock:
            if self._jobs and self._all_hang():
                self._start_thread()

    def _all_hang(self) -> bool:
        since = self._clock() - self._patience
        return all(began <= since for began in self._busy_since.values())

    def _start_thread(self) -> None:
        if len(self._busy_since) < self._limit:
            thread = threading.Thread(target=self._work, name="hermes-background", daemon=True)
            self._busy_since[thread] = self._clock()
            try:
                thread.start()
            except RuntimeError:  # no room for one more, or the process ends: `relieve` tries again
                del self._busy_since[thread]
                logger.warning("cannot start a thread in the background", exc_info=True)

    def _work(self) -> None:
        thread = threading.current_thread()
        while True:
            with self._lock:
                if not self._jobs:
                    del self._busy_since[thread]
                    return
                job = self._jobs.popleft()
                self._busy_since[thread] = self._clock()
            job()
            del job  # or the last one would be kept alive
