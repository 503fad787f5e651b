"""Ending code that runs in the cell's thread: at its deadline, or when the person interrupts.

Only a signal wakes what sleeps in the system, and only the main thread hears it. So a deadline
sends one as well; in other threads an exception is planted, which the next step of Python meets.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS_TO_ARRIVE = 0.5
"""For a signal that was sent just as the code ended."""


class Interrupts:
    """Those of one run of code. `heard` in the thread that runs it, `send` in any other."""

    def __init__(self) -> None:
        self.by_person = False
        """Has the person interrupted?"""
        self._lock = threading.Lock()  # guards the sending against the end of the block
        self._active = False
        self._underway = 0
        self._thread = 0

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Let an interrupt raise a KeyboardInterrupt in the block, and nothing behind it."""
        if self._active:  # all of this run is in such a block
            yield
            return
        self._thread = threading.get_ident()
        if threading.current_thread() is not threading.main_thread():
            with self._planted():
                yield
            return
        usual = signal.signal(signal.SIGINT, self._hear)
        try:
            try:
                self._active = True
                yield
            finally:
                self._active = False
        finally:
            self._active = False
            self._settle()
            signal.signal(signal.SIGINT, usual)

    def send(self) -> bool:
        """Interrupt the code, if it runs just now."""
        with self._lock:
            if not self._active:
                return False
            if self._thread == threading.main_thread().ident:
                self._underway += 1
                signal.pthread_kill(self._thread, signal.SIGINT)
            else:
                _plant(self._thread, KeyboardInterrupt)
            return True

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._underway:
            self._underway -= 1
        else:
            self.by_person = True
        if self._active:
            raise KeyboardInterrupt

    def _settle(self) -> None:
        """Wait for a signal that is on its way: nobody else shall hear it."""
        with self._lock:  # whoever sends now has sent
            pass
        deadline = time.monotonic() + SECONDS_TO_ARRIVE
        while self._underway and time.monotonic() < deadline:
            time.sleep(0.001)

    @contextmanager
    def _planted(self) -> Iterator[None]:
        self._active = True
        try:
            yield
        finally:
            with self._lock:
                self._active = False
            _plant(self._thread, None)


def _plant(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )
