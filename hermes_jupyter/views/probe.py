"""Finds out whether a front end really draws widgets, by asking it.

A hidden Play widget is told to play: only a view of it on a page answers, with a new value.
Consoles, nbclient and pages that are closed do not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

FORGET_NO_SECONDS = 60.0
"""A page may just have been closed; whether it is back is asked again after so long."""
_STEP_SECONDS, _LONGEST_STEP_SECONDS = 0.25, 1.0


class KnownClients:
    """What probes found out, by the session id of the front end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._yes: set[str] = set()
        self._no_until: dict[str, float] = {}

    def shows_widgets(self, client: str) -> bool | None:
        """None if it is not known (any more). A yes is for good."""
        if client in self._yes:
            return True
        return False if self._clock() < self._no_until.get(client, float("-inf")) else None

    def learn(self, client: str, *, shows: bool) -> None:
        if shows:
            self._yes.add(client)
        else:
            self._no_until[client] = self._clock() + FORGET_NO_SECONDS


class Probe:
    """One hidden player; make it on the loop that will wait, and have it displayed."""

    def __init__(self, player: Any) -> None:
        self._player = player
        self._answered = asyncio.Event()
        self.is_refused = False
        """Has the front end said that it knows no widgets? Consoles built on Qt do."""
        loop = asyncio.get_running_loop()
        player.observe(lambda _: loop.call_soon_threadsafe(self._answered.set), "value")
        player.comm.on_close(lambda _: loop.call_soon_threadsafe(self._refuse))
        if getattr(player.comm, "_closed", False):  # it was quicker
            self._refuse()

    def _refuse(self) -> None:
        self.is_refused = True
        self._answered.set()

    async def alive(self, within: float) -> bool:
        """Whether a view of the player answers in time. A view that is slow to appear may."""
        loop = asyncio.get_running_loop()
        end, step = loop.time() + within, _STEP_SECONDS
        while not self.is_refused and (left := end - loop.time()) > 0:
            self._player.playing = False
            self._player.playing = True
            try:
                await asyncio.wait_for(self._answered.wait(), min(step, left))
            except TimeoutError:
                step = min(2 * step, _LONGEST_STEP_SECONDS)
            else:
                return not self.is_refused
        return False
