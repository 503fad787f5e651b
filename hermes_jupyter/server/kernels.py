"""All kernels of the server, as far as their agents go: what waits in them, and what they tell."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hermes_jupyter.server.line import Content, Line, Refused, Silent, Unloaded, process_of
from hermes_jupyter.server.listing import SILENT, UNREACHABLE, Listing

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""So often, while somebody watches, kernels are looked for that have come or gone."""

Listener = Callable[[Content], None]


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
        self._listing = Listing()
        self._listeners: list[Listener] = []
        self._looking: asyncio.Task[None] | None = None

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
        UnknownKernel, Refused, Silent, Unloaded
        """
        self.open()
        if kernel not in self.ids:
            raise UnknownKernel("this server has no such kernel; it may have been shut down")
        if kernel not in self._lines:
            raise Silent("this server reaches its kernels through a gateway")
        return await self._lines[kernel].ask(do, **about)

    async def pending(self) -> list[Content]:
        """What waits and runs, kernel by kernel.

        One that hangs is not waited for; those who watch are told when it has answered.
        """
        self.open()
        names, asked = await self._names(), self.ids
        told = await asyncio.gather(*(self._pending(name) for name in asked))
        # Meanwhile kernels may have come, or gone.
        known = dict(zip(asked, told, strict=True))
        return [
            {"kernel": name, "notebook": names.get(name, ""), **known.get(name, SILENT)}
            for name in self.ids
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
        self._listing.close()
        for name in [*self._lines]:
            self._drop(name)

    async def _pending(self, name: str) -> Content:
        line = self._lines.get(name)
        if line is None:
            return UNREACHABLE
        return await self._listing.of(line, lambda: self._tell(name, {"event": "came"}))

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
            self._lines[name] = Line(kernel, lambda event: self._tell(name, event))
        except (Silent, KeyError) as problem:
            logger.debug("no line to kernel %s: %s", name, problem)

    def _is_current(self, name: str) -> bool:
        return self._lines[name].leads_to(self._manager.get_kernel(name))

    def _drop(self, name: str) -> None:
        self._lines.pop(name).close()

    def _tell(self, name: str, event: Content) -> None:
        told: Mapping[str, Any] = {**event, "kernel": name}
        for listener in [*self._listeners]:
            listener(told)


__all__ = ["Kernels", "Refused", "Silent", "UnknownKernel", "Unloaded"]
