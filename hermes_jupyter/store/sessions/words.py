"""What is looked for in a text, and how: words, and pieces of three characters.

Scripts that put no spaces between words (Chinese, Japanese, Korean) are cut into overlapping
pairs, so that a term of two characters is found, and even one. Of other scripts whole words are
found, and by the pieces what stands inside of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

PIECE = 3
MAX_TERMS = 12
MAX_TERM_CHARS = 200
_UNSPACED = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_ESCAPED = re.compile(r'\\(?:[nrtbf"/\\]|u00[01][0-9a-f])')
_TERM = re.compile(r'"([^"]+)"|(\S+)')
HEAD_CHARS, TAIL_CHARS = 12_000, 4_000
"""Of a longer text the beginning and the end are indexed."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for: alternatives, of each all terms."""

    alternatives: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> str:
        """For the index of words; empty if that cannot answer."""
        return _joined(map(_words, terms) for terms in self.alternatives)

    @property
    def pieces(self) -> str:
        """For the index of pieces; short terms play no part, so `is_in` must look at the text."""
        return _joined(map(_pieces, terms) for terms in self.alternatives)

    def is_in(self, text: str) -> bool:
        """Whether a text, as `plain` makes it, has all terms of an alternative."""
        return any(all(term in text for term in terms) for terms in self.alternatives)

    def first_in(self, text: str) -> int:
        """Where in the text a term stands first; 0 if none does, as it is written."""
        places = (text.find(term) for terms in self.alternatives for term in terms)
        return min((place for place in places if place >= 0), default=0)


def query(text: str) -> Query:
    """Read what a person or a model is looking for.

    All words must occur; ``"words in quotes"`` in that order; ``one OR other``.
    """
    alternatives: list[list[str]] = [[]]
    for quoted, bare in _TERM.findall(text)[: 2 * MAX_TERMS]:
        if bare == "OR":
            alternatives.append([])
        elif bare != "AND" and (term := plain(quoted or bare).strip()[:MAX_TERM_CHARS]):
            alternatives[-1].append(term)
    return Query(tuple(tuple(terms[:MAX_TERMS]) for terms in alternatives if terms))


def plain(text: str) -> str:
    """One spelling for what looks alike: width, ligatures, upper and lower case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def indexable(text: str) -> str:
    """What of a message the indexes hold, in one spelling, without the escapes of JSON."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return _ESCAPED.sub(" ", plain(text))


def segmented(text: str, *, ends: bool = True) -> str:
    """The text with its unspaced runs cut into pairs.

    Parameters
    ----------
    ends
        Does a run at the end of the text end there? In what is looked for it may go on.
    """
    if text.isascii():
        return text
    return _UNSPACED.sub(lambda run: f" {_pairs(run, ends=ends)} ", text)


def _pairs(run: re.Match[str], *, ends: bool) -> str:
    signs = run[0]
    pairs = [signs[place : place + 2] for place in range(len(signs) - 1)]
    goes_on = not ends and run.end() == len(run.string) and pairs
    return " ".join(pairs if goes_on else [*pairs, signs[-1]])


def _words(term: str) -> str:
    tokens = segmented(term, ends=False)
    if not any(sign.isalnum() for sign in tokens):
        return ""
    is_one_sign = _UNSPACED.fullmatch(term) is not None and len(term) == 1
    return f'"{tokens.strip()}"{"*" if is_one_sign else ""}'.replace("\0", "")


def _pieces(term: str) -> str:
    pieces = dict.fromkeys(term[place : place + PIECE] for place in range(len(term) - PIECE + 1))
    quoted = (piece.replace('"', '""').replace("\0", "") for piece in pieces)
    return " AND ".join(f'"{piece}"' for piece in quoted if len(piece) >= PIECE)


def _joined(alternatives: Iterable[Iterable[str]]) -> str:
    whole = []
    for terms in alternatives:
        known = [term for term in terms if term]
        if known:
            whole.append(f"({' AND '.join(known)})")
    return " OR ".join(whole)
