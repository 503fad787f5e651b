"""Whether a tool can work here and now, and if not, why and what would help.

Asked before every model call, so nobody waits for an answer but the first time: one that is older
than 30 seconds still counts, while a thread in the background asks anew. A failure within a minute
of the last success is taken for a flicker (a Docker socket under load) and not believed yet.
Only ``check_fn`` decides; ``requires_env`` names what to set when it says no.
"""

from __future__ import annotations

import inspect
import logging
import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tools import async_bridge
from tools.background_threads import BackgroundThreads
from tools.entry import ToolEntry

logger = logging.getLogger(__name__)

KEPT_SECONDS = 30.0
FLICKER_SECONDS = 60.0
FLICKER_RETRY_SECONDS = 5.0
PATIENCE_SECONDS = 2.0
"""How long the first answer of a check is waited for."""

CheckFn = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Availability:
    """What a check found out."""

    ok: bool
    reason: str = ""
    """Why not, for a person; empty when nothing is known beyond yes or no."""
    remedy: str = ""


AVAILABLE = Availability(ok=True)
WAITING = Availability(ok=False, reason="its check waits for others that hang")
PENDING = Availability(ok=False, reason="its check has not answered yet")


class _Record:
    """What is known of one check, as long as the function lives. Guarded by the cache's lock."""

    def __init__(self, check_fn: CheckFn, forget: Callable[[object], None]) -> None:
        self.function = _weak(check_fn, forget)
        self.answer: Availability | None = None
        self.known = threading.Event()
        self.is_told = False
        """Has anybody been given an answer?"""
        self.success: Availability | None = None
        self.succeeded_at = -math.inf
        self.due = math.inf
        """When to look at it next."""
        self.asking = False
        self.thread: int | None = None
        """Where it is asked, once that has begun."""
        self.outdated = False
        """Was everything forgotten while it is asked?"""


class AvailabilityCache:
    """Answers of checks, by function. Safe to use from any thread.

    Parameters
    ----------
    clock
        Seconds that only grow.
    patience
        Seconds to wait for the first answer of a check.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._late = Availability(False, f"its check takes longer than {patience:g} s")
        self.version = 0
        """Grows when an answer has changed that somebody was given."""
        self._reset()

    def _reset(self) -> None:
        """Begin anew; also in a forked child, which has no threads and perhaps their locks."""
        self._lock = threading.RLock()
        self._records: dict[tuple[int, int], _Record] = {}
        self._threads = BackgroundThreads(self._clock, patience=self._patience)
        self._due = math.inf

    def check(self, check_fn: CheckFn | None, requires_env: Iterable[str] = ()) -> Availability:
        """What ``check_fn`` said last. Without one, a tool is available.

        It returns true or false, ``(ok, reason)``, or an `Availability`; an exception means no.
        It is called in a thread in the background; only its first answer is waited for, and not
        for long. On the agent's own loop, not even that.
        """
        record = self._look_up(check_fn)
        self._await_first([record])
        return self._told(record, check_fn, requires_env)

    def check_all(self, entries: Sequence[ToolEntry]) -> list[Availability]:
        """The same for many tools, whose first answers are waited for together."""
        records = [self._look_up(entry.check_fn) for entry in entries]
        self._await_first(records)
        return [
            self._told(record, entry.check_fn, entry.requires_env)
            for record, entry in zip(records, entries, strict=True)
        ]

    def stamp(self) -> int:
        """The `version`, for whoever keeps what was made of the answers. Costs next to nothing.

        Asks anew, in the background, what is old: call it before each use of what was kept.
        """
        if self._clock() >= self._due:
            self._look_after()
        return self.version

    def invalidate(self) -> None:
        """Forget all answers, as after a change of the environment."""
        with self._lock:
            self.version += 1
            # A check that hangs is not begun a second time: it is asked anew when it has ended.
            records = list(self._records.items())
            self._records = {key: record for key, record in records if record.asking}
            for record in self._records.values():
                record.outdated = True
                record.answer = record.success = None
                record.succeeded_at = -math.inf
                record.known.clear()

    def _look_up(self, check_fn: CheckFn | None) -> _Record | None:
        """The record of a check, which is asked if need be."""
        if check_fn is None:
            return None
        key = _key(check_fn)
        with self._lock:
            record = self._records.get(key)
            if record is None or record.function() is None:
                forget = partial(_forget, weakref.ref(self), key)
                record = self._records[key] = _Record(check_fn, forget)
            if not record.asking and (record.answer is None or self._clock() >= record.due):
                self._ask(record)
            return record

    def _await_first(self, records: Iterable[_Record | None]) -> None:
        """Wait for the answers that are not known yet, all in all no longer than patience."""
        unknown = {id(record): record for record in records if record and record.answer is None}
        if not unknown:
            return
        blocks = async_bridge.on_persistent_loop()
        end = time.monotonic() + self._patience
        for record in unknown.values():
            if blocks or record.thread == threading.get_ident():
                continue
            record.known.wait(max(0.0, end - time.monotonic()))
            with self._lock:
                if record.answer is None:
                    record.answer = self._late if record.thread else WAITING

    def _told(
        self, record: _Record | None, check_fn: CheckFn | None, requires_env: Iterable[str]
    ) -> Availability:
        if record is None:
            return AVAILABLE
        with self._lock:
            record.is_told = True
            answer = record.answer or PENDING
        if answer.ok or answer.reason or check_fn is None:
            return answer
        return _explained(check_fn, requires_env)

    def _look_after(self) -> None:
        """Ask what is old, and give up on what hangs for too long."""
        with self._lock:
            now = self._clock()
            self._threads.relieve()
            for record in list(self._records.values()):
                if now < record.due:
                    continue
                if record.asking:
                    self._publish(record, self._late)
                    record.due = math.inf
                else:
                    self._ask(record)
            self._reckon()

    def _ask(self, record: _Record) -> None:
        record.asking, record.thread = True, None
        record.due = math.inf
        if record.answer is not None:
            record.due = max(self._clock() + self._patience, record.succeeded_at + FLICKER_SECONDS)
        self._threads.add(partial(self._run, record), urgent=record.answer is None)
        self._reckon()

    def _run(self, record: _Record) -> None:
        """Ask a check; in a thread in the background."""
        with self._lock:
            record.thread, record.outdated = threading.get_ident(), False
        check_fn = record.function()
        found = _ask(check_fn) if check_fn else PENDING  # nobody has the function any more
        del check_fn
        with self._lock:
            record.asking, record.thread = False, None
            if record.outdated:
                self._ask(record)
            else:
                self._learn(record, found)

    def _learn(self, record: _Record, found: Availability) -> None:
        now = self._clock()
        record.due = now + KEPT_SECONDS
        if found.ok:
            record.success, record.succeeded_at = found, now
        elif record.success and now - record.succeeded_at < FLICKER_SECONDS:
            found = record.success
            record.due = now + FLICKER_RETRY_SECONDS
        self._publish(record, found)
        record.known.set()
        self._reckon()

    def _publish(self, record: _Record, answer: Availability) -> None:
        if record.is_told and record.answer != answer:
            self.version += 1
        record.answer = answer

    def _reckon(self) -> None:
        """Note when to look after the records next."""
        soon = self._clock() + self._patience if self._threads.waiting else math.inf
        # A list: a function may vanish, and its record with it, at any moment.
        self._due = min([soon, *[record.due for record in list(self._records.values())]])


def _key(check_fn: CheckFn) -> tuple[int, int]:
    """The same for all bound methods of an object, which come and go."""
    if inspect.ismethod(check_fn):
        return id(check_fn.__self__), id(check_fn.__func__)
    return id(check_fn), 0


def _weak(check_fn: CheckFn, forget: Callable[[object], None]) -> Callable[[], CheckFn | None]:
    try:
        if inspect.ismethod(check_fn):
            return weakref.WeakMethod(check_fn, forget)
        return weakref.ref(check_fn, forget)
    except TypeError:  # a kind of object that cannot be watched
        return lambda: check_fn


def _forget(cache: weakref.ref[AvailabilityCache], key: tuple[int, int], _: object) -> None:
    """The function of a record is gone; may be called in the middle of anything."""
    there = cache()
    if there is not None:
        there._records.pop(key, None)  # one step, so it needs no lock


def _ask(check_fn: CheckFn) -> Availability:
    try:
        return _understood(check_fn())
    except BaseException as error:  # whatever it is, the thread must live
        logger.info("availability check %r failed", check_fn, exc_info=True)
        return Availability(ok=False, reason=f"its check failed: {type(error).__name__}: {error}")


def _understood(said: Any) -> Availability:
    match said:
        case Availability():
            return said
        case (ok, reason):
            return AVAILABLE if ok else Availability(ok=False, reason=str(reason or ""))
    if inspect.iscoroutine(said):
        said.close()
        raise TypeError("check_fn must be a plain function, not a coroutine function")
    return Availability(ok=bool(said))


def _explained(check_fn: CheckFn, requires_env: Iterable[str]) -> Availability:
    missing = [name for name in requires_env if not os.environ.get(name)]
    if missing:
        names = ", ".join(missing)
        return Availability(ok=False, reason=f"needs {names}", remedy=f"set {names}")
    name = getattr(check_fn, "__name__", repr(check_fn))
    return Availability(ok=False, reason=f"{name}() said no")


_cache = AvailabilityCache()
check = _cache.check
check_all = _cache.check_all
stamp = _cache.stamp
invalidate = _cache.invalidate

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_cache._reset)
