"""Try whether the front end of a cell shows widgets."""

from __future__ import annotations

import secrets
import time

from hermes_jupyter.views.base import CellOutput
from hermes_jupyter.views.probe import KnownClients, Probe
from hermes_jupyter.views.turn import PROBE_SECONDS
from hermes_jupyter.views.widgets import Stage, view_of


async def try_widget(cell: CellOutput, clients: KnownClients) -> float | None:
    """Show a hidden widget below the cell; the seconds until a page has answered, if one has.

    What is found out is remembered for the turns that follow. Call it on the agent's loop.

    Raises
    ------
    ImportError
        Without ipywidgets.
    """
    stage, display_id = Stage(cell), f"hermes-{secrets.token_hex(8)}"
    player = stage.hidden_player()
    probe = Probe(player)
    began = time.monotonic()
    cell.display(view_of(player), display_id=display_id)
    try:
        shows = await probe.alive(PROBE_SECONDS)
        seconds = time.monotonic() - began
    finally:
        cell.display({"text/plain": ""}, display_id=display_id, update=True)
        stage.close()
    clients.learn(cell.client, shows=shows)
    return seconds if shows else None
