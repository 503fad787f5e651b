"""The terms of an index that a word may have meant: longer and shorter forms, slips of the pen."""

from __future__ import annotations

import string
from bisect import bisect_left
from collections.abc import Collection, Iterator

from hermes_jupyter.agent.tool_search.words import stem

SHORTEST_START = 3
MAX_FORMS = 8
"""Of one word."""
LONGER = 0.4
SHORTER = 0.4
MISSPELLED = 0.6
INSIDE = 0.4
"""What a term counts that is not the word itself."""
SHORTEST_MISSPELLED = 3
SHORTEST_MEANT = 4
"""Of words with fewer letters, too many are one letter away."""
LONGEST_MISSPELLED = 24


class Vocabulary:
    """All terms of an index."""

    def __init__(self, terms: Collection[str]) -> None:
        self._terms = terms
        self._sorted = sorted(terms)
        self._text = "\n".join(self._sorted)

    def forms(self, term: str) -> dict[str, float]:
        """What is meant by a spelled word, and how surely: itself, and forms of it.

        Only where there are none, it may be misspelled, or a part of other words.
        """
        found = {**self._longer(term), **self._shorter(term)}
        if term in self._terms:
            found[term] = 1.0
        return found or self._misspelled(term) or self._inside(term)

    def _longer(self, term: str) -> dict[str, float]:
        """``repository`` for ``repo``."""
        if len(term) < SHORTEST_START:
            return {}
        start = bisect_left(self._sorted, term)
        end = bisect_left(self._sorted, term + "\U0010ffff", start)
        longer = sorted(self._sorted[start:end], key=len)[: MAX_FORMS + 1]
        return dict.fromkeys((form for form in longer if form != term), LONGER)

    def _shorter(self, term: str) -> dict[str, float]:
        """``config`` for ``configuration``."""
        least = max(SHORTEST_START + 1, (len(term) + 1) // 2)
        starts = (term[:length] for length in range(least, len(term)))
        return dict.fromkeys((start for start in starts if start in self._terms), SHORTER)

    def _misspelled(self, term: str) -> dict[str, float]:
        if not SHORTEST_MISSPELLED <= len(term) <= LONGEST_MISSPELLED:
            return {}
        near = {stem(word) for word in _one_slip_away(term)}
        there = (form for form in near if len(form) >= SHORTEST_MEANT and form in self._terms)
        return dict.fromkeys(there, MISSPELLED)

    def _inside(self, term: str) -> dict[str, float]:
        """``postgres`` for ``gres``."""
        found: dict[str, float] = {}
        place = self._text.find(term) if len(term) >= SHORTEST_START else -1
        while place >= 0 and len(found) < MAX_FORMS:
            start = self._text.rfind("\n", 0, place) + 1
            end = self._text.find("\n", place) % (len(self._text) + 1)
            found[self._text[start:end]] = INSIDE
            place = self._text.find(term, end)
        return found


def _one_slip_away(word: str) -> Iterator[str]:
    """All words with one letter taken away, added, changed, or swapped with the next."""
    for place in range(len(word) + 1):
        head, tail = word[:place], word[place:]
        for letter in string.ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
