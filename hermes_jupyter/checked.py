"""What a check of ``%hermes doctor`` has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One finding."""

    name: str
    ok: bool
    text: str
    is_used: bool = True
    """If not, there is nothing that could be well or not."""

    @property
    def sign(self) -> str:
        if not self.is_used:
            return "·"
        return "✓" if self.ok else "✗"
