"""What the hosts with an asyncio library share: a loop, deadlines, and one kind of error.

Each host has a loop and a thread of its own, so that nothing that blocks another loop can hold up
its commands. Every wait has a deadline, and every foreign error becomes a `HostError`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Coroutine
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from tools.async_bridge import LoopThread
from tools.environments.host import HostError

T = TypeVar("T")

GRACE = 5.0  # what a loop gets beyond a deadline, before nobody waits for it any more

Explain = Callable[[BaseException], HostError]


def import_extra(module: str, extra: str) -> ModuleType:
    """Import the library of an extra of this project.

    Raises
    ------
    HostError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise HostError(
            f"The {extra} backend needs its library. "
            f"Run: pip install 'hermes-jupyter[{extra}]' ({error})"
        ) from error


class HostLoop:
    """The loop of one host, in a daemon thread.

    Parameters
    ----------
    title
        The service's name, for messages.
    explain
        Turns an error of its library into one line with a remedy.
    """

    def __init__(self, title: str, explain: Explain) -> None:
        self.title = title
        self.explain = explain
        self._thread = LoopThread(f"hermes-{title.lower()}")
        self._closed = False

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._thread.loop

    def call(self, awaitable: Awaitable[T], *, timeout: float, doing: str) -> T:
        """Wait for ``awaitable`` on the loop.

        Raises
        ------
        HostError
            Also if it takes longer than ``timeout`` seconds, or the loop is closed.
        """
        if self._closed:
            _drop(awaitable)
            raise HostError(f"{self.title} was closed before {doing}.")
        future = self.start(self.bounded(awaitable, within=timeout, doing=doing))
        try:
            return future.result(timeout + GRACE)
        except concurrent.futures.CancelledError:
            raise HostError(f"{self.title} was closed while {doing}.") from None
        except concurrent.futures.TimeoutError as error:
            raise self._late(timeout, doing) from error
        finally:
            future.cancel()  # does nothing unless the wait itself was interrupted

    async def bounded(self, awaitable: Awaitable[T], *, within: float, doing: str) -> T:
        """Await ``awaitable`` on the loop, with the errors of `call`."""
        try:
            return await asyncio.wait_for(awaitable, within)
        except TimeoutError as error:
            raise self._late(within, doing) from error
        except HostError:
            raise
        except Exception as error:  # the seam to a foreign library
            raise self.explain(error) from error

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run ``work`` on the loop, and return at once. After `close` it is dropped."""
        if not self._closed:
            return self._thread.submit(work)
        _drop(work)
        dropped: concurrent.futures.Future[T] = concurrent.futures.Future()
        dropped.cancel()
        return dropped

    def close(self) -> None:
        """Cancel all that still runs, and end the thread."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self._cancel_others()).add_done_callback(
                lambda _: self._thread.retire()
            )

    async def _cancel_others(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=GRACE) if others else None

    def _late(self, timeout: float, doing: str) -> HostError:
        return HostError(
            f"{self.title} did not answer within {timeout:g} s while {doing}. "
            "Try again; if it stays so, look at the service's status page and your network."
        )


def _drop(work: Awaitable[Any]) -> None:
    if isinstance(work, Coroutine):
        work.close()
