"""A notebook as its file has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 50_000_000
"""A larger file is not read: it would take seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCell:
    """A cell of the file."""

    id: str
    kind: str
    """``code``, ``markdown`` or ``raw``."""
    source: str
    outputs: Sequence[Mapping[str, Any]] = ()
    number: int = 0
    """Of its last run, as the file says; 0 if it has none."""


@dataclass(frozen=True, slots=True)
class SavedNotebook:
    """The cells of a file, and when it was written (seconds since the epoch)."""

    cells: Sequence[SavedCell] = ()
    at: float = 0.0


NOTHING = SavedNotebook()


def read_saved(path: str) -> SavedNotebook:
    """The notebook at ``path``; nothing if there is none, or none that can be read."""
    try:
        about = Path(path).stat()
        if not path or about.st_size > MAX_BYTES:
            return NOTHING
        document = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return NOTHING
    cells = document.get("cells") if isinstance(document, dict) else None
    cells = cells if isinstance(cells, list) else ()
    found = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    return SavedNotebook(found, about.st_mtime)


def _cell(cell: Mapping[str, Any]) -> SavedCell:
    outputs, number = cell.get("outputs"), cell.get("execution_count")
    return SavedCell(
        id=str(cell.get("id") or ""),
        kind=str(cell.get("cell_type")),
        source=joined(cell.get("source")),
        outputs=[each for each in outputs if isinstance(each, dict)]
        if isinstance(outputs, list)
        else (),
        number=number if isinstance(number, int) else 0,
    )


def joined(text: Any) -> str:
    """Text of a notebook file, which may be a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")
