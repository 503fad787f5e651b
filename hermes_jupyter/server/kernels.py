"""All kernels of the server, as far as their agents go: what waits in them, and what they tell."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hermes_jupyter.server.line import SECONDS, Content, Line, Refused, Silent, process_of

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""So often, while somebody watches, kernels are looked for that have come or gone."""

Listener = Callable[[Content], None]
NOTHING: Content = {"requests": [], "questions": [], "turns": []}


class UnknownKernel(LookupError):
    """The server has no such kernel, or not any more."""


class Kernels:
    """The lines to the server's kernels, opened when somebody first asks.

    Parameters
    ----------
    manager
        The server's manager of kernels.
    names
        Says for each kernel which notebook it runs for.
    """

    def __init__(self, manager: Any, names: Callable[[], Any]) -> None:
        self._manager, self._names = manager, names
        self._lines: dict[str, Line] = {}
        self._speaking: set[str] = set()
        self._listeners: list[Listener] = []
        self._looking: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[Any]] = set()

    @property
    def ids(self) -> list[str]:
        """Of the kernels that there are."""
        return [str(each) for each in self._manager.list_kernel_ids()]

    def open(self) -> None:
        """Have lines to all kernels that there are, and no others."""
        there = self.ids
        for name in [*self._lines]:
            if name not in there or not self._is_current(name):
                self._drop(name)
        for name in there:
            if name not in self._lines:
                self._connect(name)

    async def ask(self, kernel: str, do: str, **about: Any) -> Content:
        """Ask one kernel.

        Raises
        ------
        UnknownKernel, Refused, Silent
        """
        self.open()
        if kernel not in self.ids:
            raise UnknownKernel("this server has no such kernel; it may have been shut down")
        if kernel not in self._lines:
            raise Silent("this server reaches its kernels through a gateway")
        reply = await self._lines[kernel].ask(do, **about)
        self._speaks(kernel)
        return reply

    async def pending(self) -> list[Content]:
        """What waits and runs, kernel by kernel.

        One that has not answered before is asked, too, but not waited for beyond the others: its
        answer counts the next time.
        """
        self.open()
        names = await self._names()
        told = await asyncio.gather(*(self._pending(name) for name in self.ids))
        return [
            {"kernel": name, "notebook": names.get(name, ""), **what}
            for name, what in zip(self.ids, told, strict=False)
        ]

    @contextmanager
    def watched(self, listener: Listener) -> Iterator[None]:
        """In the block, the listener is told what happens in any kernel."""
        self._listeners.append(listener)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look(self._processes()))
        try:
            yield
        finally:
            self._listeners.remove(listener)
            if not self._listeners and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    def close(self) -> None:
        """End all lines."""
        if self._looking is not None:
            self._looking.cancel()
        for name in [*self._lines]:
            self._drop(name)

    async def _pending(self, name: str) -> Content:
        line = self._lines.get(name)
        if line is None:
            return {"state": "unreachable", **NOTHING}
        asking = asyncio.get_running_loop().create_task(self.ask(name, "pending"))
        self._asking.add(asking)
        asking.add_done_callback(self._asked)
        within = SECONDS if name in self._speaking else SECONDS / 10
        await asyncio.wait({asking}, timeout=within)
        if not asking.done() or asking.cancelled() or asking.exception() is not None:
            return {"state": "silent", **NOTHING}
        reply = asking.result()
        return {"state": "answers", **{key: reply.get(key, []) for key in NOTHING}}

    def _asked(self, task: asyncio.Task[Any]) -> None:
        self._asking.discard(task)
        if not task.cancelled():
            task.exception()  # seen

    async def _look(self, known: dict[str, tuple[object, ...]]) -> None:
        """Tell those who watch of kernels that come and go."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.open()
            now = self._processes()
            for name in sorted(known.keys() - now.keys()):
                self._tell(name, {"event": "gone"})
            for name in sorted(now.keys() - known.keys()):
                self._tell(name, {"event": "came"})
            for name in sorted(known.keys() & now.keys()):
                if now[name] != known[name]:
                    self._tell(name, {"event": "restarted"})
            known = now

    def process(self, name: str) -> tuple[object, ...] | None:
        """What changes when the kernel is started anew; None if there is no such kernel."""
        return process_of(self._manager.get_kernel(name)) if name in self.ids else None

    def _processes(self) -> dict[str, tuple[object, ...]]:
        return {name: process_of(self._manager.get_kernel(name)) for name in self.ids}

    def _connect(self, name: str) -> None:
        try:
            kernel = self._manager.get_kernel(name)
            self._lines[name] = Line(kernel, lambda event: self._heard(name, event))
        except (Silent, KeyError) as problem:
            logger.debug("no line to kernel %s: %s", name, problem)

    def _is_current(self, name: str) -> bool:
        return self._lines[name].leads_to(self._manager.get_kernel(name))

    def _drop(self, name: str) -> None:
        self._lines.pop(name).close()
        self._speaking.discard(name)

    def _heard(self, name: str, event: Content) -> None:
        self._speaking.add(name)
        self._tell(name, event)

    def _speaks(self, name: str) -> None:
        """It has answered; if that is new, those who watch had taken it for one that does not."""
        if name not in self._speaking:
            self._speaking.add(name)
            self._tell(name, {"event": "came"})

    def _tell(self, name: str, event: Content) -> None:
        told: Mapping[str, Any] = {**event, "kernel": name}
        for listener in [*self._listeners]:
            listener(told)


__all__ = ["Kernels", "Refused", "Silent", "UnknownKernel"]
