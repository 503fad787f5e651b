"""Waits until what a person typed before a click, or before Enter, has arrived.

A page sends the text of a field in its own time: after the Enter key that completes it, and not
before its last change was answered. But it takes messages in order, and so does the kernel. Once
a hidden player that is made *after* the click has answered, all that was typed before is here,
however slow the connection.
"""

from __future__ import annotations

from typing import Any

from hermes_jupyter.views.probe import Probe
from hermes_jupyter.views.widgets import Stage

TEXT_SECONDS = 2.0
"""For a text that does no harm if it is cut short: a note, the answer to a question."""
EXACT_SECONDS = 8.0
"""For a text that is run."""


async def has_arrived(stage: Stage, box: Any, within: float) -> bool:
    """Whether the page that shows ``box`` has sent all it had to. Call on the agent's loop."""
    if stage.closed:
        return False
    player = stage.hidden_player()
    probe = Probe(player)
    box.children = (*box.children, player)
    try:
        return await probe.alive(within)
    finally:
        box.children = tuple(child for child in box.children if child is not player)
        stage.discard(player)
