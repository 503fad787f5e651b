"""Strings, numbers and words of text that is almost JSON. Each has one reading, or none.

Nothing is evaluated, and the end of a string is never guessed: it ends at its own quote.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

NEAR = 20
"""Characters shown on each side of a mistake."""

MAX_MENDED_CHARS = 2_000_000
"""Of a string with escapes that JSON does not know; mending more would hold up the loop."""


class Unrepairable(ValueError):
    """Text that has no reading, or more than one. Says what is wrong and where."""


def refuse(reason: str, text: str, place: int) -> NoReturn:
    around = text[max(0, place - NEAR) : place + NEAR]
    raise Unrepairable(f"{reason} at character {place}, near {around!r}")


WORDS = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
    "null": None, "None": None, "NULL": None, "undefined": None,
}  # fmt: skip

# Possessive (``*+``): a string without an end costs one pass, not one per character. Only on
# single characters: before Python 3.11.5 possessive groups miss matches (gh-106052).
_BODY = r"(?P<body>[^{end}\\]*+(?:\\.[^{end}\\]*+)*)[{end}]"
_TRIPLE = r"(?P<body>(?:[^{end}\\]++|\\.|{end}(?!{end}{end}))*){end}{end}{end}"
_CLOSING = {
    '"': '"', "'": "'", "`": "`", "“": "”", "”": "”", "„": "“”", "‘": "’", "＂": "＂", "«": "»",
}  # fmt: skip
_STRINGS = {
    opening: re.compile(_BODY.format(end=closing), re.DOTALL)
    for opening, closing in _CLOSING.items()
}
_TRIPLE_STRINGS = {q: re.compile(_TRIPLE.format(end=q), re.DOTALL) for q in ('"', "'")}
QUOTES = frozenset(_CLOSING)

_ESCAPES_OF_JSON = r"[\"\\/bfnrt]|u[0-9a-fA-F]{4}"
_ESCAPES_OF_PROGRAMS = r"|['`]|x[0-9a-fA-F]{2}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}"
_ESCAPE_IN_JSON = re.compile(rf"\\(?:({_ESCAPES_OF_JSON})|(.))|\"", re.DOTALL)
_ESCAPE_IN_PROGRAM = re.compile(
    rf"\\(?:({_ESCAPES_OF_JSON}{_ESCAPES_OF_PROGRAMS})|(.))|\"", re.DOTALL
)
_TYPOGRAPHIC = "“”„‘’＂«»"
_ESCAPE_IN_TYPOGRAPHIC = re.compile(
    rf"\\(?:({_ESCAPES_OF_JSON}|[{_TYPOGRAPHIC}])|(.))|\"", re.DOTALL
)
_OF_FOLDER = re.compile(r"(?:[A-Za-z]:|\\\\[\w.$-]+)\\")

_NUMBER = re.compile(
    r"[+-]?(?:(?P<based>0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+))"
    r"|(?P<whole>0|[1-9][0-9]*(?:_[0-9]+)*)(?P<rest>(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
)


def string_at(text: str, place: int) -> tuple[str, int]:
    """The string whose opening quote stands at ``place``, and where it ends."""
    quote = text[place]
    pattern, start = _STRINGS[quote], place + 1
    if quote in _TRIPLE_STRINGS and text.startswith(quote * 3, place):
        pattern, start = _TRIPLE_STRINGS[quote], place + 3
    match = pattern.match(text, start)
    if match is None:
        refuse("the text ends inside the string that begins", text, place)
    body = match["body"]
    if quote == "`" and "${" in body:
        refuse("a template would have to be evaluated", text, place)
    if quote in "'`" or start == place + 3:
        return _decoded(body, _ESCAPE_IN_PROGRAM, text, place), match.end()
    try:
        return str(json.loads(f'"{body}"', strict=False)), match.end()
    except ValueError:  # escapes that JSON does not know, or straight quotes in curly ones
        escape = _ESCAPE_IN_TYPOGRAPHIC if quote in _TYPOGRAPHIC else _ESCAPE_IN_JSON
        return _decoded(body, escape, text, place), match.end()


def raw_string_at(text: str, place: int) -> tuple[str, int]:
    """The Python string ``r"..."`` whose quote stands at ``place``: no backslash escapes."""
    match = _STRINGS[text[place]].match(text, place + 1)
    if match is None:
        refuse("the text ends inside the string that begins", text, place)
    return match["body"], match.end()


def _decoded(body: str, escape: re.Pattern[str], text: str, place: int) -> str:
    """What a string says. An escape that is none is kept as it was written.

    Where ``\\d`` was meant, ``\\b`` is likelier a word boundary than a backspace, and in a path
    every backslash stands for itself: such a string has two readings.
    """
    if len(body) > MAX_MENDED_CHARS:
        refuse("a string is too long to mend its escapes", text, place)
    known, kept = set(), False

    def in_json(match: re.Match[str]) -> str:
        nonlocal kept
        valid, other = match[1], match[2]
        if valid is None and other is None:
            return '\\"'
        if valid is None:
            kept = True
            return json.dumps(f"\\{other}")[1:-1]
        known.add(valid[0])
        if valid[0] in "'`" or valid[0] in _TYPOGRAPHIC:
            return valid
        if valid[0] in "xU":
            return json.dumps(chr(int(valid[1:], 16)))[1:-1]
        return match[0]

    value = str(json.loads(f'"{escape.sub(in_json, body)}"', strict=False))
    if kept and (known & set("bf") or (known & set("nrtu") and _OF_FOLDER.match(body))):
        refuse("some backslashes are escapes and others are not in the string", text, place)
    return value


def number_of(word: str) -> int | float | None:
    """The number that a JSON, Python or JavaScript literal writes; None if it is none."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    try:
        if match["based"]:
            return int(word, 0)
        number = float(word) if match["rest"] != "" else int(word)
    except ValueError:  # more digits than Python converts
        return None
    return number if math.isfinite(number) else None
