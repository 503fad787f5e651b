"""New cells from a ``%hermes`` command, through the page that shows the notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.errors import StoreError
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.surroundings import surroundings
from tools.async_bridge import in_tool_thread
from tools.cells import CellKind, CellProblem, NotebookCells


@dataclass(frozen=True, slots=True)
class OwnPage:
    """The page of the cell that runs."""

    _magics: Any
    _cell: Cell
    _cells: NotebookCells

    def put(self, wanted: Sequence[tuple[CellKind, str]]) -> int:
        """Put these below the cell, in their order; how many they are.

        Raises
        ------
        StoreError
            If the page does not do it.
        """

        def put_all() -> None:
            for kind, source in wanted:
                self._cells.insert(source, kind, None)

        # The page's answers come to the thread that runs this cell, so another one asks.
        try:
            self._magics.desktop.serve(self._cell, lambda: in_tool_thread(put_all))
        except CellProblem as problem:
            raise StoreError(
                f"{problem}. %hermes eject FILE.ipynb writes the turn as a notebook"
            ) from problem
        return len(wanted)


def page_of(magics: Any) -> OwnPage | None:
    """None where no page speaks the protocol, or does not say which cell runs."""
    hermes = magics.desktop.hermes
    cell = Cell(current_kernel(), hermes.owned_comms)
    cells = surroundings(cell, hermes.settings)["cells"] if cell.id else None
    return OwnPage(magics, cell, cells) if cells is not None and cells.can_edit else None
