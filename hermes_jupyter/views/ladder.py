"""The ladder of asking a person: buttons, else a panel, else ``input()``, else nobody.

Which rung holds is not guessed from names of front ends: what a front end has shown it can do
decides, and what the request to run the cell says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from hermes_jupyter.settings import FrontEnd
from hermes_jupyter.views.base import CellOutput
from hermes_jupyter.views.probe import KnownClients

RungName = Literal["widget", "control", "input", "policy"]
TITLES: dict[RungName, str] = {
    "widget": "buttons below the cell",
    "control": "the page's own panel (control messages)",
    "input": "a prompt (input())",
    "policy": "nobody (the answer is no)",
}


@dataclass(frozen=True, slots=True)
class Rung:
    """How a person is asked, and why so."""

    name: RungName
    why: str
    is_sure: bool = True
    """False: the front end is asked at the next turn, which may fall back to a prompt."""

    @property
    def title(self) -> str:
        return TITLES[self.name]


@dataclass(frozen=True, slots=True)
class Ladder:
    """What decides.

    Parameters
    ----------
    frontend
        What the settings say; ``auto`` leaves it to the others.
    clients
        What is known of front ends that have been asked.
    hears_control
        Has this front end, by its session id, spoken on the control channel?
    page_comes_later
        Is the page shown only when all cells have run?
    """

    frontend: FrontEnd
    clients: KnownClients
    hears_control: Callable[[str], bool] = lambda _client: False
    page_comes_later: bool = False

    def rung(self, cell: CellOutput) -> Rung:
        """For what this cell starts; call it in the cell's thread."""
        if not cell.has_kernel:
            return Rung("input", "this is a terminal")
        if self.frontend != "auto":
            return Rung(self.frontend, f"%config Hermes.frontend is {self.frontend!r}")
        if not cell.allow_stdin:
            return self._unattended(cell)
        if not _has_widgets():
            return Rung("input", "ipywidgets is not installed in this kernel")
        shows = self.clients.shows_widgets(cell.client)
        if shows is None:
            return Rung("widget", "tried at the next turn; without an answer, a prompt", False)
        return Rung("widget", "this page answers with widgets") if shows else self.below(cell)

    def below(self, cell: CellOutput) -> Rung:
        """The next rung for a front end that shows no widgets."""
        if self.hears_control(cell.client):
            return Rung("control", "this front end shows no widgets, but answers in a panel")
        return Rung("input", "this front end shows no widgets")

    def _unattended(self, cell: CellOutput) -> Rung:
        if self.page_comes_later and cell.is_background:
            return Rung("widget", "the page comes when all cells have run")
        later = " (a turn with --background asks on the page)" if self.page_comes_later else ""
        return Rung("policy", f"whoever runs this cell takes no input{later}")


def _has_widgets() -> bool:
    try:
        return find_spec("ipywidgets") is not None
    except ImportError:  # somebody forbids it
        return False
