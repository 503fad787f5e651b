"""Run Python in the user's own kernel, on the user's own variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from tools.async_bridge import in_tool_thread
from tools.images.picture import UnusableImage
from tools.images.preparing import prepared
from tools.live import MISSING, LiveKernel, Ran, is_there, live_of
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
        "display(...) is called with, are also shown to the user below the cell; you get the "
        "images if you can see. Look at data "
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
    try:
        ran = await run_live(live, code, args, context)
    except RuntimeError as error:
        return tool_error(f"The code did not run: {error}")
    return tool_result({**answer_of(ran, args), **await images_of(ran, context)})


async def run_live(
    live: LiveKernel, code: str, args: Mapping[str, Any], context: Mapping[str, Any]
) -> Ran:
    """Run code for a call, within its timeout. What it prints, and a traceback, is passed on."""
    ran = await live.run(
        code,
        seconds=timeout_of(args),
        hear=context.get("on_output") or _unheard,
        waiting=context.get("waiting", nullcontext),
        displayed=context.get("on_display"),
    )
    if ran.traceback and (tell := context.get("on_details")):
        tell(ran.traceback)
    return ran


async def images_of(ran: Ran, context: Mapping[str, Any]) -> dict[str, Any]:
    """Give the images that it displayed to the model; what the answer says of them."""
    show = context.get("on_image")
    if show is None:
        return {}
    told = []
    for content in ran.pictures:
        try:
            picture = await in_tool_thread(partial(prepared, content))
        except UnusableImage as problem:
            told.append(f"an image that cannot be sent: {problem}")
            continue
        show(picture)
        told.append(picture.words)
    return {"images": told} if told else {}


def answer_of(ran: Ran, args: Mapping[str, Any]) -> dict[str, Any]:
    """What the model is told of it."""
    told = {
        "error": error_of(ran, timeout_of(args)),
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


def error_of(ran: Ran, seconds: float) -> str:
    """Why it did not come to its end; empty if it did."""
    if ran.ended == "timeout":
        return f"interrupted after {seconds:g} s (timeout); what it had done until then stays"
    if ran.ended == "interrupted":
        return "interrupted by the user"
    return ran.error


def timeout_of(args: Mapping[str, Any]) -> float:
    """The seconds that code may run."""
    return float(args.get("timeout") or DEFAULT_TIMEOUT)


def _unheard(_text: str) -> None:
    """Nobody listens while it runs."""


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """By what the code does, as far as its text and the variables it names tell."""
    return objection_to(str(args["code"]), live_of(context))


def objection_to(code: str, live: LiveKernel | None, grant: str = GRANT) -> Objection | None:
    """The same for code; ``grant`` says what is allowed for good."""
    from tools.safety.cells import judge_cell  # heavy, and wanted only where code runs
    from tools.safety.live_values import values_of

    folder = os.getcwd()  # noqa: PTH109
    known = values_of(live.namespace(), code) if live is not None else {}
    judged = judge_cell(code, folder, known)
    if judged.verdict == "safe" or (live is not None and not live.can_run(code)):
        return None
    return Objection(
        judged.reason,
        code,
        grant,
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
    timeout=lambda args: timeout_of(args) + SECONDS_TO_END,
    max_result_size_chars=50_000,
    works_in="kernel",
)
