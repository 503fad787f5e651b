"""Joins an answer that was cut with what the model goes on with, so that no seam is seen.

A model that is asked to go on begins with the last words again (it is asked to), with the whole
answer, or in the middle of a word. What was shown before is not shown again.
"""

from __future__ import annotations

from collections.abc import Callable

ANCHOR_CHARS = 48
MIN_OVERLAP = 12
"""Equal words by chance are shorter."""
MIN_RESTART = 24
_OPENINGS = " \t\r\n\"'`«“…."


def anchor_of(text: str) -> str:
    """The last words of a text, to begin with again."""
    tail = text.rstrip()[-ANCHOR_CHARS:]
    start = tail.find(" ") + 1 if len(text.rstrip()) > ANCHOR_CHARS else 0
    return tail[start:] if tail[start:].strip() else tail


class Seam:
    """Lets through what is new of a continuation.

    Parameters
    ----------
    before
        The text so far.
    tell
        Takes each piece that is new.
    start_over
        Called once if the model begins its answer anew with other words: what was shown before
        must go.
    """

    def __init__(
        self, before: str, tell: Callable[[str], None], start_over: Callable[[], None]
    ) -> None:
        self._before, self._tell, self._start_over = before, tell, start_over
        self._held = ""
        self._is_open = False
        self._anchor = anchor_of(before)

    def feed(self, piece: str) -> None:
        """A piece of the continuation."""
        if self._is_open:
            self._tell(piece)
            return
        self._held += piece
        self._decide(final=False)

    def finish(self) -> None:
        """There is no more of it."""
        if not self._is_open and self._held:
            self._decide(final=True)

    def _decide(self, *, final: bool) -> None:
        if (rest := self._after_anchor()) is not None:
            # White space at the end of the text so far must not come twice.
            trailing = self._before[len(self._before.rstrip()) :]
            if final or len(rest) >= len(trailing) or not trailing.startswith(rest):
                self._open(rest.removeprefix(trailing))
        elif self._may_be_anchor() and not final:
            return
        elif self._is_restart():
            self._follow_restart(final=final)
        elif final or len(self._held) > 2 * ANCHOR_CHARS or not self._may_overlap():
            self._open(joined(self._before, self._held))

    def _open(self, rest: str) -> None:
        self._is_open, self._held = True, ""
        if rest:
            self._tell(rest)

    def _after_anchor(self) -> str | None:
        """What follows the last words, if it begins with them."""
        start = self._held.lstrip(_OPENINGS)
        anchor = self._anchor.lstrip(_OPENINGS)
        if not anchor or not start.startswith(anchor):
            return None
        return start[len(anchor) :]

    def _may_be_anchor(self) -> bool:
        start = self._held.lstrip(_OPENINGS)
        return self._anchor.lstrip(_OPENINGS).startswith(start)

    def _is_restart(self) -> bool:
        begin = self._before[:MIN_RESTART]
        return len(begin) == MIN_RESTART and (
            self._held.startswith(begin) or begin.startswith(self._held)
        )

    def _follow_restart(self, *, final: bool) -> None:
        """It says everything again: pass over it as long as it is the same."""
        if self._held.startswith(self._before):
            self._open(self._held[len(self._before) :])
        elif self._before.startswith(self._held):
            if final:
                self._open("")
        elif len(self._held) >= MIN_RESTART:
            held = self._held
            self._start_over()
            self._open(held)

    def _may_overlap(self) -> bool:
        """Could more of the continuation still turn out to be the end of the text so far?"""
        tail = self._before[-2 * ANCHOR_CHARS :]
        return any(tail[start:].startswith(self._held) for start in range(len(tail)))


def joined(before: str, after: str) -> str:
    """What must be added to ``before`` so that it goes on with ``after``."""
    for start in _word_starts(before):
        end = before[start:]
        if len(end) >= MIN_OVERLAP and after.startswith(end):
            return after[len(end) :]
    word = before[max((start for start in _word_starts(before)), default=0) :]
    if len(word) > 1 and not word[-1].isspace() and after.startswith(word):
        return after[len(word) :]  # the word that was cut, from its beginning
    meets = bool(before) and before[-1].isalnum() and after[:1].isalnum()
    return f" {after}" if meets else after


def _word_starts(text: str) -> list[int]:
    """Where words begin near the end of a text, the longest end first."""
    first = max(0, len(text) - 500)
    return [
        place
        for place in range(first, len(text))
        if not text[place].isspace() and (place == 0 or text[place - 1].isspace())
    ]
