"""What a program printed, as text a model can read: no terminal escapes, no endless middle."""

from __future__ import annotations

import codecs
import re
from collections import deque

KEPT_CHARS = 50_000
HEAD_SHARE = 0.4
LONGEST_ESCAPE = 4_096

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, hyperlinks
    r"|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
_UNFINISHED_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b]*\x1b?|[ -/]*)?\Z")


def without_escapes(text: str) -> str:
    """The text without colours, cursor movements, titles and the like."""
    return _ESCAPE.sub("", text)


class Excerpt:
    """Start and end of a text of any length, in bounded memory."""

    def __init__(self, limit: int = KEPT_CHARS, head_share: float = HEAD_SHARE) -> None:
        self._head_limit = int(limit * head_share)
        self._tail_limit = limit - self._head_limit
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_chars = self._tail_chars = 0
        self.total = 0
        """Characters seen."""

    def add(self, text: str) -> None:
        self.total += len(text)
        room = self._head_limit - self._head_chars
        if room > 0:
            self._head.append(text[:room])
            self._head_chars += len(self._head[-1])
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_chars += len(text)
        while self._tail and self._tail_chars - len(self._tail[0]) >= self._tail_limit:
            self._tail_chars -= len(self._tail.popleft())

    def text(self) -> str:
        """What was kept, with a line that says how much is missing where it is missing."""
        head, tail = "".join(self._head), "".join(self._tail)[-self._tail_limit :]
        dropped = self.total - len(head) - len(tail)
        if not dropped:
            return head + tail
        mark = f"[... {dropped:,} of {self.total:,} characters left out here ...]"
        return f"{head}\n{mark}\n{tail}"


class PlainText:
    """Bytes to text, piece by piece: undecodable bytes replaced, terminal escapes removed."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._carry = ""

    def feed(self, piece: bytes, *, final: bool = False) -> str:
        text = self._carry + self._decoder.decode(piece, final)
        self._carry = ""
        if "\x1b" not in text:
            return text
        text = without_escapes(text)
        cut = _UNFINISHED_ESCAPE.search(text, max(0, len(text) - LONGEST_ESCAPE))
        if cut and not final:
            self._carry = text[cut.start() :]
            text = text[: cut.start()]
        return text
