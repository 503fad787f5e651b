"""The notebook around the cell of a turn, for the turn and its tools."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import PurePath
from typing import Any

from hermes_jupyter.kernel import ran_cells
from hermes_jupyter.kernel.background_cell import BackgroundCell
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.pages import NotebookPage, Page, Pages
from hermes_jupyter.kernel.ran_cells import RanCells
from hermes_jupyter.kernel.request import place_of
from hermes_jupyter.kernel.shell import current_kernel, current_shell
from hermes_jupyter.notebook.cells import SeenCell, cells_above
from hermes_jupyter.notebook.of_turn import TurnCells
from hermes_jupyter.notebook.paged import WHOLE, Asks, PagedCells
from hermes_jupyter.notebook.saved import read_saved
from hermes_jupyter.notebook.states import CellState, snapshot_of
from hermes_jupyter.notebook.unpaged import UnpagedCells
from hermes_jupyter.settings import Settings
from tools.cells import CellProblem, CellRun, NotebookCells, name_of

SECONDS_TO_OPEN = 1.0
IN_BACKGROUND = (
    "a turn in the background has no cell below which a new one could appear, and no page is "
    "connected; put the code into your answer"
)
SIMPLE = "this terminal cannot show a text as the next input; put the code into your answer"
NOBODY = (
    "nobody looks at this notebook (it is run by a program), so a new cell could not appear; put "
    "the code into your answer"
)

_ASKED_BY: ContextVar[str] = ContextVar("asked_by", default="")
"""The front end in which a person waits."""


def cell_of_turn(owned: set[str], *, waits: bool) -> Cell:
    """The cell that runs now; call it in its thread. ``waits``: until the turn has ended."""
    if waits:
        return Cell(current_kernel(), owned)
    ran = ran_cells.noted()
    return BackgroundCell(current_kernel(), owned, ran.free if ran else None)


def surroundings(cell: Cell, settings: Settings) -> dict[str, Any]:
    """``cells_above`` looks at the user's cells, ``cells`` changes them.

    ``notebook`` is the path of the file that holds them; empty if it is not known. ``display``
    shows a bundle below the cell of the turn.
    """
    above = partial(_cells_above, cell, settings)
    ran = ran_cells.noted()
    named = settings.notebook or (ran.notebook if ran else "")
    return {
        "cells_above": above,
        "cells": _cells(cell, ran, above),
        "notebook": named,
        "display": cell.display,
    }


def _cells(
    cell: Cell, ran: RanCells | None, above: Callable[[], list[SeenCell]]
) -> NotebookCells | None:
    """The cells of the notebook that this cell stands in."""
    if ran is None:
        return None
    pages, number = ran.pages, place_of(current_kernel(), current_shell()).number
    without = UnpagedCells(above, ran.offer, partial(_nobody, cell, ran))
    if pages is None:
        return without
    for each in pages.open_ones():
        cell.own_comm(each.id)  # those that open later say so to the gate

    def paged() -> NotebookCells | None:
        page = pages.of(cell.client)
        if page is None:
            return None
        ask = NotebookPage(pages, page, lambda: cell.is_background or not cell.waits)
        return PagedCells(
            ask,
            cell.id,
            number=number,
            turn=secrets.token_hex(4),
            note=partial(_note, ran),
            names=pages.names,
        )

    return TurnCells(without, paged)


def reach() -> str:
    """How far the agent gets with the cells of this notebook, for a person."""
    ran = ran_cells.noted()
    if ran is None:
        return "none: there is no notebook here"
    page = ran.pages.of(Cell(current_kernel(), set()).client) if ran.pages else None
    if page is not None:
        return f"through the page of {PurePath(page.notebook).name or 'this notebook'}"
    new = "one new cell when a turn has ended" if ran.can_offer else "no new cell"
    return f"no page is connected: read, and {new}"


@contextmanager
def asked_in(cell: Cell) -> Iterator[None]:
    """While a person waits in this cell for what is done, here."""
    before = _ASKED_BY.set(cell.client)
    try:
        yield
    finally:
        _ASKED_BY.reset(before)


def page_showing(notebook: str, anchor: str) -> Asks | None:
    """The page of the notebook with this path, else the one that has this cell.

    Of several windows that show it the one in which a person asks: they may not share one
    notebook. A notebook may have got another name. Waits a moment for a page that is just opening.
    """
    ran = ran_cells.noted()
    if ran is None or ran.pages is None:
        return None
    end = time.monotonic() + SECONDS_TO_OPEN
    while True:
        own = ran.pages.of(_ASKED_BY.get())
        is_it = own is not None and own.notebook == notebook
        page = (own if is_it else ran.pages.showing(notebook)) or _page_with(ran.pages, anchor)
        if page is not None:
            return NotebookPage(ran.pages, page)
        if time.monotonic() > end:
            return None
        time.sleep(0.05)


def _page_with(pages: Pages, cell: str) -> Page | None:
    """The one page that has this cell; a copy of the notebook would have it, too."""
    found = []
    for page in pages.open_ones():
        with suppress(ConnectionError, CellProblem):
            if cell in snapshot_of(page.ask("read", outputs=False)).cells:
                found.append(page)
    return found[0] if len(found) == 1 else None


def shown_in(page: Page, cell: str) -> CellState | None:
    """A cell with its outputs as a page shows it; None if it does not say."""
    if WHOLE in page.can:
        with suppress(ConnectionError, CellProblem):
            return snapshot_of(page.ask(WHOLE, cells=[cell])).cells.get(cell)
    return None


def _nobody(cell: Cell, ran: RanCells) -> str:
    """Why no new cell could appear; empty if one can."""
    if cell.is_background or not cell.waits:
        return IN_BACKGROUND
    if not ran.can_offer:
        return SIMPLE
    return "" if cell.allow_stdin else NOBODY


def _note(ran: RanCells, cell: str, number: int, run: CellRun) -> None:
    ran.add(cell, number, run.source, run.error, run.outputs)


def _cells_above(cell: Cell, settings: Settings) -> list[SeenCell]:
    """The user's cells above this one. Reads the notebook's file."""
    ran = ran_cells.noted()
    if ran is None:
        return []
    saved = read_saved(settings.notebook or ran.notebook)
    if ran.pages is not None:
        for each in saved.cells:  # what the page has told is newer
            ran.pages.names.setdefault(each.id, name_of(each.source, each.number))
    return cells_above(cell.id, saved, ran.all(), ran.outputs)
