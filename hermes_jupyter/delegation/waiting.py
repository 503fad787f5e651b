"""Wait for work that goes on side by side, until it is done or the call is told to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Protocol

GRACE = 0.08
"""Seconds in which those who are told to end may do so: less than the road gives the call."""


class Cancelled(Protocol):
    """Says that a call shall end: see `hermes_jupyter.road.deadlines.Flag`."""

    def is_set(self) -> bool: ...

    def when_set(self, job: Callable[[], None]) -> None: ...


async def done_or_halted(tasks: Collection[asyncio.Task[Any]], cancelled: Cancelled) -> bool:
    """Wait for all; False if they were told to end before. Then some may take longer to do so.

    Whatever happens, none of them goes on by itself.
    """
    loop = asyncio.get_running_loop()
    halted = loop.create_future()

    def halt() -> None:
        if not halted.done():
            halted.set_result(None)

    def halt_soon() -> None:
        loop.call_soon_threadsafe(halt)

    cancelled.when_set(halt_soon)
    everyone = asyncio.ensure_future(asyncio.wait(tasks))
    try:
        await asyncio.wait({everyone, halted}, return_when=asyncio.FIRST_COMPLETED)
        if everyone.done():
            return True
        _end(tasks)
        await asyncio.wait(tasks, timeout=GRACE)
        return False
    finally:
        everyone.cancel()
        halted.cancel()
        _end(tasks)


def _end(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
