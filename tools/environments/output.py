"""The output of a running command: gathered for the model, told to a listener meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools.plain_text import Excerpt, PlainText

KEPT_CHARS = 4_000_000
"""Head and tail together. What the model reads of it is less; the road cuts that."""
SHOWN_CHARS = 8_000
SECONDS_BETWEEN_PIECES = 0.06


class OutputCollector:
    """Gathers the output of one command, and tells a listener about it now and then."""

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self._plain = PlainText()
        self._kept = Excerpt(KEPT_CHARS)
        self._listener = listener
        self._pending = Excerpt(SHOWN_CHARS)
        self._told_at = 0.0

    def feed(self, piece: bytes) -> None:
        self._add(self._plain.feed(piece))
        if time.monotonic() - self._told_at >= SECONDS_BETWEEN_PIECES:
            self.tell()

    def tell(self) -> None:
        """Pass on what the listener has not heard yet."""
        if self._listener is None or not self._pending.total:
            return
        piece, self._pending = self._pending.text(), Excerpt(SHOWN_CHARS)
        self._told_at = time.monotonic()
        self._listener(piece)

    def finish(self, last_line: str = "") -> str:
        """End of the output; ``last_line`` is put below it."""
        self._add(self._plain.feed(b"", final=True))
        kept = self._kept.text()
        if last_line:
            ending = last_line if not kept or kept.endswith("\n") else f"\n{last_line}"
            self._add(ending)
            kept += ending
        self.tell()
        return kept

    def _add(self, text: str) -> None:
        self._kept.add(text)
        if self._listener is not None:
            self._pending.add(text)
