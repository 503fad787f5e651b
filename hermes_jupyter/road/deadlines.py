"""Deadlines of calls: awaited on a loop, or kept by one thread for callers that have none."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

TICK_SECONDS = 0.25


class Flag:
    """Says that a call shall end. Offers what handlers use of a ``threading.Event``.

    It becomes a real one only for those who wait for it: most calls never do.
    """

    __slots__ = ("_event", "_job", "_raised")
    _making = threading.Lock()

    def __init__(self) -> None:
        self._raised = False
        self._event: threading.Event | None = None
        self._job: Callable[[], None] | None = None

    def is_set(self) -> bool:
        return self._raised

    def set(self) -> None:
        self._raised = True
        if self._event is not None:
            self._event.set()
        if self._job is not None:
            self._job()

    def when_set(self, job: Callable[[], None]) -> None:
        """Have ``job`` done once it is set, in whichever thread sets it; for one who awaits."""
        self._job = job
        if self._raised:
            job()

    def wait(self, timeout: float | None = None) -> bool:
        with self._making:
            if self._event is None:
                self._event = threading.Event()
        if self._raised:  # looked at after the event is there, so that no set() is missed
            self._event.set()
        return self._event.wait(timeout)


async def ends_within(task: asyncio.Task[Any], seconds: float) -> bool:
    """Wait for a task at most so long; whether it has ended. It is not cancelled."""
    await asyncio.sleep(0)  # a task that waits for nothing is done now, and needs no timer
    if task.done():
        return True
    loop = task.get_loop()
    waiter = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    task.add_done_callback(wake)
    timer = loop.call_later(seconds, wake)
    try:
        await waiter
    finally:
        timer.cancel()
        task.remove_done_callback(wake)
    return task.done()


class Waits:
    """How long a call has waited for its turn. That is not its own time: no deadline counts it."""

    __slots__ = ("_seconds", "_since")

    def __init__(self) -> None:
        self._seconds = 0.0
        self._since: float | None = None

    @property
    def seconds(self) -> float:
        since = self._since
        return self._seconds + (0.0 if since is None else time.monotonic() - since)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """For the handler: it waits for others in the block."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._seconds, self._since = self.seconds, None


async def ends_in_time(task: asyncio.Task[Any], limit: float, waits: Waits) -> bool:
    """Wait for a task for the seconds that are its own; whether it has ended."""
    began, left = time.monotonic(), limit
    while left > 0:
        if await ends_within(task, left):
            return True
        left = began + limit + waits.seconds - time.monotonic()
    return task.done()


class Deadlines:
    """Raises the flags whose time has come. One thread for all, while there are any."""

    def __init__(self) -> None:
        self._flags: dict[Flag, float] = {}  # changed in single steps, so no lock is needed
        self._wanted = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, flag: Flag) -> Iterator[None]:
        """The time in the block does not count for a flag."""
        end, began = self._flags.pop(flag, None), time.monotonic()
        try:
            yield
        finally:
            if end is not None:
                self.add(flag, end - began)

    def add(self, flag: Flag, seconds: float) -> None:
        self._flags[flag] = time.monotonic() + seconds
        if not self._wanted.is_set():
            self._wanted.set()
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def remove(self, flag: Flag) -> bool:
        """Forget a flag. False if it was raised meanwhile."""
        return self._flags.pop(flag, None) is not None

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():  # not in a forked child
                self._thread = threading.Thread(
                    target=self._watch, name="hermes-deadlines", daemon=True
                )
                self._thread.start()

    def _watch(self) -> None:
        while self._wanted.wait():
            time.sleep(TICK_SECONDS)
            self._wanted.clear()  # before the look, so that what is added meanwhile sets it anew
            now = time.monotonic()
            for flag, end in self._flags.copy().items():
                if end > now:
                    self._wanted.set()
                elif self._flags.pop(flag, None) is not None:
                    flag.set()
