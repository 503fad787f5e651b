"""What coercion changed, for a person who reads a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 200
LEFT_OUT = "(left out)"


@dataclass(frozen=True, slots=True)
class Change:
    """``limit``: ``"5"`` became ``5``. Both values are JSON text, cut when long."""

    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}: {self.before} -> {self.after}"


def changes_between(before: Any, after: Any, path: str = "") -> Iterator[Change]:
    """One change for each place; unchanged containers are the same objects, and are skipped."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            place = f"{path}.{key}" if path else str(key)
            if key in after:
                yield from changes_between(value, after[key], place)
            else:
                yield Change(place, _shown(value), LEFT_OUT)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes_between(one, other, f"{path}[{index}]")
    else:
        yield Change(path, _shown(before), _shown(after))


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError) as error:
        return f"({type(value).__name__}: {type(error).__name__})"
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + "…"
