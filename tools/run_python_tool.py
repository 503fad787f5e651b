"""Run Python in the user's own kernel, on the user's own variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tools.live import MISSING, Ran, is_there, live_of
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection
from tools.secrets.placeholders import refusal, secrets_of

DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 120, 3_600
SECONDS_TO_END = 15
"""What a call may take beyond its own timeout: the cell's thread may be busy, or slow to stop."""
GRANT = "this exact code in this kernel"

SCHEMA = {
    "name": "run_python",
    "description": (
        "Run Python in the user's notebook kernel: it sees and changes their variables, and what "
        "it defines stays for them. Works like a cell: top-level await, %magics and !commands, "
        "and the last expression's value is returned. Answers with `output`, `value` and the "
        "variables that were made, changed or deleted. Only you see these; figures, and what "
        "display(...) is called with, are also shown to the user below the cell. Look at data "
        "with inspect_variable first. matplotlib settings last for one call. For scripts that "
        "only call tools use execute_code."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The code, as in a cell."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST_TIMEOUT,
                "description": f"Seconds until it is interrupted (default {DEFAULT_TIMEOUT}).",
            },
        },
        "required": ["code"],
    },
}


async def run_python(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: the kernel runs it, in the thread of the cell."""
    live, code = live_of(context), str(args["code"])
    if live is None:
        return tool_error(MISSING)
    if problem := refusal(code, secrets_of(context)):
        return tool_error(problem)
    seconds = _timeout(args)
    try:
        ran = await live.run(code, seconds=seconds, hear=context.get("on_output") or _unheard)
    except RuntimeError as error:
        return tool_error(f"The code did not run: {error}")
    if ran.traceback and (tell := context.get("on_details")):
        tell(ran.traceback)
    return tool_result(_answer(ran, seconds))


def _answer(ran: Ran, seconds: float) -> dict[str, Any]:
    told = {
        "error": _error(ran, seconds),
        "line": ran.line,
        "output": ran.output,
        "value": ran.value,
        "displayed": list(ran.displayed),
        "new_variables": list(ran.new),
        "changed_variables": list(ran.changed),
        "deleted_variables": list(ran.deleted),
        "note": "; ".join(ran.notes),
    }
    return {name: value for name, value in told.items() if value} or {"output": ""}


def _error(ran: Ran, seconds: float) -> str:
    if ran.ended == "timeout":
        return f"interrupted after {seconds:g} s (timeout); what it had done until then stays"
    if ran.ended == "interrupted":
        return "interrupted by the user"
    return ran.error


def _timeout(args: Mapping[str, Any]) -> float:
    return float(args.get("timeout") or DEFAULT_TIMEOUT)


def _unheard(_text: str) -> None:
    """Nobody listens while it runs."""


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """By what the code does, as far as its text and the variables it names tell."""
    from tools.safety.cells import judge_cell  # heavy, and wanted only where code runs
    from tools.safety.live_values import values_of

    code, folder = str(args["code"]), os.getcwd()  # noqa: PTH109
    live = live_of(context)
    known = values_of(live.namespace(), code) if live is not None else {}
    judged = judge_cell(code, folder, known)
    if judged.verdict == "safe" or (live is not None and not live.can_run(code)):
        return None
    return Objection(
        judged.reason,
        code,
        GRANT,
        forbidden=judged.verdict == "block",
        cwd=folder,
        effects=judged.effects,
    )


registry.register(
    name="run_python",
    toolset="notebook",
    schema=SCHEMA,
    handler=run_python,
    emoji="🧪",
    check_fn=is_there,
    guard_fn=objection,
    effects="unknown",
    timeout=lambda args: _timeout(args) + SECONDS_TO_END,
    max_result_size_chars=50_000,
    works_in="kernel",
)
