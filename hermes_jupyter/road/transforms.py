"""What hooks make of an answer of a tool, before it is shaped for the model.

They see it with secrets masked. What they make of it is cut, fenced and masked as any answer, and
whether the call succeeded stays as the tool said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.hooks.payloads import TransformTerminalOutput, TransformToolResult
from hermes_jupyter.hooks.registry import Hooks
from hermes_jupyter.redaction import redact
from hermes_jupyter.road.course import Course
from hermes_jupyter.road.hooks import about_turn
from hermes_jupyter.road.results import QUICK_CHARS, exit_code_of
from hermes_jupyter.store.sessions.masking import masked_value
from hermes_jupyter.text import json_object
from tools.async_bridge import in_tool_thread

TERMINAL = "terminal"
"""The tool whose output is that of a command."""


def transforms(hooks: Hooks) -> bool:
    """Is there a hook that makes something else of answers?"""
    return bool(hooks) and (
        hooks.wants("transform_tool_result") or hooks.wants("transform_terminal_output")
    )


async def transform(hooks: Hooks, course: Course, context: Mapping[str, Any]) -> None:
    """Let hooks change the answer of a call that has run."""
    if not course.text or course.status != "ok":
        return
    before = course.text
    if course.call.name == TERMINAL and hooks.wants("transform_terminal_output"):
        await _transform_output(hooks, course, context)
    if hooks.wants("transform_tool_result"):
        told = TransformToolResult(
            tool_name=course.call.name,
            args=masked_value(course.call.args),
            tool_call_id=course.call.id,
            result=await _masked(course.text),
            duration_ms=round(course.seconds * 1_000),
            **about_turn(context),
        )
        said = await hooks.text(told)
        course.text = course.text if said is None else said
    if course.text is not before:
        course.before = before


async def _transform_output(hooks: Hooks, course: Course, context: Mapping[str, Any]) -> None:
    answer = json_object(course.text)
    output = (answer or {}).get("output")
    if answer is None or not isinstance(output, str):
        return
    said = await hooks.text(
        TransformTerminalOutput(
            command=redact(str(course.call.args.get("command", ""))),
            output=await _masked(output),
            returncode=exit_code_of(course.text),
            env_type=str(getattr(context.get("environment"), "backend", "")),
            **about_turn(context),
        )
    )
    if said is not None:
        course.text = json.dumps({**answer, "output": said}, ensure_ascii=False)


async def _masked(text: str) -> str:
    """To mask a long text would hold up the loop."""
    return redact(text) if len(text) <= QUICK_CHARS else await in_tool_thread(lambda: redact(text))
