"""Run a cell of the notebook, and show below it what it put out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.async_bridge import in_tool_thread
from tools.cells import ASKS_AN_AGENT, Cell, CellProblem, CellRun, NotebookCells, cells_of, find
from tools.cells import MISSING as NO_CELLS
from tools.cells_tool import about
from tools.files import arguments
from tools.files.problems import Problem
from tools.live import MISSING, Ran, is_there, live_of
from tools.registry import registry, tool_error, tool_result
from tools.run_python_tool import (
    LONGEST_TIMEOUT,
    SECONDS_TO_END,
    answer_of,
    error_of,
    images_of,
    objection_to,
    run_live,
    timeout_of,
)
from tools.safety import Objection

GRANT = "exactly this code in this kernel"
NO_PAGE = (
    "no page of the notebook is connected, so a cell cannot be run as such: take its text from "
    "read_cells and run it with run_python"
)
CHANGED = "the cell was changed in the meantime; read it and call again"
SCHEMA = {
    "name": "run_cell",
    "description": (
        "Run a code cell of the user's notebook in their kernel, as run_python does, and show its "
        "output below that cell. Answers like run_python. Run cells in the order in which they "
        "depend on each other; a cell that you have edited shows its old output until it runs."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "cell": {"type": "string", "description": "Id of the cell, as read_cells gives it."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST_TIMEOUT,
                "description": "Seconds until it is interrupted (default 120).",
            },
        },
        "required": ["cell"],
    },
}


async def run_cell(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: runs the text that the guard of this call has judged, and no other."""
    live, there = live_of(context), cells_of(context)
    if live is None or there is None:
        return tool_error(MISSING if live is None else NO_CELLS)
    if (checkpoint := context.get("checkpoint")) is not None:
        there.tell(checkpoint)
    try:
        cell = await in_tool_thread(lambda: _runnable(args, there))
        if cell.source != there.judged.pop(_key(context), None):
            raise CellProblem(CHANGED)
        ran = await run_live(live, cell.source, args, context)
    except (CellProblem, Problem) as problem:
        return tool_error(str(problem))
    except RuntimeError as error:
        return tool_error(f"The cell did not run: {error}")
    run = CellRun(source=cell.source, outputs=ran.outputs, error=error_of(ran, timeout_of(args)))
    answer = {**answer_of(ran, args), **await images_of(ran, context)}
    return tool_result({**answer, **await _shown(there, cell, run, ran)})


async def _shown(there: NotebookCells, cell: Cell, run: CellRun, ran: Ran) -> dict[str, Any]:
    """Show it in the cell; what the model must know if that failed."""
    try:
        await in_tool_thread(lambda: there.show(cell.id, run))
    except CellProblem as problem:
        notes = [*ran.notes, f"it ran, but its output is not shown in the cell: {problem}"]
        return {"note": "; ".join(notes)}
    return {}


def _runnable(args: Mapping[str, Any], there: NotebookCells) -> Cell:
    if not there.can_edit:
        raise CellProblem(NO_PAGE)
    cell = find(there.read(), arguments.text(args, "cell"))
    if cell.is_agents:
        raise CellProblem("your own cell is running already")
    if cell.kind != "code":
        raise CellProblem(
            f"it is a {cell.kind} cell: there is nothing to run, the page shows it as it is"
        )
    if ASKS_AN_AGENT.search(cell.source):
        raise CellProblem(
            "it asks an agent, and an agent does not start another one so: ask the user to run "
            "it, or do yourself what it says"
        )
    if not cell.source.strip():
        raise CellProblem("the cell is empty")
    return cell


def _objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """By what the code of the cell does; its text is noted, so that no other one runs."""
    there = cells_of(context)
    if there is None:
        return None
    try:
        cell = _runnable(args, there)
    except (CellProblem, Problem):
        return None  # the handler says so
    there.judged[_key(context)] = cell.source
    return objection_to(cell.source, live_of(context), GRANT)


def _key(context: Mapping[str, Any]) -> str:
    return str(context.get("tool_call_id"))


registry.register(
    name="run_cell",
    toolset="cells",
    schema=SCHEMA,
    handler=run_cell,
    emoji="▶️",
    check_fn=is_there,
    guard_fn=_objection,
    effects="unknown",
    timeout=lambda args: timeout_of(args) + SECONDS_TO_END,
    max_result_size_chars=50_000,
    works_in="kernel",
    about_fn=about,
)
