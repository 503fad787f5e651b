"""How often what streams is shown: often when little comes, so that nobody waits; seldom when much
comes, so that what is sent stays in proportion to the text."""

from __future__ import annotations

SHORTEST = 0.1
"""Seconds between two updates: more often than an eye wants."""
LONGEST = 1.0
FREE_RATE = 5_000.0
"""Bytes a second that may be sent, however little text comes."""
SHARE = 2.0
"""Bytes that may be sent for a byte of text."""


QUICK = 1_500.0
"""Characters a second that nobody reads as they come."""


class Pace:
    """Says when the next update may come."""

    def __init__(self) -> None:
        self._text = 0
        self._since = 0.0
        self._rate = 0.0
        self._next = 0.0

    def heard(self, text: str) -> None:
        """Text that is to be shown."""
        self._text += len(text)

    def sent(self, size: int, now: float) -> None:
        """An update of so many bytes was made."""
        seconds = max(SHORTEST, min(LONGEST, now - self._since))
        self._rate = self._text / seconds
        allowed = max(FREE_RATE, SHARE * self._rate)
        self._next = now + max(SHORTEST, min(LONGEST, size / allowed))
        self._text, self._since = 0, now

    @property
    def is_quick(self) -> bool:
        """Does much text come?"""
        return self._rate > QUICK

    def delay(self, now: float) -> float:
        """Seconds until the next update may come."""
        return min(LONGEST, max(SHORTEST, self._next - now))
