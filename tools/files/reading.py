"""Some lines of a file as a person would see them, out of its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from tools.files.lines import Page, read_page
from tools.files.notebook_text import notebook_text
from tools.files.text import HEAD_BYTES, is_binary

MAX_NOTEBOOK_BYTES = 64 << 20
SHOWN_HEAD_BYTES = 64
"""Enough to tell what kind of file it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds."""

    head: bytes
    """Its first bytes."""
    page: Page | None
    """None if it is no text."""
    is_notebook: bool | None = None
    """Whether its cells are shown; None if it does not claim to be a notebook."""


def read_lines(
    chunks: Iterable[bytes], path: str, first: int, count: int, stopped: Callable[[], bool]
) -> Reading:
    """Read ``count`` lines from line ``first`` on."""
    pieces = iter(chunks)
    start = next(pieces, b"")
    head = start[:SHOWN_HEAD_BYTES]
    if is_binary(start[:HEAD_BYTES]):
        return Reading(head, None)
    pieces = chain([start], pieces)
    if not path.endswith(".ipynb"):
        return Reading(head, read_page(pieces, first, count, stopped))
    content, rest = _taken(pieces, MAX_NOTEBOOK_BYTES)
    cells = notebook_text(content) if rest is None else None
    text = content if cells is None else cells.encode("utf-8", "replace")
    page = read_page(chain([text], rest or ()), first, count, stopped)
    return Reading(head, page, cells is not None if rest is None else None)


def _taken(pieces: Iterator[bytes], most: int) -> tuple[bytes, Iterator[bytes] | None]:
    """All bytes; or about the first ``most``, and the others."""
    taken: list[bytes] = []
    size = 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size > most:
            return b"".join(taken), pieces
    return b"".join(taken), None
