"""The ejected turn: as one cell, as a script, as a notebook."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.eject.plain import IMPORTS, Steps
from hermes_jupyter.eject.steps import Step, steps_of
from hermes_jupyter.events import Event, TurnStarted
from tools.cells import CellKind

NOTHING = "# The turn called no tool: there is nothing to run."


def as_code(events: Sequence[Event], folder: str = "") -> str:
    """The turn as one piece of Python: its prompt as a comment, then its steps."""
    started = _started(events)
    head = "\n".join(f"# {line}".rstrip() for line in _shown(started.prompt).splitlines())
    steps = steps_of(events, folder)
    parts = [_code(step, alone=False) for step in steps] or [NOTHING]
    return "\n\n".join([_head(started), head, *_prelude(steps), *parts]) + "\n"


def as_cells(events: Sequence[Event], folder: str = "") -> list[tuple[CellKind, str]]:
    """The turn as cells: the prompt as Markdown, a code cell for each step."""
    started = _started(events)
    steps = steps_of(events, folder)
    quoted = "\n".join(f"> {line}".rstrip() for line in _shown(started.prompt).splitlines())
    told = f"{quoted}\n\n{_head(started).removeprefix('# ')}"
    code = [*_prelude(steps), *[_code(step, alone=True) for step in steps]] or [NOTHING]
    return [("markdown", told), *[("code", text) for text in code]]


def as_notebook(events: Sequence[Event], folder: str = "") -> str:
    """The JSON of a notebook (nbformat 4.5): the prompt as Markdown, a code cell for each step."""
    turn = _started(events).turn
    sources = as_cells(events, folder)
    cells = [_cell(kind, text, f"{turn} {n}") for n, (kind, text) in enumerate(sources)]
    spec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": spec, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, Any] = {".py": as_code, ".ipynb": as_notebook}
"""How a turn is written, by the ending of the file."""


def _started(events: Sequence[Event]) -> TurnStarted:
    return next(event for event in events if isinstance(event, TurnStarted))


def _head(started: TurnStarted) -> str:
    return f"# What the agent did in turn {started.turn}, without the agent"


def _prelude(steps: Sequence[Step]) -> list[str]:
    if not any(step.code and step.uses_steps for step in steps):
        return []
    return [f"{IMPORTS}\n\n\n{inspect.getsource(Steps)}\n\nturn = Steps()"]


def _code(step: Step, *, alone: bool) -> str:
    comment = f"# {step.comment}" if step.comment else ""
    code = step.code
    if code.startswith("%%") and not alone:
        body = "\n".join(f"#   {line}" for line in code.splitlines())
        return f"# needs a cell of its own:\n{body}"
    return "\n".join(filter(None, [comment, code]))


def _shown(prompt: str) -> str:
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in prompt).strip()


def _cell(kind: str, text: str, name: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12],
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
