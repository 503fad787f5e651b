"""Unified differences that a person approves: found in what is shown, and coloured line by line."""

from __future__ import annotations

import re
from itertools import pairwise

from hermes_jupyter.views.sanitize import escape, listing

_HEAD = re.compile(r"^--- .*\n\+\+\+ ", re.MULTILINE)
_SCROLLED = '<pre tabindex="0"'
_KINDS = {"+": "added", "-": "removed", "@": "place"}


def is_diff(text: str) -> bool:
    """Whether a unified difference is in the text."""
    return _HEAD.search(text) is not None


def exact_listing(text: str) -> str:
    """Text as a block of HTML, as it is, for the keyboard to scroll; a difference has colours."""
    if not is_diff(text):
        return listing(text).replace("<pre", _SCROLLED, 1)
    lines = text.rstrip("\n").split("\n")
    names = {
        number
        for first, (line, after) in enumerate(pairwise(lines))
        if line.startswith("--- ") and after.startswith("+++ ")
        for number in (first, first + 1)
    }
    body = "".join(
        f'<span class="hermes-line-{_kind(line, number in names)}">{escape(line)}\n</span>'
        for number, line in enumerate(lines)
    )
    return f'{_SCROLLED} class="hermes-listing">{body}</pre>'


def _kind(line: str, names_file: bool) -> str:
    return "place" if names_file else _KINDS.get(line[:1], "same")
