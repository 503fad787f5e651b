"""The cells of the notebook that a turn belongs to, as tools see them: ``context["cells"]``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

CellKind = Literal["code", "markdown", "raw"]
KINDS = ("code", "markdown", "raw")
KIND = "cell"
"""What the recorder of a turn is told that cells are."""
ASKS_AN_AGENT = re.compile(r"\A\s*%%(?:agent|hermes_agent)\b|^[ \t]*%hermes(?:_control)?\b", re.M)
"""Text of a cell that would start or steer a turn."""
NAME_CHARS = 50
NEEDS_PAGE = (
    "this needs the notebook's page, and no page is connected (JupyterLab or Notebook 7 with the "
    "hermes_jupyter extension). insert_cell puts a cell below yours when your turn has ended"
)
MISSING = "there is no notebook here: this tool works on the cells of a notebook"


class CellProblem(Exception):
    """It cannot be done. One line for the model, with what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell as it is now."""

    id: str
    kind: str
    source: str
    number: int = 0
    """Of its last run; 0 if it has not run."""
    output: str = ""
    """In short."""
    is_agents: bool = False
    """Is it the one that the agent was asked in?"""

    @property
    def digest(self) -> str:
        """Says whether its text is still the same."""
        return digest_of(self.source)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a cell goes: behind or before another."""

    cell: str
    before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRun:
    """What became of a cell that ran."""

    source: str
    outputs: Sequence[Mapping[str, Any]] = ()
    """As in nbformat 4."""
    error: str = ""
    """One line; empty if it did not fail."""


class Recorder(Protocol):
    """Who is told of changes, so that they can be taken back: a turn's ``checkpoint``."""

    def changed(self, kind: str, change: Any) -> None:
        """Something of this kind was changed, or may have been. Never raises."""


class NotebookCells(Protocol):
    """The notebook in its page, or what is left of it where there is no page.

    All methods wait, and may be called from any thread but that of the cell. They raise a
    `CellProblem` when the page is gone, refuses, or cannot.
    """

    judged: dict[str, str]
    """The texts that guards have let run in this turn, by the calls that they looked at."""

    @property
    def names(self) -> Mapping[str, str]:
        """What a person knows cells by, by their ids: of all that have been read yet."""
        ...

    @property
    def can_edit(self) -> bool:
        """Is there a page that changes cells?"""
        ...

    @property
    def can_insert(self) -> str:
        """Why no cell can be inserted; empty if one can be."""
        ...

    def tell(self, recorder: Recorder) -> None:
        """Tell this one of all changes from now on."""
        ...

    def read(self) -> Sequence[Cell]:
        """All cells, in order."""
        ...

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
        """Put a new cell there; without a spot below the agent's own, and below those that it has
        put there before. None if it appears only when the turn has ended."""
        ...

    def edit(self, cell: str, source: str, was: str) -> Cell:
        """Give a cell another text; ``was`` is the digest of the one it has."""
        ...

    def move(self, cell: str, spot: Spot) -> Sequence[Cell]:
        """Move a cell; all cells as they are then."""
        ...

    def delete(self, cells: Mapping[str, str]) -> Sequence[Cell]:
        """Remove cells, each with the digest of its text; those that are left."""
        ...

    def show(self, cell: str, run: CellRun) -> None:
        """Show what a cell put out when it ran, below it, and note that it ran."""
        ...


def cells_of(context: Mapping[str, Any]) -> NotebookCells | None:
    """The cells of a call; None where there are none."""
    return context.get("cells")


def digest_of(source: str) -> str:
    """Short, and the same on both sides: SHA-256 of the UTF-8 text, in hexadecimal."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def name_of(source: str, number: int = 0) -> str:
    """What a person knows a cell by: ``[4] “df.plot()”``, its last run and its first words."""
    first = next((line.strip() for line in source.splitlines() if line.strip()), "(empty)")
    short = first if len(first) <= NAME_CHARS else f"{first[: NAME_CHARS - 1]}…"
    return f"[{number}] “{short}”" if number else f"“{short}”"


def find(cells: Sequence[Cell], name: str) -> Cell:
    """The cell of this id, or of the beginning of one.

    Raises
    ------
    CellProblem
    """
    exact = [cell for cell in cells if cell.id == name]
    near = exact or [cell for cell in cells if len(name) >= 4 and cell.id.startswith(name)]
    if len(near) == 1:
        return near[0]
    if near:
        raise CellProblem(f"the id {name!r} fits {len(near)} cells; give it in full")
    raise CellProblem(f"there is no cell {name!r}; read_cells lists them with their ids")
