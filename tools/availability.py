"""Whether a tool can work here and now, and if not, why and what would help.

Asked before every model call, so answers are kept for 30 seconds. A failure within a minute of
the last success is taken for a flicker (a Docker socket under load) and not believed yet.
Only ``check_fn`` decides; ``requires_env`` names what to set when it says no.
"""

from __future__ import annotations

import inspect
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger(__name__)

KEPT_SECONDS = 30.0
FLICKER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Availability:
    """What a check found out."""

    ok: bool
    reason: str = ""
    """Why not, for a person; empty when nothing is known beyond yes or no."""
    remedy: str = ""


AVAILABLE = Availability(ok=True)


class _Record:
    """What is remembered of one check. Its lock lets one thread check while others wait."""

    __slots__ = ("answer", "check_fn", "checked_at", "lock", "succeeded_at", "success")

    def __init__(self, check_fn: Callable[[], Any]) -> None:
        self.check_fn = check_fn  # keeps the id, which is the key, from being used again
        self.lock = threading.RLock()
        self.answer: Availability | None = None
        self.checked_at = 0.0
        self.success: Availability | None = None
        self.succeeded_at = 0.0


class AvailabilityCache:
    """Answers of checks, by function. Safe to use from any thread.

    Parameters
    ----------
    clock
        Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._records: dict[int, _Record] = {}

    def check(
        self, check_fn: Callable[[], Any] | None, requires_env: Iterable[str] = ()
    ) -> Availability:
        """Ask ``check_fn``, or remember what it said. Without one, a tool is available.

        It returns true or false, ``(ok, reason)``, or an `Availability`; an exception means no.
        """
        if check_fn is None:
            return AVAILABLE
        with self._lock:
            record = self._records.setdefault(id(check_fn), _Record(check_fn))
        with record.lock:
            answer = self._answer(record)
        return answer if answer.ok or answer.reason else _explained(check_fn, requires_env)

    def invalidate(self) -> None:
        """Forget all answers, as after a change of the environment."""
        with self._lock:
            self._records.clear()

    def _answer(self, record: _Record) -> Availability:
        if record.answer and self._clock() - record.checked_at < KEPT_SECONDS:
            return record.answer
        found = _ask(record.check_fn)
        now = self._clock()
        if found.ok:
            record.success, record.succeeded_at = found, now
        elif record.success and now - record.succeeded_at < FLICKER_SECONDS:
            return record.success  # not kept: the next one asks again
        record.answer, record.checked_at = found, now
        return found


def _ask(check_fn: Callable[[], Any]) -> Availability:
    try:
        return _understood(check_fn())
    except (Exception, SystemExit) as error:
        logger.warning("availability check %r failed", check_fn, exc_info=True)
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


def _explained(check_fn: Callable[[], Any], requires_env: Iterable[str]) -> Availability:
    missing = [name for name in requires_env if not os.environ.get(name)]
    if missing:
        names = ", ".join(missing)
        return Availability(ok=False, reason=f"needs {names}", remedy=f"set {names}")
    name = getattr(check_fn, "__name__", repr(check_fn))
    return Availability(ok=False, reason=f"{name}() said no")


_cache = AvailabilityCache()
check = _cache.check
invalidate = _cache.invalidate
