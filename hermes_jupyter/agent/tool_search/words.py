"""Text as the terms that a search compares: identifiers split, words brought to their stem.

Scripts that put no spaces between words are cut into overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e"
_OTHERS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_PAIRED = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _OTHERS

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(
    f"[^\\W_{_PAIRED}]+|[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_HANGUL}]+|[{_OTHERS}]+"
)
_IS_PAIRED = re.compile(f"[{_PAIRED}]")
_MEANS_ALONE = re.compile(f"[{_HAN}{_HANGUL}]")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

MAX_CHARS = 8_000
"""Of a text, more than that tells nothing new about a tool."""
MAX_WORD_CHARS = 64
ALONE = 0.25
"""What a character counts beside the pairs it is part of."""
PART = 0.5
"""What the words of a run-together word count beside the whole: ``Git`` and ``Hub``."""

STOP_WORDS = frozenset(
    """
    a am an and any are as at be been but by can could do does for from had has have how i if in
    into is it its let me my need of on or our please should so some that the their them then there
    these they this to tool tools use using via want was we what when where which will with would
    you your
    """.split()  # noqa: SIM905
)
_STOP_TERMS: frozenset[str]


@lru_cache(maxsize=4_096)
def stem(word: str) -> str:
    """The word without an English ending: ``queries`` and ``querying`` are ``queri``."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]
        word = word[:-2] + "y" if word.endswith("ie") and len(word) > 4 else word
    for ending in ("ing", "ed", "ion"):
        if word.endswith(ending) and _has_stem(word.removesuffix(ending), ending):
            word = word.removesuffix(ending)
            break
    word = word.removesuffix("e") if len(word) > 3 else word
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


def _has_stem(rest: str, ending: str) -> bool:
    if ending == "ion":
        return len(rest) > 2 and rest[-1] in "st"
    return len(rest) > 2 and rest[-1] != "e" and any(letter in "aeiouy" for letter in rest)


def plain(text: str) -> str:
    """The text in one spelling: no half or full widths, no composed or decomposed letters."""
    text = text[:MAX_CHARS]
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def terms(text: str) -> Iterator[Iterable[str]]:
    """The terms of each word of a tool's text."""
    return map(_weights, _words(text))


def weighted_terms(text: str) -> dict[str, float]:
    """The terms of a query, and what each counts. Words such as ``the`` count only alone."""
    found: dict[str, float] = {}
    for word in _words(text):
        for term, weight in _weights(word).items():
            found[term] = max(weight, found.get(term, 0.0))
    return {term: weight for term, weight in found.items() if term not in _STOP_TERMS} or found


def joined(name: str) -> str:
    """A name without its separators and cases."""
    return "".join(_words(name)).casefold()


def is_spelled(term: str) -> bool:
    """Whether the term is a word of letters, which can be begun or misspelled."""
    return not _IS_PAIRED.match(term)


def _words(text: str) -> list[str]:
    text = plain(text)
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@lru_cache(maxsize=32_768)
def _weights(word: str) -> dict[str, float]:
    """The terms of one word, never to be changed by the caller."""
    word = word[:MAX_WORD_CHARS]
    if _IS_PAIRED.match(word):
        return _pairs(word)
    parts = [stem(_bare(part)) for part in _CASE_CHANGE.split(word)]
    whole = parts[0] if len(parts) == 1 else stem(_bare(word))
    return {**dict.fromkeys(parts, PART), whole: 1.0}


def _pairs(run: str) -> dict[str, float]:
    if len(run) == 1:
        return {run: 1.0} if _MEANS_ALONE.match(run) else {}
    pairs = {run[place : place + 2]: 1.0 for place in range(len(run) - 1)}
    return {**pairs, **dict.fromkeys(_MEANS_ALONE.findall(run), ALONE)}


def _bare(word: str) -> str:
    """The word in small letters, without accents."""
    word = word.casefold()
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare) or word


_STOP_TERMS = frozenset(map(stem, STOP_WORDS))
