"""The part of ``%hermes doctor`` about asking a person: each rung of the ladder is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hermes_jupyter.calls import ApprovalRequest, ToolCall
from hermes_jupyter.checked import Check
from hermes_jupyter.events import ApprovalRequested, Event
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.control_trip import ask_over_control
from hermes_jupyter.kernel.runner import run_in_cell, start
from hermes_jupyter.kernel.shell import (
    GateUnavailable,
    current_kernel,
    reading_thread,
    shell_of_this_thread,
)
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.views.record import Record
from hermes_jupyter.views.trials import try_widget
from hermes_jupyter.views.turn import Headless

if TYPE_CHECKING:
    from hermes_jupyter.desktop import Desktop

TRIAL_SECONDS = 10.0
ON_DEMAND = "this front end takes input(); %hermes doctor --ask tries it"


def examine_asking(desktop: Desktop, *, ask: bool) -> Iterator[Check]:
    """Try the rungs from above; ``ask`` also the one that needs somebody to press Enter."""
    kernel = current_kernel()
    cell = Cell(kernel, desktop.hermes.owned_comms)
    try:
        yield _buttons(desktop, cell, kernel)
        yield _control(kernel)
        yield _prompt(cell, ask=ask)
        yield _nobody(cell)
        yield _background(kernel)
        rung = desktop.ladder(desktop.hermes.settings).rung(cell)
        yield Check("asks with", True, f"{rung.title}: {rung.why}")
    finally:
        cell.close()


def _buttons(desktop: Desktop, cell: Cell, kernel: Any) -> Check:
    if kernel is None:
        return Check("buttons", True, "none in a terminal")
    try:
        shell_of_this_thread(kernel)
    except GateUnavailable as error:
        return Check("buttons", False, f"a busy cell cannot hear its buttons here: {error}")
    if not cell.allow_stdin:
        return Check("buttons", True, "not tried: whoever runs this cell takes no input")
    serving = {"kernel": kernel, "owned": desktop.hermes.owned_comms, "commands": {}}
    try:
        seconds = run_in_cell(cell, lambda: try_widget(cell, desktop.clients), **serving)
    except ImportError as error:
        return Check("buttons", False, f"{error}: pip install ipywidgets")
    if seconds is None:
        return Check("buttons", True, "this front end shows no widgets")
    return Check("buttons", True, f"heard while the cell was busy, after {seconds * 1e3:.0f} ms")


def _control(kernel: Any) -> Check:
    if kernel is None:
        return Check("control", True, "no such channel in a terminal")
    try:
        seconds = ask_over_control(kernel, "status")
    except (ConnectionError, OSError) as error:
        return Check("control", False, f"the control channel does not work: {error}")
    return Check("control", True, f"answered after {seconds * 1e3:.0f} ms; for pages with a panel")


def _prompt(cell: Cell, *, ask: bool) -> Check:
    if not cell.allow_stdin:
        return Check("prompt", True, "whoever runs this cell takes no input")
    if not ask:
        return Check("prompt", True, ON_DEMAND)
    try:
        input("  Press Enter: ")
    except (EOFError, OSError, NotImplementedError) as error:
        return Check("prompt", False, f"input() does not work: {error or type(error).__name__}")
    return Check("prompt", True, "answered")


def _nobody(cell: Cell) -> Check:
    decided = start(lambda: _ask_nobody(cell)).future.result(TRIAL_SECONDS)
    return Check("nobody", decided == "deny by policy", f"where nobody is there: {decided}")


def _background(kernel: Any) -> Check:
    """How turns in the background are heard."""
    if kernel is None:
        return Check("background", True, "questions of such turns wait for %hermes attach")
    try:
        reading_thread(kernel)
    except GateUnavailable:
        said = (
            "buttons of such turns wait while a cell of yours keeps the kernel busy (ipykernel 6)"
        )
        return Check("background", True, said)
    return Check("background", True, "buttons of such turns are heard while a cell is busy, too")


async def _ask_nobody(cell: Cell) -> str:
    """Ask where nobody is: what was decided, and by whom."""
    call = ToolCall(id="trial", name="trial")
    request = ApprovalRequest(
        id="trial", call=call, reason="a trial", shown="", cwd="", grant="", digest="trial"
    )
    desk = ApprovalDesk()
    nobody = Headless(cell, desk, Record())

    def tell(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            nobody(event)

    async with asyncio.timeout(TRIAL_SECONDS / 2):
        answer = await desk.decide(request, tell)
    return f"{answer.value.decision} by {answer.by}"
