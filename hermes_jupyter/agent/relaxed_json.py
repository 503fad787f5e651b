"""Reads one object from text that is almost JSON: a tokenizer with a stack, and no recursion.

It forgives what cannot be read in two ways: trailing and doubled commas, other quotes, words of
Python and JavaScript, comments, and closing brackets that are missing behind a complete value.
It never ends a value that was cut: a string without its quote, a number at the very end of the
text (more digits may have followed), a key without a value, a comma that promised another member.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from hermes_jupyter.agent.relaxed_values import (
    QUOTES,
    WORDS,
    number_of,
    raw_string_at,
    refuse,
    string_at,
)

MAX_DEPTH = 200
MAX_TOKENS = 200_000
"""More is not mended: it would hold up the loop for seconds."""

# Between values: space of any kind, a comment with its end, a model's control token.
_GAP = re.compile(
    r"(?:[\s\x00-\x1f\x7f\ufeff\u200b-\u200d\u2060]++|\\[nrt](?![\w])|/\*.*?\*/"
    r"|(?://|\#)[^\n]*+\n|<[|｜][\w ▁./-]{1,60}[|｜]>)*",
    re.DOTALL,
)
_BARE = re.compile(r"[^\s,:\[\]{}()\"'`“”‘’„＂«»/#<>|\\，：]++")
_IDENTIFIER = re.compile(r"[^\W\d][\w$-]*|\$[\w$-]*")
_DIVISION = re.compile(r"/|[ \t]*+//[ \t]*+[\d(]")
_COLONS = frozenset(":：")
_CLOSER_OF = {"{": "}", "[": "]", "(": ")"}


@dataclass(slots=True)
class _Open:
    """A container whose closing bracket is still to come."""

    value: dict[str, Any] | list[Any]
    closer: str
    key: str | None = None
    comma: bool = False
    """Whether a comma was seen behind the last element (or in front of the first)."""

    def is_complete(self) -> bool:
        """Whether it could end here without the loss of anything that was begun."""
        return self.key is None and not self.comma and len(self.value) > 0


@dataclass(frozen=True, slots=True)
class Found:
    """An object, and the part of the text that it was read from."""

    value: dict[str, Any]
    end: int


class _Reader:
    def __init__(self, text: str, place: int) -> None:
        self._text = text
        self._place = place
        self._root: dict[str, Any] = {}
        self._open = [_Open(self._root, "}")]
        self._closing = False
        """A bracket was missing or too many: only brackets may follow."""
        self._last_end = -1
        self._ended_in_number = False
        self._ended_in_string = False

    def read(self) -> Found:
        tokens = 0
        while self._open:
            self._skip_gap()
            if self._place >= len(self._text):
                self._end_of_text()
            else:
                self._token(self._text[self._place])
            tokens += 1
            if tokens > MAX_TOKENS:
                self._refuse("there is too much to mend")
        return Found(self._root, self._place)

    def _refuse(self, reason: str) -> NoReturn:
        refuse(reason, self._text, self._place)

    def _skip_gap(self) -> None:
        match = _GAP.match(self._text, self._place)
        self._place = match.end() if match else self._place

    def _token(self, mark: str) -> None:
        top = self._open[-1]
        if mark in "}])":
            self._close(mark)
        elif self._closing:
            self._refuse("brackets do not match")
        elif mark in ",，":
            self._comma(top)
        elif isinstance(top.value, dict) and top.key is None:
            self._key(top, mark)
        else:
            self._value(top, mark)

    def _end_of_text(self) -> None:
        top = self._open[-1]
        at_number = self._ended_in_number and self._last_end == len(self._text)
        if not top.is_complete() or at_number:
            self._refuse("the text ends before the object does")
        if any(each.closer == ")" for each in self._open):
            self._refuse("the text ends inside a tuple")
        self._open.clear()

    def _close(self, mark: str) -> None:
        top = self._open[-1]
        if top.key is not None:
            self._refuse(f"the key {top.key[:40]!r} has no value")
        if top.comma and not top.value:
            self._refuse("a comma stands alone")
        self._place += 1
        if mark == top.closer:
            self._close_top(top)
        elif mark == ")" or top.closer == ")" or not top.is_complete():
            self._refuse(f"a wrong bracket {mark!r}")
        else:
            self._closing = True
            self._close_as_far_as(mark)

    def _close_top(self, top: _Open) -> None:
        if top.closer == ")" and len(top.value) == 1 and not top.comma:
            self._refuse("brackets around a single value")
        self._ended_in_string = False
        self._open.pop()

    def _close_as_far_as(self, mark: str) -> None:
        """Close the containers inside the one that this bracket ends; without one, drop it."""
        outer = next((each for each in reversed(self._open) if each.closer == mark), None)
        if outer is None:
            return
        while self._open[-1] is not outer:
            self._open.pop()
        self._open.pop()

    def _comma(self, top: _Open) -> None:
        if top.key is not None:
            self._refuse(f"the key {top.key[:40]!r} has no value")
        if isinstance(top.value, list) and (top.comma or not top.value):
            self._refuse("a value is missing")
        top.comma = True
        self._place += 1

    def _key(self, top: _Open, mark: str) -> None:
        if top.value and not top.comma:
            self._missing_comma_before_key(mark)
        if mark in QUOTES:
            top.key, self._place = string_at(self._text, self._place)
        elif mark == "u" and self._text.startswith(("'", '"'), self._place + 1):
            top.key, self._place = string_at(self._text, self._place + 1)
        else:
            top.key = self._identifier()
        if top.key in top.value:
            self._refuse(f"the key {top.key[:40]!r} stands twice")
        self._skip_gap()
        if self._text[self._place : self._place + 1] not in _COLONS:
            self._refuse(f"no colon behind {top.key[:40]!r}")
        self._place += 1

    def _missing_comma_before_key(self, mark: str) -> None:
        """Behind a string this might be a quote inside it; behind another value it is a key."""
        is_apart = self._place > self._last_end
        if not is_apart or (self._ended_in_string and mark != '"'):
            self._refuse("a comma is missing, or a quote")

    def _identifier(self) -> str:
        match = _IDENTIFIER.match(self._text, self._place)
        if match is None:
            self._refuse("no key")
        if match.group() in WORDS:
            self._refuse("a key that is no text")
        self._place = match.end()
        return match.group()

    def _value(self, top: _Open, mark: str) -> None:
        if isinstance(top.value, list) and top.value and not top.comma:
            self._missing_comma(top.value[-1], mark)
        if mark in _CLOSER_OF:
            self._open_container(top, mark)
            return
        value = self._scalar(mark)
        self._last_end = self._place
        self._attach(top, value)

    def _missing_comma(self, before: object, mark: str) -> None:
        """Two containers in a row are two elements; two strings might be one in two pieces."""
        if not (isinstance(before, dict | list) and mark in "{["):
            self._refuse("a comma is missing, or a quote")

    def _open_container(self, top: _Open, mark: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            self._refuse("nested too deeply")
        value: dict[str, Any] | list[Any] = {} if mark == "{" else []
        self._attach(top, value)
        self._open.append(_Open(value, _CLOSER_OF[mark]))
        self._place += 1

    def _attach(self, top: _Open, value: Any) -> None:
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is not None:
            top.value[top.key] = value
        top.key, top.comma = None, False

    def _scalar(self, mark: str) -> Any:
        self._ended_in_number = False
        self._ended_in_string = True
        if mark in QUOTES:
            value, self._place = string_at(self._text, self._place)
            return value
        following = self._text[self._place + 1 : self._place + 2]
        if mark in "urUR" and following in ('"', "'"):
            read = raw_string_at if mark in "rR" else string_at
            value, self._place = read(self._text, self._place + 1)
            return value
        self._ended_in_string = False
        return self._word()

    def _word(self) -> Any:
        match = _BARE.match(self._text, self._place)
        word = match.group() if match else ""
        if word in WORDS:
            self._place += len(word)
            return WORDS[word]
        number = number_of(word)
        if number is None:
            self._refuse("no value")
        self._place += len(word)
        if _DIVISION.match(self._text, self._place):
            self._refuse("a sum would have to be evaluated")
        self._ended_in_number = True
        return number


def object_at(text: str, place: int) -> Found:
    """The object whose opening bracket stands at ``place``.

    Raises
    ------
    Unrepairable
        If it has no reading, or more than one.
    """
    return _Reader(text, place + 1).read()


def members_at(text: str, place: int) -> Found:
    """The object whose members begin at ``place``: its opening bracket is missing."""
    return _Reader(text, place).read()
