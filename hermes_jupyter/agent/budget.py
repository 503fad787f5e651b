"""How many model calls a turn may still make."""

from __future__ import annotations


class Budget:
    """One counter for one turn.

    A step that failed, or only ran scripts, is given back; at most as many as there were in the
    first place, so that a loop of free steps ends as well.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self.refunds = 0

    @property
    def left(self) -> int:
        return self.total - self.used

    def take(self) -> bool:
        """Pay for one step; False when nothing is left."""
        if self.left <= 0:
            return False
        self.used += 1
        return True

    def refund(self) -> bool:
        """Give one step back; False if that was done often enough."""
        if self.used == 0 or self.refunds >= self.total:
            return False
        self.used -= 1
        self.refunds += 1
        return True
