"""Files with the secrets hidden: lines to show, and text to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tools.files.findings import Match
from tools.files.place import Place
from tools.files.problems import Problem
from tools.files.reading import Reading
from tools.secrets.placeholders import NONE, Secrets

LINES_OF_A_KEY = 200
"""A private key is known by its first line, which may stand so far above what is shown."""
LINE_OF_A_KEY = re.compile(r"\s*[A-Za-z0-9+/=]{40,}\s*")


def read_hidden(
    place: Place, path: str, window: tuple[int, int], stopped: Callable[[], bool], secrets: Secrets
) -> Reading:
    """Like `Place.read_lines` of ``(first, count)``, with placeholders for secrets."""
    first, count = window
    above = 0 if secrets is NONE else min(first - 1, LINES_OF_A_KEY)
    found = place.read_lines(path, first - above, count + above, stopped)
    if found.page is None:
        return found
    page = found.page
    lines = secrets.mask("\n".join(page.lines)).split("\n") if page.lines else []
    return replace(found, page=replace(page, lines=tuple(lines[above:])))


def hidden_match(found: Match, path: str, place: Place, secrets: Secrets) -> Match:
    """A hit of a search, and the lines around it, with placeholders for secrets."""
    lines = [*found.before, found.content, *found.after]
    if any(map(LINE_OF_A_KEY.fullmatch, lines)) and secrets is not NONE:
        window = found.line - len(found.before), len(lines)
        page = read_hidden(place, path, window, lambda: False, secrets).page
        shown = list(page.lines) if page else []
        shown += [""] * (len(lines) - len(shown))  # it was changed since; nothing is shown then
    else:
        shown = secrets.mask("\n".join(lines)).split("\n")
    at = len(found.before)
    return replace(found, content=shown[at], before=tuple(shown[:at]), after=tuple(shown[at + 1 :]))


def resolved(text: str, existing: str, secrets: Secrets) -> str:
    """The text as it goes into a file; a `Problem` if a placeholder in it is unknown."""
    try:
        return secrets.resolve(text, existing)
    except ValueError as error:
        raise Problem(f"Nothing was written: {error}") from None
