"""Run a tool's coroutine on the kernel's own loop.

For tools registered with ``loop="kernel"``: they use objects that live on that loop, say a session
that the user opened in a cell. While an awaited turn runs, that loop is free. While ``%%agent``
waits, its thread blocks the loop, so the loop is run from inside, which asyncio forbids:
nest-asyncio2 allows it. It is imported and applied here, for these tools, and nowhere else.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Coroutine
from typing import Any

from hermes_jupyter.kernel.cell import Cell

MISSING = 'a tool with loop="kernel" needs nest-asyncio2: pip install "nest-asyncio2>=1.7.3"'
NO_LOOP = "no loop runs in the thread of this cell; await hermes_jupyter.arun() in a notebook"
LOSES_CELLS = (
    "nest_asyncio is applied in this kernel. With ipykernel 7.1 or later it loses cells that are "
    "queued while another runs. Hermes does not need it; nest-asyncio2 is safe."
)


class KernelLoop:
    """The loop of the thread that runs a cell."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._task: asyncio.Task[Any] | None = None

    async def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run the coroutine there and wait for it here, on the agent loop.

        Raises
        ------
        RuntimeError
            If there is no such loop, or nest-asyncio2 is needed and missing.
        """
        loop = self._cell.loop
        if loop is None:
            coroutine.close()
            raise RuntimeError(NO_LOOP)
        try:
            if self._cell.blocks_loop:
                return await self._cell.in_cell_thread(self._drive, loop, coroutine)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))
        finally:
            if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                coroutine.close()
            elif self._task is not None:  # no effect if it has ended
                loop.call_soon_threadsafe(self._task.cancel)

    def _drive(self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """In the cell's thread: run the loop until the coroutine has ended."""
        try:
            import nest_asyncio2
        except ImportError:
            raise RuntimeError(MISSING) from None
        nest_asyncio2.apply(loop)
        self._task = task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:  # by a deadline: the turn goes on
            raise InterruptedError("cancelled") from None
        except KeyboardInterrupt:
            task.cancel()  # or it would go on behind the interrupted cell
            raise


def loses_cells() -> bool:
    """Has the user applied the old nest_asyncio on an ipykernel where that loses cells?"""
    patched = hasattr(asyncio, "_nest_patched") and not hasattr(asyncio, "_nest_asyncio2")
    kernel = sys.modules.get("ipykernel")
    version = getattr(kernel, "version_info", (0, 0))
    return patched and tuple(version[:2]) >= (7, 1)
