"""What a tool answers now, beside what it answered when the turn was recorded."""

from __future__ import annotations

import difflib
import re
from itertools import islice

from hermes_jupyter.calls import ToolResult
from hermes_jupyter.views.words import readable_result

MAX_LINES = 40
MAX_LINE_CHARS = 300
MAX_COMPARED = 200_000
"""Characters of an answer; of longer ones the beginnings are compared line by line."""


def difference(recorded: ToolResult, now: ToolResult) -> str:
    """What differs, for a person; empty if nothing does.

    How long a call took, and under which name a long answer is kept, plays no part.
    """
    before, after = _text(recorded), _text(now)
    if before == after and _end(recorded) == _end(now):
        return ""
    head = f"{now.call.name}: {_end(recorded)} when recorded, {_end(now)} now"
    lines = difflib.unified_diff(
        before[:MAX_COMPARED].splitlines(),
        after[:MAX_COMPARED].splitlines(),
        "recorded",
        "now",
        lineterm="",
        n=1,
    )
    shown = [line[:MAX_LINE_CHARS] for line in islice(lines, MAX_LINES + 1)]
    if len(shown) > MAX_LINES:
        shown[-1] = "…"
    if before != after and not shown:
        shown = [f"the texts differ behind {MAX_COMPARED:,} characters"]
    return "\n".join([head, *shown])


def _end(result: ToolResult) -> str:
    return f"exit code {result.exit_code}" if result.exit_code else result.status


def _text(result: ToolResult) -> str:
    text = readable_result(result.text)
    return re.sub(rf"\b{re.escape(result.handle)}\b", "(kept)", text) if result.handle else text
