"""How many model calls a turn may still make."""

from __future__ import annotations


class Budget:
    """One counter for one turn."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0

    @property
    def left(self) -> int:
        return self.total - self.used

    def take(self) -> bool:
        """Pay for one step; False when nothing is left."""
        if self.left <= 0:
            return False
        self.used += 1
        return True
