"""The cells of a turn where no page can be asked: what the file and the kernel know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.outputs import text_of
from hermes_jupyter.notebook.paged import OUTPUT_CHARS
from tools.cells import (
    NEEDS_PAGE,
    Cell,
    CellKind,
    CellProblem,
    CellRun,
    Recorder,
    Spot,
    name_of,
)


class UnpagedCells:
    """Reads; and a cell can be put below the agent's own at the end, if somebody is there.

    Parameters
    ----------
    seen
        Gives the cells above.
    offer
        Has this text appear as a new cell when the cell that runs has ended; a second call
        replaces the first.
    nobody
        Why a new cell could not appear; empty if it can.
    """

    can_edit = False

    def __init__(
        self,
        seen: Callable[[], Sequence[SeenCell]],
        offer: Callable[[str], None],
        nobody: Callable[[], str] = str,
    ) -> None:
        self._seen, self._offer, self._nobody = seen, offer, nobody
        self._offered: list[str] = []
        self.names: dict[str, str] = {}
        self.judged: dict[str, str] = {}

    @property
    def can_insert(self) -> str:
        return self._nobody()

    def tell(self, recorder: Recorder) -> None:
        """What appears when the turn has ended is the person's to run or to delete."""

    def read(self) -> Sequence[Cell]:
        cells = [
            Cell(
                id=cell.key,
                kind=cell.kind,
                source=cell.source,
                number=cell.number,
                output=cell.error or text_of(cell.outputs(), OUTPUT_CHARS),
            )
            for cell in self._seen()
        ]
        self.names = {cell.id: name_of(cell.source, cell.number) for cell in cells}
        return cells

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
        if nobody := self.can_insert:
            raise CellProblem(nobody)
        if spot is not None:
            raise CellProblem(f"a place cannot be chosen: {NEEDS_PAGE}")
        if kind == "raw":
            raise CellProblem(f"a raw cell cannot be made: {NEEDS_PAGE}")
        self._offered.append(f"%%markdown\n{source}" if kind == "markdown" else source)
        if len(self._offered) > 1 and any(text.startswith("%%") for text in self._offered):
            self._offered.pop()
            raise CellProblem("only one cell can appear; put all into one code cell")
        self._offer("\n\n".join(self._offered))
        return None

    def edit(self, cell: str, source: str, was: str) -> Cell:
        raise CellProblem(NEEDS_PAGE)

    def move(self, cell: str, spot: Spot) -> Sequence[Cell]:
        raise CellProblem(NEEDS_PAGE)

    def delete(self, cells: Mapping[str, str]) -> Sequence[Cell]:
        raise CellProblem(NEEDS_PAGE)

    def show(self, cell: str, run: CellRun) -> None:
        raise CellProblem(NEEDS_PAGE)
