"""A window of lines out of a stream of bytes, without keeping the rest of it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tools.files.text import HEAD_BYTES, split_bom

MAX_LINE_CHARS = 2_000
KEPT_LINE_BYTES = 4 * MAX_LINE_CHARS + 4
COUNTED_BYTES = 1 << 30
"""Lines after the window are counted up to here; larger files would take seconds."""
CHECKED_BYTES = 64 << 20
"""Files up to here are checked for UTF-8 as a whole, as `tools.files.text.decode` does."""


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a file as a person would see them."""

    lines: tuple[str, ...]
    total: int | None
    """Lines of the whole file; None if it was too large to count them."""
    more: bool
    """Whether there are lines after these."""
    encoding: str


class LineWindow:
    """Takes bytes, counts their lines and keeps those from ``first`` to ``last``."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.line_feeds = 0
        self.lines: list[bytes] = []
        """What is kept of each line."""
        self.sizes: list[int] = []
        """How long each line is in truth."""
        self._line_is_open = False

    @property
    def total(self) -> int:
        return self.line_feeds + self._line_is_open

    def feed(self, chunk: bytes) -> None:
        if not chunk:
            return
        number = self.line_feeds + 1
        breaks = chunk.count(b"\n")
        if number <= self.last and number + breaks >= self.first:
            self._keep(chunk.split(b"\n"), number)
        self.line_feeds += breaks
        self._line_is_open = not chunk.endswith(b"\n")

    def _keep(self, pieces: list[bytes], number: int) -> None:
        skipped = max(0, self.first - number)
        for index, piece in enumerate(pieces[skipped : self.last - number + 1], number + skipped):
            kept = index - self.first
            if kept == len(self.lines):
                self.lines.append(b"")
                self.sizes.append(0)
            self.lines[kept] += piece[: KEPT_LINE_BYTES - len(self.lines[kept])]
            self.sizes[kept] += len(piece)


def read_page(chunks: Iterable[bytes], first: int, count: int, stopped: Callable[[], bool]) -> Page:
    """Read ``count`` lines from line ``first`` on, and count all lines."""
    window = LineWindow(first, first + count - 1)
    decoder = _Recoder()
    counted = True
    for chunk in chunks:
        window.feed(decoder.feed(chunk))
        window_is_full = window.line_feeds >= window.last
        if stopped() or (window_is_full and decoder.taken > COUNTED_BYTES):
            counted = False
            break
    window.feed(decoder.rest())
    total = window.total
    shown = min(len(window.lines), max(0, total - first + 1))
    encoding = decoder.encoding
    if encoding == "utf-8" and not all(map(_is_utf8, window.lines[:shown], window.sizes)):
        encoding = "latin-1"  # the odd bytes came after what was checked
    stored_as = "latin-1" if encoding == "latin-1" else "utf-8"
    lines = [
        _line(kept, size, stored_as)
        for kept, size in zip(window.lines[:shown], window.sizes, strict=False)
    ]
    more = not counted or total >= first + shown
    return Page(tuple(lines), total if counted else None, more and bool(lines), encoding)


class _Recoder:
    """Turns any encoding with a BOM into UTF-8, and finds out whether the rest is UTF-8."""

    def __init__(self) -> None:
        self.taken = 0
        self.encoding = "utf-8"
        self._reader: codecs.IncrementalDecoder | None = None

    def feed(self, chunk: bytes) -> bytes:
        if not self.taken:
            bom, encoding = split_bom(chunk[:HEAD_BYTES])
            self.encoding = encoding or "utf-8"
            self._reader = codecs.getincrementaldecoder(self.encoding)(
                "replace" if self.encoding != "utf-8" else "strict"
            )
            chunk, self.taken = chunk[len(bom) :], len(bom)
        self.taken += len(chunk)
        if self.encoding not in ("utf-8", "latin-1"):
            assert self._reader is not None
            return self._reader.decode(chunk).encode("utf-8", "replace")
        if self.encoding == "utf-8" and self.taken <= CHECKED_BYTES:
            self._check(chunk)
        return chunk

    def rest(self) -> bytes:
        """Whatever a cut character at the very end leaves behind."""
        if self._reader is None or self.encoding == "latin-1":
            return b""
        try:
            left = self._reader.decode(b"", final=True)
        except UnicodeDecodeError:
            self.encoding = "latin-1"
            return b""
        return left.encode("utf-8", "replace")

    def _check(self, chunk: bytes) -> None:
        assert self._reader is not None
        try:
            self._reader.decode(chunk)
        except UnicodeDecodeError:
            self.encoding = "latin-1"


def _is_utf8(kept: bytes, size: int) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(kept, final=len(kept) == size)
    except UnicodeDecodeError:
        return False
    return True


def _line(kept: bytes, size: int, encoding: str) -> str:
    whole = len(kept) == size
    text = kept.decode(encoding, "strict" if whole else "ignore").removesuffix("\r")
    if whole and len(text) <= MAX_LINE_CHARS:
        return text
    return f"{text[:MAX_LINE_CHARS]} …[line cut here; it has {size:,} bytes in all]"
