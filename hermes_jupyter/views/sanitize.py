"""Makes foreign text safe to show. Text of a model, a tool or a file is data, never markup."""

from __future__ import annotations

import html
import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Control characters, and those that turn the direction of the text that follows.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
# Drawn as nothing, though Unicode files them under letters, marks or symbols.
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)


def clean(text: str) -> str:
    """Text as a terminal would leave it on screen: no escape sequences, no control characters."""
    text = _joined_surrogates(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
    return _CONTROL.sub("", text)


def escape(text: str) -> str:
    """Cleaned text for HTML, inside an element or a quoted attribute."""
    return html.escape(clean(text))


def reveal(text: str) -> str:
    """Text with everything that has no ink made visible, as ``⟨U+202E⟩``.

    For what a person approves: it must look like what it is.
    """
    return "".join(
        character
        if character in "\n\t" or (character.isprintable() and character not in _BLANK)
        else f"⟨U+{ord(character):04X}⟩"
        for character in text
    )


def one_line(text: str, limit: int) -> str:
    """Cleaned text on one line, cut to ``limit`` characters."""
    line = " ".join(clean(text[: 4 * limit + 100]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def last_lines(text: str, count: int = 1) -> list[str]:
    """The last lines with something on them."""
    return [line for line in clean(text[-4000:]).splitlines() if line.strip()][-count:]


def head_and_tail(text: str, limit: int) -> str:
    """At most about ``limit`` characters: the start, what was left out, the end."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = f"\n… {len(text) - head - tail:,} of {len(text):,} characters left out …\n"
    return text[:head] + left_out + text[len(text) - tail :]


def _joined_surrogates(text: str) -> str:
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
