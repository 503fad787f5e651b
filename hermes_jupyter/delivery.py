"""Brings the events of a turn to those who listen: the store first, so what is shown is on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from hermes_jupyter.events import Event, Listener
from hermes_jupyter.store.sessions.journal import Journal

logger = logging.getLogger(__name__)


class Delivery:
    """Of one turn.

    Parameters
    ----------
    more_warnings
        Takes what others want a person to hear, since the last time.
    is_stored
        Does the store hear of it?
    """

    def __init__(
        self,
        journal: Journal,
        listeners: Sequence[Listener],
        more_warnings: Callable[[], Sequence[str]],
        *,
        is_stored: bool = True,
    ) -> None:
        self._store, self._views = [journal.hear] if is_stored else [], [*listeners]
        self._more = more_warnings
        self._warnings: list[str] = []
        journal.warn = self._warnings.append

    def __call__(self, event: Event) -> list[str]:
        """Tell an event; what the person should hear about that."""
        self._deliver(event, [*self._store, *self._views])
        told = [*self._warnings, *self._more()]
        self._warnings.clear()
        return told

    def warn(self, text: str) -> None:
        """Have a person hear this with the next event. Any thread."""
        self._warnings.append(text)

    def shower(self) -> Listener:
        """Shows what is stored already, from any thread."""
        loop = asyncio.get_running_loop()

        def show(event: Event) -> None:
            with suppress(RuntimeError):  # the turn and its loop may be gone
                loop.call_soon_threadsafe(self._deliver, event, self._views)

        return show

    def _deliver(self, event: Event, listeners: Sequence[Listener]) -> None:
        for listener in listeners:
            try:
                listener(event)
            except Exception:  # a view that fails must not end the turn
                logger.exception("a listener failed on %s", type(event).__name__)
