"""The notebook's kernel as the agent's tools get it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.live.changes import Before, users
from hermes_jupyter.kernel.live.code import is_code
from hermes_jupyter.kernel.live.loops import CodeLoop
from hermes_jupyter.kernel.live.running import Run, run_awaited, run_now
from tools.async_bridge import in_tool_thread
from tools.live import Displayed, Ran

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_TO_END = 0.1
MOST_SECONDS_BUSY = 600.0
"""So long a turn in the background waits for the user's own cells."""
STILL_BUSY = (
    f"the user's own cells have kept the kernel busy for {MOST_SECONDS_BUSY / 60:g} minutes; "
    "nothing was done. Go on with what needs no run_python, or end your turn and say so"
)
WAITS = "waits until your own cell has ended\n"
PENDING = "{} task(s) of the code still wait; they go on while the next run_python awaits"


class Kernel:
    """Runs code in the thread of a cell. See `tools.live.LiveKernel`.

    Parameters
    ----------
    shell
        IPython's.
    stop
        Stops the turn: the person has interrupted the code, and so all of it.
    """

    def __init__(self, shell: Any, cell: Cell, loop: CodeLoop, stop: Callable[[], Any]) -> None:
        self._shell, self._cell, self._loop, self._stop = shell, cell, loop, stop
        self._turn = asyncio.Lock()

    def namespace(self) -> Mapping[str, Any]:
        return dict(self._shell.user_ns)

    def variables(self) -> dict[str, Any]:
        return users(self._shell.user_ns, self._shell.user_ns_hidden)

    def assign(self, name: str, value: Any) -> None:
        self._shell.user_ns[name] = value

    def can_run(self, code: str) -> bool:
        return is_code(code, self._shell)

    async def run(
        self,
        code: str,
        *,
        seconds: float,
        hear: Callable[[str], None],
        waiting: Callable[[], AbstractContextManager[object]] = nullcontext,
        displayed: Displayed | None = None,
    ) -> Ran:
        async with self._turn:
            run = Run(self._shell, code, hear, displayed)
            ending = asyncio.ensure_future(self._started(run))
            try:
                if self._cell.is_background:
                    with waiting():
                        await _begun(run, ending, hear)
                await self._attend(run, ending, seconds)
            except asyncio.CancelledError:
                self._end(run)
                await asyncio.wait({ending}, timeout=SECONDS_TO_END)
                ending.cancel()
                raise
            ran = ending.result()
        if ran.ended == "interrupted":
            self._stop()
        return ran

    async def apply(self, work: Callable[[], T]) -> T:
        """See `tools.live.LiveKernel`; a turn in the background has no cell that waits."""
        cell = self._cell
        if cell.is_background or not cell.waits:
            return await in_tool_thread(work)
        if cell.loop is not None and not cell.blocks_loop:
            called = asyncio.run_coroutine_threadsafe(_called(work), cell.loop)
            return await asyncio.wrap_future(called)
        return await cell.in_cell_thread(work)

    async def _attend(self, run: Run, ending: asyncio.Future[Ran], seconds: float) -> None:
        """Wait for the end, and see to it that it comes in time."""
        while not ending.done():
            began = run.began
            left = seconds if began is None else began + seconds - time.monotonic()
            await asyncio.wait({ending}, timeout=max(left, SECONDS_BETWEEN_LOOKS / 10))
            if not ending.done() and run.began is not None and left <= 0:
                self._end(run)
                await asyncio.wait({ending}, timeout=SECONDS_BETWEEN_LOOKS)

    async def _started(self, run: Run) -> Ran:
        cell = self._cell
        if cell.shares_loop and cell.loop is not None:
            main = run_awaited(run, self._look)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(main, cell.loop))

        def drive(coroutine: Any) -> None:
            left = self._loop.drive(coroutine, self._shell)
            if left:
                run.note(PENDING.format(left))

        return await cell.in_cell_thread(run_now, run, self._look, drive)

    def _end(self, run: Run) -> None:
        """Interrupt the code, in whatever it does or waits for."""
        loop, task = self._cell.loop, run.task
        if not run.interrupts.send() and task is not None and loop is not None:
            loop.call_soon_threadsafe(task.cancel)

    def _look(self) -> Before:
        return Before(self._shell.user_ns, self._shell.user_ns_hidden)


async def _called(work: Callable[[], T]) -> T:
    return work()


async def _begun(run: Run, ending: asyncio.Future[Ran], hear: Callable[[str], None]) -> None:
    """Wait until the code runs, which other cells of the user may delay.

    Raises
    ------
    RuntimeError
        If that takes too long; it will not run any more.
    """
    began, is_told = time.monotonic(), False
    while run.began is None and not ending.done():
        await asyncio.wait({ending}, timeout=SECONDS_BETWEEN_LOOKS / 10)
        waited = time.monotonic() - began
        if waited > SECONDS_BETWEEN_LOOKS and not is_told:
            is_told = True
            hear(WAITS)
        if waited > MOST_SECONDS_BUSY and run.began is None:
            ending.cancel()
            raise RuntimeError(STILL_BUSY)
