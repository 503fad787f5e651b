"""Notices when a server falls silent."""

from __future__ import annotations

import asyncio

PATIENCE = 3
"""So many times longer a server may be silent that only keeps the connection open."""


class Silence:
    """How long a server may be silent: before its answer begins, and in the middle of it.

    Comments of the stream keep a connection open while the server waits for something. They count
    as life, but not for ever.
    """

    def __init__(self, first: float, between: float) -> None:
        self._first, self._between = first, between
        self._loop = asyncio.get_running_loop()
        self._spoke = self._loop.time()
        self._has_begun = False
        self.watch = asyncio.timeout(first)
        """Guards the code in its ``async with``; a TimeoutError ends it."""

    @property
    def seconds(self) -> float:
        """The limit that holds now."""
        return self._between if self._has_begun else self._first

    def life(self) -> None:
        """Something came, whatever it is."""
        if self._has_begun:
            limit = self._spoke + PATIENCE * self._between
            self.watch.reschedule(min(self._loop.time() + self._between, limit))

    def spoken(self) -> None:
        """A piece of the answer came."""
        self._has_begun = True
        self._spoke = now = self._loop.time()
        self.watch.reschedule(now + self._between)
