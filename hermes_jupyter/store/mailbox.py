"""What a person says while the agent works, until the model has read it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hermes_jupyter.events import Event, MessageSaid
from hermes_jupyter.store.sessions.journal import Journal


class Mailbox:
    """Of one conversation. Safe to use from any thread.

    Parameters
    ----------
    unread
        What was said before, in a kernel that has died since.
    """

    def __init__(self, journal: Journal, unread: Sequence[str] = ()) -> None:
        self._journal = journal
        self._lock = threading.Lock()  # guards the next two
        self._waiting = [*unread]
        self._show: Callable[[Event], None] | None = None

    def say(self, text: str) -> bool:
        """Keep a message for the model; False if no turn runs that will read it.

        It is on disk before anybody sees it.
        """
        event = MessageSaid(text=text)
        with self._lock:
            if self._journal.is_stored:
                self._journal.hear(event)
            self._waiting.append(text)
            if self._show is not None:
                self._show(event)
            return self._show is not None

    @contextmanager
    def read_by_turn(self, show: Callable[[Event], None]) -> Iterator[None]:
        """A turn reads it until the block ends; ``show`` tells its views, from any thread."""
        with self._lock:
            self._show = show
        try:
            yield
        finally:
            with self._lock:
                self._show = None

    def pending(self) -> list[str]:
        """What the model has not read yet, oldest first."""
        with self._lock:
            return [*self._waiting]

    def told(self, count: int) -> None:
        """The model has read the first ``count`` of them."""
        with self._lock:
            del self._waiting[:count]
