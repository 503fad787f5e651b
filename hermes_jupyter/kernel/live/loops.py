"""The loop on which the agent's code awaits.

While ``%%agent`` waits, the kernel's own loop stands still in the same thread, and may not be
entered again. So the code gets a loop of its own there, the same one each time. In a terminal
IPython has a loop, which rests meanwhile: that is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from IPython.core import async_helpers

SECONDS_TO_TIDY_UP = 0.15


class CodeLoop:
    """Drives coroutines of the agent's code, in the thread of the cell. One per kernel."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def drive(self, coroutine: Coroutine[Any, Any, None], shell: Any) -> int:
        """Run a coroutine to its end; how many tasks it leaves behind.

        Raises
        ------
        KeyboardInterrupt
            When it is interrupted; it is cancelled first.
        """
        if asyncio._get_running_loop() is not None:
            with _set_aside():
                return _run_on(self._open(), coroutine)
        if shell.loop_runner is not getattr(async_helpers, "_asyncio_runner", None):
            shell.loop_runner(coroutine)  # trio or curio, by %autoawait
            return 0
        return _run_on(async_helpers.get_asyncio_loop(), coroutine)

    def close(self) -> None:
        """End the loop; tasks that still wait are cancelled."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_running():
            return
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with _set_aside():
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    def _open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        return self._loop


def _run_on(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> int:
    task = loop.create_task(coroutine)
    try:
        loop.run_until_complete(task)
    except KeyboardInterrupt:
        task.cancel()
        with suppress(KeyboardInterrupt):
            loop.run_until_complete(asyncio.wait({task}, timeout=SECONDS_TO_TIDY_UP))
        raise
    return len(asyncio.all_tasks(loop))


@contextmanager
def _set_aside() -> Iterator[None]:
    """Let another loop run in this thread, whose own one waits in it.

    asyncio is told the truth: that loop does not go on before the block has ended.
    """
    there = asyncio._get_running_loop()
    task = asyncio.current_task(there) if there is not None else None
    if there is not None and task is not None:
        asyncio.tasks._leave_task(there, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(there)
        if there is not None and task is not None:
            asyncio.tasks._enter_task(there, task)
