"""Makes foreign text safe to show: nothing in it acts on a page, a terminal or its reader."""

from __future__ import annotations

import html
import re

from hermes_jupyter.text import mended

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
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
    text = mended(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
    return _CONTROL.sub("", text)


def escape(text: str) -> str:
    """Cleaned text for HTML, inside an element or a quoted attribute."""
    return html.escape(clean(text))


def listing(text: str) -> str:
    """Text as a block of HTML, as it is; nothing for nothing."""
    return f'<pre class="hermes-listing">{escape(text)}</pre>' if text.strip() else ""


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
    return text if len(text) <= limit else joined_ends(text, text, limit, len(text))


def joined_ends(start: str, end: str, limit: int, total: int) -> str:
    """The first of ``start`` and the last of ``end``, of a text of ``total`` characters."""
    head, tail = start[: limit * 2 // 3], end[max(0, len(end) - limit // 3) :]
    left_out = total - len(head) - len(tail)
    return f"{head}\n… {left_out:,} of {total:,} characters left out …\n{tail}"
