"""The cells of a turn's notebook: through its page, or as far as one gets without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.outputs import text_of
from tools.cells import KINDS, NEEDS_PAGE, Cell, CellKind, CellProblem, Spot, digest_of

OUTPUT_CHARS = 1_500


class Asks(Protocol):
    """Asks a page; a ConnectionError says why it did not do it."""

    def __call__(self, do: str, /, **what: Any) -> Mapping[str, Any]: ...


class PagedCells:
    """Cells in a page; each change is compared with what was asked for.

    Parameters
    ----------
    own
        The id of the cell that the agent was asked in.
    turn
        Groups changes, so that the page can take them back as one.
    """

    can_edit = True

    def __init__(self, ask: Asks, own: str, turn: str) -> None:
        self._asks, self._own, self._turn = ask, own, turn
        self._last = own
        """Below which the next cell goes."""

    def read(self) -> Sequence[Cell]:
        return self._cells(self._ask("read"))

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
        where = spot or Spot(self._last)
        answer = self._ask("insert", source=source, type=kind, turn=self._turn, **_place(where))
        cell = self._cell(answer.get("cell"), source)
        if cell.kind != kind:
            raise CellProblem(f"the page made a {cell.kind} cell and not a {kind} cell")
        if spot is None:
            self._last = cell.id
        return cell

    def edit(self, cell: str, source: str, was: str) -> Cell:
        answer = self._ask("edit", cell=cell, source=source, was=was, turn=self._turn)
        edited = self._cell(answer.get("cell"), source)
        if edited.id != cell:
            raise CellProblem(f"the page changed another cell ({edited.id})")
        return edited

    def move(self, cell: str, spot: Spot) -> Sequence[Cell]:
        self._ask("move", cell=cell, turn=self._turn, **_place(spot))
        cells = self.read()
        order = [each.id for each in cells]
        beside = order.index(cell) + (1 if spot.before else -1) if cell in order else -1
        if not 0 <= beside < len(order) or order[beside] != spot.cell:
            raise CellProblem("the page did not move the cell there; read_cells shows where it is")
        return cells

    def delete(self, cells: Mapping[str, str]) -> Sequence[Cell]:
        wanted = [{"cell": cell, "was": was} for cell, was in cells.items()]
        self._ask("delete", cells=wanted, turn=self._turn)
        left = self.read()
        if stayed := [cell.id for cell in left if cell.id in cells]:
            raise CellProblem(f"the page did not delete {', '.join(stayed)}")
        return left

    def show(self, cell: str, outputs: Sequence[Mapping[str, Any]], number: int) -> None:
        self._ask("show", cell=cell, outputs=list(outputs), execution_count=number or None)

    def _ask(self, do: str, **what: Any) -> Mapping[str, Any]:
        try:
            return self._asks(do, **what)
        except ConnectionError as error:
            raise CellProblem(str(error)) from error

    def _cells(self, answer: Mapping[str, Any]) -> Sequence[Cell]:
        found = answer.get("cells")
        if not isinstance(found, list):
            raise CellProblem("the page's answer has no list of cells")
        return [self._read(cell) for cell in found]

    def _cell(self, told: Any, source: str) -> Cell:
        cell = self._read(told)
        if digest_of(cell.source) != digest_of(source):
            raise CellProblem("the cell does not have the text that was asked for; read it")
        return cell

    def _read(self, told: Any) -> Cell:
        if not isinstance(told, Mapping) or not isinstance(told.get("id"), str):
            raise CellProblem("the page's answer has a cell without an id")
        kind, number, outputs = (told.get(key) for key in ("type", "execution_count", "outputs"))
        there = (
            [each for each in outputs if isinstance(each, Mapping)]
            if isinstance(outputs, list)
            else []
        )
        return Cell(
            id=told["id"],
            kind=kind if kind in KINDS else "raw",
            source=str(told.get("source") or ""),
            number=number if isinstance(number, int) else 0,
            output=text_of(there, OUTPUT_CHARS),
            is_agents=told["id"] == self._own,
        )


class UnpagedCells:
    """What the file and the kernel know; a cell can be put below the agent's own at the end.

    Parameters
    ----------
    seen
        Gives the cells above.
    offer
        Has this text appear as a new cell when the cell that runs has ended; a second call
        replaces the first.
    """

    can_edit = False

    def __init__(
        self, seen: Callable[[], Sequence[SeenCell]], offer: Callable[[str], None]
    ) -> None:
        self._seen, self._offer = seen, offer
        self._offered: list[str] = []

    def read(self) -> Sequence[Cell]:
        return [
            Cell(
                id=cell.key,
                kind=cell.kind,
                source=cell.source,
                number=cell.number,
                output=cell.error or text_of(cell.outputs(), OUTPUT_CHARS),
            )
            for cell in self._seen()
        ]

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
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

    def show(self, cell: str, outputs: Sequence[Mapping[str, Any]], number: int) -> None:
        """Nowhere to show it."""


def _place(spot: Spot) -> dict[str, str]:
    return {"before" if spot.before else "after": spot.cell}
