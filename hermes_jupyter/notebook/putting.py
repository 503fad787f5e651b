"""Put cells back as they were before a turn, one by one, in the page that shows them now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hermes_jupyter.notebook.paged import WHOLE, Asks
from hermes_jupyter.notebook.states import (
    CellChange,
    CellState,
    Snapshot,
    restored,
    snapshot_of,
    state_of,
)
from hermes_jupyter.undoable import Item
from tools.cells import CellProblem, digest_of

CHANGED = "changed since"
WAS = ("was_above", "was_below")
GONE = "it is not there any more"
NOT_KEPT = "what it showed before was not kept"


def problem_of(item: Item, there: Snapshot, *, force: bool) -> str | None:
    """Why an item cannot be taken back; empty if it can be, None if it needs not."""
    before, after = _before(item), _after(item)
    now = there.cells.get(item.kept["cell"])
    if now is None:
        if before is None:
            return None
        return "" if after is None else GONE
    if after is None:
        return None  # somebody has brought it back
    if before is None:
        is_left = now.is_text_of(after) and _is_where_left(item, there)
        return "" if force or is_left else CHANGED
    return _problem_of_one(item, (before, after, now), there, force=force)


def lacks_output(item: Item) -> bool:
    """Does a cell come back without what it showed?"""
    before = _before(item)
    return item.how == "removed" and bool(before and before.number and before.outputs is None)


def _problem_of_one(
    item: Item, states: tuple[CellState, CellState, CellState], there: Snapshot, *, force: bool
) -> str | None:
    before, after, now = states
    is_edited = _is_edited(item)
    moved, shown = item.kept["moved"], item.kept["shown"]
    as_before = (
        not (is_edited and not now.is_text_of(before))
        and not (moved and not _is_where_it_was(item, there))
        and not (shown and now.number != before.number)
    )
    if as_before:
        return None
    is_left = (
        (not is_edited or now.is_text_of(after))
        and (not moved or _is_where_left(item, there))
        and (not shown or now.number == after.number)
    )
    if not is_left and not force:
        return CHANGED
    if shown and before.outputs is None and not is_edited and not moved:
        return NOT_KEPT
    return ""


def _is_where_it_was(item: Item, there: Snapshot) -> bool:
    """Does it stand between the cells between which the turn found it?"""
    order = there.order
    at = order.index(item.kept["cell"])
    above, below = ([each for each in item.kept[key] if each in order] for key in WAS)
    return all(order.index(each) < at for each in above) and all(
        order.index(each) > at for each in below
    )


def _is_where_left(item: Item, there: Snapshot) -> bool:
    """Does it stand between the cells between which the turn left it?"""
    order = there.order
    at = order.index(item.kept["cell"])
    above = next((each for each in item.kept["is_above"] if each in there.cells), None)
    below = next((each for each in item.kept["is_below"] if each in there.cells), None)
    return (above is None or order.index(above) < at) and (below is None or order.index(below) > at)


class Putting:
    """One undo in one notebook.

    Parameters
    ----------
    anchor
        A cell of the notebook.
    turn
        In whose name it is done.
    """

    def __init__(self, ask: Asks, anchor: str, turn: str) -> None:
        self._asks, self._anchor, self._turn = ask, anchor, turn
        self._first = self._there = self._all()
        """Before it."""
        self.names: dict[str, str] = {}
        """The ids that cells have now which have come back under another one."""
        self._done: list[tuple[str, Item]] = []

    def put(self, items: Sequence[Item]) -> list[Item]:
        """Take these changes back; those that could not be, with the reason."""
        self._first = self._whole(items)
        failed: list[Item] = []
        for item in _in_order(items):
            try:
                self._done.append((self._put(item), item))
            except (CellProblem, ConnectionError) as problem:
                failed.append(replace(item, problem=str(problem)))
        return failed

    def _whole(self, items: Sequence[Item]) -> Snapshot:
        """What is there, with all outputs of the cells that will lose them."""
        wanted = [
            str(item.kept["cell"])
            for item in items
            if (item.how == "added" or item.kept["shown"])
            and item.kept["cell"] in self._first.cells
        ]
        if not wanted or WHOLE not in self._asks.can:
            return self._first
        return self._first.with_whole(self._asks(WHOLE, cells=wanted))

    def changes(self) -> Iterator[CellChange]:
        """What was done, so that it can be taken back in turn."""
        last = self._all()
        for cell, item in self._done:
            yield CellChange(
                notebook=self._asks.notebook,
                anchor=self._anchor,
                cell=cell,
                before=self._first.cells.get(cell),
                after=last.cells.get(cell),
                order=self._first.order,
                order_after=last.order,
                moved=bool(item.kept["moved"]),
                shown=bool(item.kept["shown"]),
            )

    def _put(self, item: Item) -> str:
        before, cell = _before(item), str(item.kept["cell"])
        now = self._first.cells.get(cell)
        if before is None:
            assert now is not None
            self._ask("delete", cells=[{"cell": cell, "was": digest_of(now.source)}])
        elif now is None:
            cell = self._bring_back(item, before)
        else:
            self._change_back(item, before, now)
        self._there = self._all()
        self._verify(cell, before, item)
        return cell

    def _bring_back(self, item: Item, before: CellState) -> str:
        cell = str(item.kept["cell"])
        wanted = {"source": before.source, "type": before.kind, "cell": cell}
        about = {"metadata": dict(before.metadata)} if before.metadata else {}
        answer = self._ask("insert", **wanted, **about, **self._place(item))
        name, _ = state_of(answer.get("cell"))
        if name != cell:
            self.names[cell] = name
        if before.outputs or (before.number and before.outputs is not None):
            self._show(name, before)
        return name

    def _change_back(self, item: Item, before: CellState, now: CellState) -> None:
        cell = str(item.kept["cell"])
        if _is_edited(item) and not now.is_text_of(before):
            self._ask("edit", cell=cell, source=before.source, was=digest_of(now.source))
        if item.kept["moved"]:
            self._ask("move", cell=cell, **self._place(item))
        if item.kept["shown"] and before.outputs is not None:
            self._show(cell, before)

    def _show(self, cell: str, state: CellState) -> None:
        outputs, count = list(state.outputs or ()), state.number or None
        self._ask("show", cell=cell, outputs=outputs, execution_count=count)

    def _place(self, item: Item) -> dict[str, str]:
        """Below the nearest of those above it that is still there; else at the top."""
        cell, order = str(item.kept["cell"]), self._there.order
        for other in item.kept["was_above"]:
            name = self.names.get(other, other)
            if name in self._there.cells:
                return {"after": name}
        first = next((each for each in order if each != cell), "")
        if not first:
            raise CellProblem("the notebook has no other cell beside which it could go")
        return {"before": first}

    def _verify(self, cell: str, before: CellState | None, item: Item) -> None:
        now = self._there.cells.get(cell)
        if (now is None) != (before is None):
            raise CellProblem("the page did not do it")
        if now and before and _is_edited(item) and not now.is_text_of(before):
            raise CellProblem("the page did not do it; the cell has another text or kind")

    def _ask(self, do: str, **what: Any) -> Mapping[str, Any]:
        return self._asks(do, turn=self._turn, **what)

    def _all(self) -> Snapshot:
        return snapshot_of(self._asks("read", outputs=False), outputs=False)


def _in_order(items: Sequence[Item]) -> list[Item]:
    """What goes first, then what is only changed, then what gets a place, from the top."""

    def rank(item: Item) -> tuple[int, int]:
        if item.how == "added":
            return 0, 0
        if item.how == "changed" and not item.kept["moved"]:
            return 1, 0
        return 2, int(item.kept["was_at"])

    return sorted(items, key=rank)


def _is_edited(item: Item) -> bool:
    """Did the turn change its text?"""
    before, after = _before(item), _after(item)
    return before is None or after is None or not before.is_text_of(after)


def _before(item: Item) -> CellState | None:
    return restored(item.kept["before"], item.before)


def _after(item: Item) -> CellState | None:
    return restored(item.kept["after"], item.after)
