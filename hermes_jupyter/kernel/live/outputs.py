"""What a run of code would show below a cell, in its order, as a notebook has it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.plain_text import Excerpt

KEPT_CHARS = 50_000
"""Of one piece of text: the beginning and the end."""
MOST_PIECES = 60
"""Pieces of text between displays; what comes later is added to the last."""


@dataclass(slots=True)
class _Text:
    name: str
    said: Excerpt = field(default_factory=lambda: Excerpt(KEPT_CHARS))


class CellOutputs:
    """Collects them. Not safe for threads: who adds holds a lock."""

    def __init__(self) -> None:
        self._parts: list[_Text | dict[str, Any]] = []
        self._named: dict[str, dict[str, Any]] = {}

    def print(self, text: str, name: str) -> None:
        """Text on ``stdout`` or ``stderr``."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _Text) or (last.name != name and len(self._parts) < MOST_PIECES):
            last = _Text(name)
            self._parts.append(last)
        last.said.add(text)

    def display(self, bundle: Mapping[str, Any], metadata: Any, name: str = "") -> None:
        """A display; ``name`` is its display id, if it has one."""
        shown = {"output_type": "display_data", **_as_json(bundle, metadata)}
        self._parts.append(shown)
        if name:
            self._named[name] = shown

    def update(self, bundle: Mapping[str, Any], metadata: Any, name: str) -> None:
        """Another content for the display of this id."""
        if (shown := self._named.get(name)) is not None:
            shown.update(_as_json(bundle, metadata))

    def result(self, bundle: Mapping[str, Any], metadata: Any) -> None:
        """The value of the last expression."""
        count = {"execution_count": None}
        result = {"output_type": "execute_result", **count, **_as_json(bundle, metadata)}
        self._parts.append(result)

    def fail(self, kind: str, message: str, lines: list[str]) -> None:
        """An error."""
        self._parts.append(
            {"output_type": "error", "ename": kind, "evalue": message, "traceback": lines}
        )

    def clear(self) -> None:
        self._parts.clear()

    def all(self) -> tuple[Mapping[str, Any], ...]:
        """As in nbformat 4."""
        return tuple(
            {"output_type": "stream", "name": part.name, "text": part.said.text()}
            if isinstance(part, _Text)
            else part
            for part in self._parts
        )


def _as_json(bundle: Mapping[str, Any], metadata: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(dict(bundle), default=_plain))
    about = json.loads(json.dumps(dict(metadata or {}), default=_plain))
    return {"data": data, "metadata": about}


def _plain(value: Any) -> str:
    """Pictures in base64, as files have them."""
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)
