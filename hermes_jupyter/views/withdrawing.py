"""A prompt that ends when its question was answered elsewhere.

``input()`` waits for a line and for nothing else; only an interrupt of its thread ends it. So
that is what it gets, and nobody else hears of it.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable

# Where there are signals of threads, one ends a terminal's read, too.
HAS_SIGNALS = hasattr(signal, "pthread_kill")
STEP_SECONDS = 0.001
MAX_SECONDS = 1.0
"""So long an interrupt that was sent is waited for."""

Run = Callable[[Callable[[], str]], Awaitable[str]]


async def withdrawable(run: Run, ask: Callable[[], str]) -> str:
    """What ``ask()`` returns, run by ``run`` in the cell's thread; if this is cancelled, it ends.

    Raises
    ------
    asyncio.CancelledError
        When it is cancelled.
    """
    prompt = _Prompt(ask)
    try:
        return await run(prompt.ask)
    except asyncio.CancelledError:
        prompt.withdraw()
        raise


class _Prompt:
    """Asks in one thread, and is withdrawn from another."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._lock = threading.Lock()  # guards the next three
        self._thread = 0
        self._is_withdrawn = False
        self._is_interrupted = False

    def ask(self) -> str:
        """The line; an empty one that nobody reads if it was withdrawn."""
        try:
            with self._lock:
                if self._is_withdrawn:
                    return ""
                self._thread = threading.get_ident()
            line = self._ask()
            with self._lock:
                self._thread = 0
            self._wait_for_interrupt()
            return line
        except KeyboardInterrupt:
            if not self._is_withdrawn:  # a person's own
                raise
            return ""

    def withdraw(self) -> None:
        """End it if it asks, else keep it from asking."""
        with self._lock:
            self._is_withdrawn = True
            if self._thread == threading.main_thread().ident:  # no other can be interrupted
                self._is_interrupted = True
                _interrupt_main()

    def _wait_for_interrupt(self) -> None:
        """A line and an interrupt may come together: the interrupt must not hit what follows."""
        end = time.monotonic() + MAX_SECONDS
        while self._is_interrupted and time.monotonic() < end:
            time.sleep(STEP_SECONDS)


def _interrupt_main() -> None:
    if HAS_SIGNALS:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
