"""All cells of a notebook at one moment, as its page tells them, and what becomes of one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tools.cells import KINDS, CellProblem

MOST_OUTPUT = 1_000_000
"""Characters of JSON. Larger outputs of a cell are not kept for an undo."""
Outputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellState:
    """A cell at one moment."""

    kind: str
    source: str
    number: int = 0
    """Of its last run; 0 if it has not run."""
    outputs: Outputs | None = None
    """As in nbformat 4; None if nobody looked, if they are too large to be kept, or if the page
    gives only a part of them."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def is_text_of(self, other: CellState) -> bool:
        """Has it the same text and kind?"""
        return (self.kind, self.source) == (other.kind, other.source)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cells in their order, by id."""

    cells: Mapping[str, CellState]

    @property
    def order(self) -> list[str]:
        return [*self.cells]

    def with_whole(self, told: Mapping[str, Any]) -> Snapshot:
        """The same with some cells as they were told in whole."""
        whole = snapshot_of(told).cells
        return Snapshot({name: whole.get(name, state) for name, state in self.cells.items()})

    def is_beside(self, cell: str, other: str, *, before: bool) -> bool:
        """Does a cell stand just before (or behind) another?"""
        order = self.order
        if cell not in order or other not in order:
            return False
        return order.index(other) - order.index(cell) == (1 if before else -1)


def snapshot_of(told: Mapping[str, Any], *, outputs: bool = True) -> Snapshot:
    """Read the answer of a page. Without ``outputs`` those in it do not count.

    Raises
    ------
    CellProblem
        If it is none.
    """
    found = told.get("cells")
    if not isinstance(found, list):
        raise CellProblem("the page's answer has no list of cells")
    cells = dict(map(state_of, found))
    if not outputs:
        cells = {name: replace(cell, outputs=None) for name, cell in cells.items()}
    return Snapshot(cells)


def state_of(told: Any) -> tuple[str, CellState]:
    """A cell as a page tells it: its id, and what it is. Raises a CellProblem if it is none."""
    if not isinstance(told, Mapping) or not isinstance(told.get("id"), str):
        raise CellProblem("the page's answer has a cell without an id")
    kind, number, metadata = (told.get(key) for key in ("type", "execution_count", "metadata"))
    state = CellState(
        kind=kind if kind in KINDS else "raw",
        source=str(told.get("source") or ""),
        number=number if isinstance(number, int) else 0,
        outputs=_outputs(told.get("outputs")),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )
    return told["id"], state


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """What was done to one cell, or may have been."""

    notebook: str
    """Its path."""
    anchor: str
    """A cell that stands in this notebook, whatever it is called: that of the turn."""
    cell: str
    before: CellState | None
    """None: there was none."""
    after: CellState | None
    order: Sequence[str]
    """Of all cells, before the change."""
    order_after: Sequence[str]
    moved: bool = False
    shown: bool = False
    """Has it got other outputs?"""


def kept(state: CellState | None) -> dict[str, Any] | None:
    """What is stored of a state, beside its text."""
    if state is None:
        return None
    outputs = state.outputs
    if outputs is not None and len(_as_text(outputs)) > MOST_OUTPUT:
        outputs = None
    return {
        "kind": state.kind,
        "number": state.number,
        "outputs": outputs,
        "metadata": dict(state.metadata),
    }


def restored(stored: Mapping[str, Any] | None, source: str) -> CellState | None:
    """The state that was stored by `kept`."""
    return None if stored is None else CellState(source=source, **stored)


def _outputs(told: Any) -> list[Mapping[str, Any]]:
    return [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []


def _as_text(outputs: Outputs) -> str:
    return json.dumps(list(outputs), sort_keys=True, default=str)
