"""The cells above a turn, from the file and from what the kernel has run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from hermes_jupyter.notebook.saved import SavedCell, SavedNotebook

_OURS = re.compile(
    r"\s*(?:%%agent\b|%hermes\b|%%?hermes_\w+\b"
    r"|%(?:re)?load_ext\s+hermes_jupyter|%config\s+Hermes\b)"
)
Outputs = Sequence[Mapping[str, Any]]


class Ran(Protocol):
    """A cell that has run."""

    @property
    def id(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def error(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCell:
    """A cell of the user's as it is now, and what its last run put out."""

    key: str
    """Says which cell it is; its id if it has one."""
    kind: str
    source: str
    number: int = 0
    """Of its last run in this kernel; 0: it has not run."""
    error: str = ""
    """Of that run; empty if it did not fail."""
    changed: bool = False
    """Was it changed after that run?"""
    outputs: Callable[[], Outputs] = tuple
    """Looks them up."""


def cells_above(
    current: str,
    saved: SavedNotebook,
    ran: Sequence[Ran],
    outputs: Callable[[Any], Outputs],
) -> list[SeenCell]:
    """The user's cells, as the notebook has them; those that the agent was asked in left out.

    Parameters
    ----------
    current
        The id of the cell that asks; empty if it is not known.
    ran
        In the order in which they ran. A cell may have run more than once.
    outputs
        Gives what a cell that ran has put out.
    """
    last = {_key(cell): cell for cell in ran}
    places = [cell.id for cell in saved.cells]
    above = saved.cells[: places.index(current)] if current and current in places else saved.cells
    found = [_seen(cell, last.get(cell.id), saved.at, outputs) for cell in above]
    elsewhere = {*places, current} - {""}
    found += [
        SeenCell(
            key=key,
            kind="code",
            source=cell.source,
            number=cell.number,
            error=cell.error,
            outputs=partial(outputs, cell),
        )
        for key, cell in _by_run(last)
        if cell.id not in elsewhere
    ]
    return [cell for cell in found if cell.source.strip() and not _OURS.match(cell.source)]


def _key(cell: Ran) -> str:
    return cell.id or f"run {cell.number}"


def _by_run(last: Mapping[str, Ran]) -> list[tuple[str, Ran]]:
    return sorted(last.items(), key=lambda item: item[1].number)


def _seen(
    cell: SavedCell, run: Ran | None, saved_at: float, outputs: Callable[[Any], Outputs]
) -> SeenCell:
    key = cell.id or f"cell {cell.source[:80]}"
    if run is None:
        return SeenCell(key=key, kind=cell.kind, source=cell.source, outputs=lambda: cell.outputs)
    newest = cell.source if saved_at > run.at else run.source
    return SeenCell(
        key=key,
        kind=cell.kind,
        source=newest,
        number=run.number,
        error=run.error,
        changed=newest.strip() != run.source.strip(),
        outputs=lambda: outputs(run) or cell.outputs,
    )
