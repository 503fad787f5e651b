"""Finds the objects that stand between words, where the words are only words.

What would be lost with the words is refused: another member, the rest of a list, a keyword.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from hermes_jupyter.agent.envelopes import opened_markup
from hermes_jupyter.agent.relaxed_json import Found, members_at, object_at
from hermes_jupyter.agent.relaxed_values import refuse

MAX_WORDS = 20_000
"""Characters around an object. More is no remark but another text."""
MAX_OBJECTS = 100

_MEMBER_START = re.compile(r"\s*+\"[^\"\\\n]*+\"\s*+[:：]")
_DOUBLE_BRACE = re.compile(r"\{\s*+(?=\{)")
_CLOSERS = re.compile(r"[\s}\]]*+")
_TAG = re.compile(r"<[^<>{}\"]{1,200}>|<[^<>{}]{1,200}>")

# In front of an object.
_LIST = re.compile(r"\s*+[\[(](?!/?[A-Z_]++\])")
_ELEMENT = re.compile(r"[\"'\d}\])]\s*+,\s*+\Z")
_NAME = re.compile(r"([\w-]{1,100})[\"']?\s*+[:=>]\s*+\Z")
_KEYWORD = re.compile(
    r"[(,]\s*+(?!(?:args|arguments|kwargs|params|parameters|input)\b)\w{1,100}\s*+=\s*+\Z"
)
_PARAMETER_TAG = re.compile(r"<\W{0,9}param(?:eter)?\b", re.IGNORECASE)
# Anywhere.
_MEMBER = re.compile(r"[\"'“”’]\s*+[:：]\s*+\S|\w\s*+=\s*+[\"'“\d]")
# Behind an object.
_GOES_ON = re.compile(r"\.[^\W\d]|[(+|]|\[(?!/?[A-Z_]++\])|\s*+,\s*+(?!//|/\*)\S|\s++[+|]\s")


def objects_in(text: str, params: Collection[str]) -> list[dict[str, Any]]:
    """All objects of a text in which nothing else says anything.

    Raises
    ------
    Unrepairable
        If there is none, one cannot be read, or something else would be lost.
    """
    if _MEMBER_START.match(text):
        start, before, first = 0, "", members_at(text, 0)
    else:
        start = text.find("{")
        if start < 0:
            refuse("there is no JSON object", text, 0)
        before = text[:start]
        _require_words_before(text, before, params)
        first = _first(text, start)
    objects, last = [first.value], first
    for last in _following(text, first):
        objects.append(last.value)
        if len(objects) > MAX_OBJECTS:
            refuse("there are too many objects", text, last.end)
    _require_end(text, last, before, start)
    return [opened_markup(each, before) for each in objects]


def _first(text: str, start: int) -> Found:
    """The object at ``start``, whose brackets may have been doubled for a template."""
    double = _DOUBLE_BRACE.match(text, start)
    if double is None:
        return object_at(text, start)
    found = object_at(text, double.end())
    end = len(text) - len(text[found.end :].lstrip())
    if text[end : end + 1] != "}":
        refuse("a bracket too many", text, start)
    return Found(found.value, end + 1)


def _following(text: str, found: Found) -> Iterator[Found]:
    while (start := text.find("{", found.end)) >= 0:
        _require_words(text, _behind(text, found), start)
        found = object_at(text, start)
        yield found


def _behind(text: str, found: Found) -> int:
    """Where the words behind an object begin: brackets too many are dropped."""
    match = _CLOSERS.match(text, found.end)
    return match.end() if match else found.end


def _require_words_before(text: str, before: str, params: Collection[str]) -> None:
    _require_words(text, 0, len(before))
    before = before.strip()
    name = _NAME.search(before)
    lost = (
        (_LIST.match(before) and before not in ("[", "("))
        or _ELEMENT.search(before)
        or _KEYWORD.search(before)
        or _PARAMETER_TAG.search(before)
        or (name and name[1] in params)
    )
    if lost:
        refuse("more than an object begins", text, 0)


def _require_words(text: str, start: int, end: int) -> None:
    words = text[start:end].strip()
    if len(words) > MAX_WORDS:
        refuse("there is too much text outside the object", text, start)
    words = _TAG.sub(" ", words)
    if "}" in words or _MEMBER.search(words):
        refuse("something stands outside the object", text, start)


def _require_end(text: str, last: Found, before: str, start: int) -> None:
    rest = _behind(text, last)
    _require_words(text, rest, len(text))
    if _GOES_ON.match(text, rest):
        refuse("the text goes on behind the object", text, rest)
    if before.rstrip().endswith("[") and "]" not in text[last.end : rest]:
        refuse("the text ends inside a list", text, start)
    quote = before.rstrip()[-1:]
    quoted = quote in ("'", '"') and text[rest:].lstrip().startswith(quote)
    if quoted and "\\" in text[start:rest]:
        refuse("the backslashes can be read in two ways", text, start)
