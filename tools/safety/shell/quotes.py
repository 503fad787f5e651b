"""What a backslash means, in and out of quotes."""

from __future__ import annotations

import re

from tools.safety.shell import syntax

_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_NAMED = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f",
    "v": "\v",
}  # fmt: skip
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def unescaped(text: str) -> tuple[syntax.Part, ...]:
    """A word without quotes; what follows a backslash is as if quoted."""
    parts: list[syntax.Part] = []
    at = 0
    for match in _ESCAPED.finditer(text):
        if match.start() > at:
            parts.append(syntax.Literal(text[at : match.start()], False))
        if match.group(1) != "\n":
            parts.append(syntax.Literal(match.group(1), True))
        at = match.end()
    if at < len(text):
        parts.append(syntax.Literal(text[at:], False))
    return tuple(parts)


def unescaped_in_quotes(text: str) -> str:
    """Text of double quotes."""
    if "\\" not in text:
        return text
    return re.sub(r'\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], text)


def ansi_unquoted(text: str) -> str:
    """Text of ``$'...'``."""
    return _ANSI.sub(_ansi_character, text) if "\\" in text else text


def _ansi_character(match: re.Match[str]) -> str:
    two, four, eight, octal, control, other = match.groups()
    if number := two or four or eight:
        return chr(min(int(number, 16), 0x10FFFF))
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return chr(ord(control) & 0x1F)
    return _ANSI_NAMED.get(other, other)
