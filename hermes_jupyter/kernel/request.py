"""What the request that runs a cell says about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_jupyter.calls import Place
from hermes_jupyter.kernel.pages import Page
from hermes_jupyter.kernel.parent import request_of
from hermes_jupyter.kernel.ran_cells import noted


def place_of(kernel: Any, shell: Any) -> Place:
    """The cell that runs now; call it in the cell's thread.

    JupyterLab, Notebook and VS Code send the cell's id; programs that run notebooks do not.
    """
    history = getattr(shell, "history_manager", None)
    # The shell's own count runs ahead of the cell in some versions of IPython, in others not.
    number = len(history.input_hist_parsed) - 1 if history is not None else 0
    if kernel is None:
        return Place(number=number, attended=True)
    parent = request_of(kernel)
    cell = _metadata(parent).get("cellId")
    return Place(
        cell=cell if isinstance(cell, str) else "",
        number=number,
        attended=bool(parent.get("content", {}).get("allow_stdin", False)),
    )


def told_by_cell(kernel: Any) -> Mapping[str, Any]:
    """What the metadata of the cell that runs now say to us; call it in the cell's thread.

    JupyterLab and Notebook send a cell's metadata along with it.
    """
    told = _metadata(request_of(kernel)).get("hermes")
    return told if isinstance(told, dict) else {}


def page_of(kernel: Any) -> Page | None:
    """The page whose cell runs now, if one is connected; call it in the cell's thread."""
    ran = noted()
    client = str(request_of(kernel).get("header", {}).get("session") or "")
    return ran.pages.of(client) if ran is not None and ran.pages is not None else None


def told_by_page(kernel: Any) -> Mapping[str, Any]:
    """What the person has set in that page."""
    page = page_of(kernel)
    return page.settings if page is not None else {}


def _metadata(parent: Mapping[str, Any]) -> Mapping[str, Any]:
    about = parent.get("metadata")
    return about if isinstance(about, dict) else {}
