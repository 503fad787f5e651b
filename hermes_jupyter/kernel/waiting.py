"""Who waits in the thread of a cell just now, and can run jobs in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class TakesJobs(Protocol):
    def call_soon(self, job: Callable[[], None]) -> None:
        """Run ``job`` in the cell's thread. Any thread."""


class Waiting:
    """Of this process."""

    innermost: TakesJobs | None = None
    """None while no cell waits for a turn."""
