"""The notebook around the cell of a turn, for the turn and its tools."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from hermes_jupyter.kernel import ran_cells
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.notebook.cells import SeenCell, cells_above
from hermes_jupyter.notebook.paged import PagedCells, UnpagedCells
from hermes_jupyter.notebook.saved import read_saved
from hermes_jupyter.settings import Settings
from tools.cells import NotebookCells


def surroundings(cell: Cell, settings: Settings) -> dict[str, Any]:
    """``cells_above`` looks at the user's cells, ``cells`` changes them."""
    above = partial(_cells_above, cell, settings)
    return {"cells_above": above, "cells": _cells(cell, above)}


def _cells(cell: Cell, above: Callable[[], list[SeenCell]]) -> NotebookCells | None:
    """The cells of the notebook that this cell stands in."""
    ran = ran_cells.noted()
    if ran is None:
        return None
    page = ran.pages.of(cell.client) if ran.pages else None
    if ran.pages is None or page is None:
        return UnpagedCells(above, ran.offer)
    cell.own_comm(page.id)
    return PagedCells(ran.pages.asker(page), cell.id, secrets.token_hex(4))


def _cells_above(cell: Cell, settings: Settings) -> list[SeenCell]:
    """The user's cells above this one. Reads the notebook's file."""
    ran = ran_cells.noted()
    if ran is None:
        return []
    saved = read_saved(settings.notebook or ran.notebook)
    return cells_above(cell.id, saved, ran.all(), ran.outputs)
