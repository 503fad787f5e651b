"""The cell of a turn in the background: it has returned, and the turn goes on below it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.free_time import FreeTime

T = TypeVar("T")
SECONDS_TO_THE_NEXT = 0.4


class BackgroundCell(Cell):
    """Its jobs run in the thread of cells when that is free.

    Parameters
    ----------
    free
        When that is; None where nobody knows, and no job can run.
    """

    is_background = True

    def __init__(self, kernel: Any, owned: set[str], free: FreeTime | None) -> None:
        super().__init__(kernel, owned)
        self._prompts: deque[Callable[[], None]] = deque()
        self._prompted = threading.Event()
        self._asks_now = False
        if free is not None:
            self.serve(lambda job: free.post(job, self.parent))

    @property
    def asks_now(self) -> bool:
        """Does a cell lend its thread for questions just now?"""
        return self._asks_now

    async def in_attended_thread(self, job: Callable[..., T], *args: Any) -> T:
        """Run a job that asks a person, in the thread of the next cell that is there for it."""
        outcome: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            if outcome.done():  # withdrawn
                return
            try:
                found = job(*args)
            except KeyboardInterrupt:
                self._prompts.appendleft(run)  # the question stays open
                raise
            except Exception as error:  # noqa: BLE001 - belongs to whoever awaits the job
                with suppress(concurrent.futures.InvalidStateError):
                    outcome.set_exception(error)
            else:
                with suppress(concurrent.futures.InvalidStateError):
                    outcome.set_result(found)

        self._prompts.append(run)
        self._prompted.set()
        return await asyncio.wrap_future(outcome)

    def ask_here(self) -> int:
        """Ask what waits to be asked, in this thread; how much that was.

        One answer may bring the next question, for which it waits a moment.
        """
        self._asks_now, asked = True, 0
        try:
            while self._prompts:
                self._prompted.clear()
                self._prompts.popleft()()
                asked += 1
                if not self._prompts:
                    self._prompted.wait(SECONDS_TO_THE_NEXT)
        finally:
            self._asks_now = False
        return asked
