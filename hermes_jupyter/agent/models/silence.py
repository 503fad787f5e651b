"""Notices when a server falls silent."""

from __future__ import annotations

import asyncio
from typing import Any

PATIENCE = 3
"""So many times longer a server may be silent that only keeps the connection open."""


class Silence:
    """How long a server may be silent: before its answer begins, and in the middle of it.

    Comments of the stream keep a connection open while the server waits for something. They count
    as life, but not for ever. Each piece of an answer moves the moment at which the wait ends; the
    clock is set again only when it rings, since a new setting for each piece costs more than the
    piece.
    """

    def __init__(self, first: float, between: float) -> None:
        self._first, self._between = first, between
        self._loop = asyncio.get_running_loop()
        self._spoke = self._loop.time()
        self._has_begun = False
        self._limit = self._spoke + first
        """When it has been silent for too long, as things are."""
        self._clock: asyncio.TimerHandle | None = None
        self._watch = asyncio.timeout(None)

    @property
    def seconds(self) -> float:
        """The limit that holds now."""
        return self._between if self._has_begun else self._first

    async def __aenter__(self) -> Silence:
        """Guard the block: a TimeoutError ends it when the server is silent for too long."""
        await self._watch.__aenter__()
        self._set(self._limit)
        return self

    async def __aexit__(self, *about: Any) -> None:
        if self._clock is not None:
            self._clock.cancel()
        await self._watch.__aexit__(*about)

    def life(self) -> None:
        """Something came, whatever it is."""
        if self._has_begun:
            limit = self._spoke + PATIENCE * self._between
            self._limit = min(self._loop.time() + self._between, limit)

    def spoken(self) -> None:
        """A piece of the answer came."""
        self._spoke = now = self._loop.time()
        self._limit = now + self._between
        if not self._has_begun:
            self._has_begun = True
            self._set(self._limit)

    def _set(self, moment: float) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = self._loop.call_at(moment, self._ring)

    def _ring(self) -> None:
        if self._loop.time() < self._limit:
            self._set(self._limit)
        else:
            self._watch.reschedule(self._limit)
