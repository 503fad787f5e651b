"""The changes of one turn to cells, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hermes_jupyter.notebook.states import CellChange, CellState, kept
from hermes_jupyter.undoable import How, Item
from tools.cells import name_of

NEIGHBOURS = 50


class CellLog:
    """From its first change to its last; a cell that was changed twice is one."""

    def __init__(self) -> None:
        self._changes: dict[str, CellChange] = {}
        self._order: list[str] = []
        """As the turn found the cells; what others have added since stands where they put it."""
        self._made: set[str] = set()
        self._final: Sequence[str] = ()
        """The order after the last change."""

    def add(self, change: CellChange) -> None:
        """The next change of the turn."""
        self._note_order(change)
        first = self._changes.get(change.cell)
        if first is not None:
            change = replace(
                change,
                before=_looked_at(first.before, change.before),
                moved=first.moved or change.moved,
                shown=first.shown or change.shown,
            )
        elif change.before is None:
            self._made.add(change.cell)
        self._changes[change.cell] = change
        self._final = change.order_after

    def items(self) -> list[Item]:
        """What the turn has changed."""
        changes = self._changes.values()
        return [self._item(each, self._final) for each in changes if not _is_nothing(each)]

    def _note_order(self, change: CellChange) -> None:
        place = 0
        for cell in change.order:
            if cell in self._made:
                continue
            if cell in self._order:
                place = self._order.index(cell) + 1
                continue
            self._order.insert(place, cell)
            place += 1

    def _item(self, change: CellChange, final: Sequence[str]) -> Item:
        before, after = change.before, change.after
        stored: dict[str, Any] = {
            "notebook": change.notebook,
            "anchor": change.anchor,
            "cell": change.cell,
            "before": kept(before),
            "after": kept(replace(after, outputs=None) if after else None),
            "was_at": self._order.index(change.cell) if change.cell in self._order else -1,
            "was_above": _above(change.cell, self._order),
            "was_below": _above(change.cell, [*reversed(self._order)]),
            "is_above": _above(change.cell, final),
            "is_below": _above(change.cell, [*reversed(final)]),
            "moved": change.moved,
            "shown": change.shown,
        }
        return Item(
            name=_name(after or before, change),
            how=_how(before, after),
            before=before.source if before else "",
            after=after.source if after else "",
            kept=stored,
        )


def _looked_at(first: CellState | None, later: CellState | None) -> CellState | None:
    """What a cell was at first, with the outputs that somebody looked at only later."""
    if first is None or first.outputs is not None or later is None or later.outputs is None:
        return first
    return replace(first, outputs=later.outputs, number=later.number)


def _above(cell: str, order: Sequence[str]) -> list[str]:
    """The cells above it, the nearest first."""
    if cell not in order:
        return []
    return [*reversed(order[: order.index(cell)])][:NEIGHBOURS]


def _is_nothing(change: CellChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return before is after
    return before.is_text_of(after) and not change.moved and not change.shown


def _how(before: CellState | None, after: CellState | None) -> How:
    if before is None:
        return "added"
    return "changed" if after is not None else "removed"


def _name(state: CellState | None, change: CellChange) -> str:
    """What a person knows it by."""
    if state is None:
        return change.cell
    name = name_of(state.source, 0 if change.shown else state.number)
    done = [("moved", change.moved), ("run", change.shown)]
    what = [word for word, is_so in done if is_so and before_and_after(change)]
    return name + (f" ({', '.join(what)})" if what else "")


def before_and_after(change: CellChange) -> bool:
    """Is it a cell that was there, and still is?"""
    return change.before is not None and change.after is not None
