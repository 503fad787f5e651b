"""The cells of a turn's notebook through its page; each change is looked at afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hermes_jupyter.notebook.outputs import text_of
from hermes_jupyter.notebook.states import CellChange, CellState, Snapshot, snapshot_of, state_of
from tools.cells import KIND, Cell, CellKind, CellProblem, CellRun, Recorder, Spot, name_of

OUTPUT_CHARS = 1_500
WHOLE = "whole"
"""Asks for cells with all of their outputs, of which `read` may give a part."""
STRANGE = (
    "the page does not show the cell that you were asked in, so it may show another notebook; "
    "nothing was changed"
)

NO_PLACE = "the page does not say which cell is yours: say after or before which one it goes"


class Asks(Protocol):
    """Asks a page; a ConnectionError says why it did not do it.

    One that is a TimeoutError, too, says that it may have done it nevertheless.
    """

    @property
    def notebook(self) -> str:
        """The path of what it shows."""
        ...

    @property
    def can(self) -> Collection[str]:
        """What it may be asked."""
        ...

    def __call__(self, do: str, /, **what: Any) -> Mapping[str, Any]: ...


class PagedCells:
    """Cells in a page; each change is compared with what was asked for.

    Parameters
    ----------
    own
        The id of the cell that the agent was asked in; empty if it is not known.
    number
        Of that cell's run.
    turn
        Groups changes, so that the page can take them back as one.
    note
        Told of a cell that ran: its id, the number, and how it went.
    names
        What cells are called, which were read before this turn; those that are read are added.
    """

    can_edit = True
    can_insert = ""

    def __init__(
        self,
        ask: Asks,
        own: str,
        *,
        number: int = 0,
        turn: str = "",
        note: Callable[[str, int, CellRun], None] = lambda _cell, _number, _run: None,
        names: dict[str, str] | None = None,
    ) -> None:
        self._asks, self._own, self._number, self._turn = ask, own, number, turn
        self._note = note
        self.names = {} if names is None else names
        self._last = own
        """Below which the next cell goes."""
        self._recorder: Recorder | None = None
        self.judged: dict[str, str] = {}

    def tell(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def read(self) -> Sequence[Cell]:
        return self._told(self._all(outputs=True))

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
        before = self._there()
        where = spot or Spot(self._last if self._last in before.cells else self._own)
        if not where.cell:
            raise CellProblem(NO_PLACE)
        wanted = {"source": source, "type": kind, "cell": f"{uuid.uuid4()}"}
        new = CellState(kind=kind, source=source)
        maybe = self._change(wanted["cell"], before, after=new)
        answer = self._do("insert", maybe, **wanted, **place(where))
        name, _ = state_of(answer.get("cell"))
        after = self._all()
        made = after.cells.get(name)
        self._record(replace(maybe, cell=name, after=made, order_after=after.order))
        if made is None:
            raise CellProblem("the page says that it made the cell, and does not show it")
        if made.kind != kind:
            raise CellProblem(f"the page made a {made.kind} cell and not a {kind} cell")
        _must_have(made, source)
        if not after.is_beside(name, where.cell, before=where.before):
            raise CellProblem("the page put the cell elsewhere; read_cells shows where it is")
        if spot is None:
            self._last = name
        return self._cell(name, made)

    def edit(self, cell: str, source: str, was: str) -> Cell:
        before = self._there(cell)
        wanted = replace(before.cells[cell], source=source)
        maybe = self._change(cell, before, after=wanted)
        answer = self._do("edit", maybe, cell=cell, source=source, was=was)
        name, _ = state_of(answer.get("cell"))
        after = self._all()
        self._record(replace(maybe, after=after.cells.get(cell), order_after=after.order))
        if name != cell:
            raise CellProblem(f"the page changed another cell ({name})")
        edited = after.cells.get(cell)
        if edited is None:
            raise CellProblem("the cell is gone")
        _must_have(edited, source)
        return self._cell(cell, edited)

    def move(self, cell: str, spot: Spot) -> Sequence[Cell]:
        before = self._there(cell)
        maybe = self._change(cell, before, after=before.cells[cell], moved=True)
        self._do("move", maybe, cell=cell, **place(spot))
        after = self._all()
        self._record(replace(maybe, after=after.cells.get(cell), order_after=after.order))
        if not after.is_beside(cell, spot.cell, before=spot.before):
            raise CellProblem("the page did not move the cell there; read_cells shows where it is")
        return self._told(after)

    def delete(self, cells: Mapping[str, str]) -> Sequence[Cell]:
        before = self._there(*cells, whole=True)
        gone = [self._change(cell, before) for cell in cells]
        wanted = [{"cell": cell, "was": was} for cell, was in cells.items()]
        self._do("delete", *gone, cells=wanted)
        after = self._all()
        for each in gone:
            left = after.cells.get(each.cell)
            self._record(replace(each, after=left, order_after=after.order))
        if stayed := [cell for cell in cells if cell in after.cells]:
            raise CellProblem(f"the page did not delete {', '.join(stayed)}")
        return self._told(after)

    def show(self, cell: str, run: CellRun) -> None:
        self._note(cell, self._number, run)
        before = self._there(cell, whole=True)
        count = self._number or None
        outputs = [_numbered(each, count) for each in run.outputs]
        ran = replace(before.cells[cell], outputs=outputs, number=self._number)
        maybe = self._change(cell, before, after=ran, shown=True)
        self._do("show", maybe, cell=cell, outputs=outputs, execution_count=count)
        after = self._all(outputs=True)
        now = after.cells.get(cell)
        self._record(replace(maybe, after=now, order_after=after.order))
        if now is None or bool(now.outputs) != bool(run.outputs):
            raise CellProblem("the page does not show the outputs")

    # What the page says

    def _ask(self, do: str, **what: Any) -> Mapping[str, Any]:
        try:
            return self._asks(do, **what)
        except ConnectionError as error:
            raise CellProblem(str(error)) from error

    def _do(self, do: str, *maybe: CellChange, **what: Any) -> Mapping[str, Any]:
        """Ask for a change. What may be done although nobody said so can be undone, too."""
        try:
            return self._ask(do, turn=self._turn, **what)
        except CellProblem as problem:
            if isinstance(problem.__cause__, TimeoutError):
                for each in maybe:
                    self._record(each)
            raise

    def _all(self, *, outputs: bool = False) -> Snapshot:
        found = snapshot_of(self._ask("read", outputs=outputs), outputs=outputs)
        self.names |= {key: name_of(each.source, each.number) for key, each in found.cells.items()}
        return found

    def _there(self, *cells: str, whole: bool = False) -> Snapshot:
        """The cells before a change: of the turn's own notebook, with those that it is about."""
        found = self._all()
        if self._own and self._own not in found.cells:
            raise CellProblem(STRANGE)
        for cell in cells:
            if cell not in found.cells:
                raise CellProblem(f"the cell {cell} is gone")
        if whole and WHOLE in self._asks.can:
            return found.with_whole(self._ask(WHOLE, cells=[*cells]))
        return found

    def _change(
        self, cell: str, before: Snapshot, *, after: CellState | None = None, **how: bool
    ) -> CellChange:
        """What is about to be done; whether it was is seen afterwards."""
        return CellChange(
            notebook=self._asks.notebook,
            anchor=self._own,
            cell=cell,
            before=before.cells.get(cell),
            after=after,
            order=before.order,
            order_after=before.order,
            **how,
        )

    def _record(self, change: CellChange) -> None:
        if self._recorder is not None:
            self._recorder.changed(KIND, change)

    def _told(self, found: Snapshot) -> list[Cell]:
        return [self._cell(name, state) for name, state in found.cells.items()]

    def _cell(self, name: str, state: CellState) -> Cell:
        return Cell(
            id=name,
            kind=state.kind,
            source=state.source,
            number=state.number,
            output=text_of(state.outputs or (), OUTPUT_CHARS),
            is_agents=name == self._own,
        )


def place(spot: Spot) -> dict[str, str]:
    """How a request names a place."""
    return {"before" if spot.before else "after": spot.cell}


def _numbered(output: Mapping[str, Any], count: int | None) -> dict[str, Any]:
    is_result = output.get("output_type") == "execute_result"
    return {**output, "execution_count": count} if is_result else dict(output)


def _must_have(cell: CellState, source: str) -> None:
    if cell.source != source:
        raise CellProblem("the cell does not have the text that was asked for; read it")
