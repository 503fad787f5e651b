"""Files with the secrets hidden: lines to show, and text to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from tools.files.access import FileAccess
from tools.files.lines import Page, read_page
from tools.files.notebook_text import notebook_text
from tools.files.problems import Problem
from tools.files.searching import Match
from tools.secrets.placeholders import NONE, Secrets

LINES_OF_A_KEY = 200
"""A private key is known by its first line, which may stand so far above what is shown."""
LINE_OF_A_KEY = re.compile(r"\s*[A-Za-z0-9+/=]{40,}\s*")


def read_hidden(
    chunks: Iterable[bytes], first: int, count: int, stopped: Callable[[], bool], secrets: Secrets
) -> Page:
    """Like `read_page`, with placeholders for secrets."""
    above = 0 if secrets is NONE else min(first - 1, LINES_OF_A_KEY)
    page = read_page(chunks, first - above, count + above, stopped)
    lines = secrets.mask("\n".join(page.lines)).split("\n") if page.lines else []
    return replace(page, lines=tuple(lines[above:]))


def hidden_match(found: Match, path: str, files: FileAccess, secrets: Secrets) -> Match:
    """A hit of a search, and the lines around it, with placeholders for secrets."""
    lines = [*found.before, found.content, *found.after]
    if any(map(LINE_OF_A_KEY.fullmatch, lines)) and secrets is not NONE:
        first = found.line - len(found.before)
        page = read_hidden(_chunks(path, files), first, len(lines), lambda: False, secrets)
        shown = list(page.lines)
    else:
        shown = secrets.mask("\n".join(lines)).split("\n")
    at = len(found.before)
    return replace(found, content=shown[at], before=tuple(shown[:at]), after=tuple(shown[at + 1 :]))


def _chunks(path: str, files: FileAccess) -> Iterable[bytes]:
    """The file as a search sees it."""
    if not path.endswith(".ipynb"):
        return files.chunks(path)
    content = b"".join(files.chunks(path))
    cells = notebook_text(content)
    return [content if cells is None else cells.encode("utf-8", "replace")]


def resolved(text: str, existing: str, secrets: Secrets) -> str:
    """The text as it goes into a file; a `Problem` if a placeholder in it is unknown."""
    try:
        return secrets.resolve(text, existing)
    except ValueError as error:
        raise Problem(f"Nothing was written: {error}") from None
