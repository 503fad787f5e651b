"""Calls as the policy sees them, without a road."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.cases import Case, case_of
from tools.registry import ToolEntry
from tools.safety import Objection

TOOLSETS = {"terminal": "terminal", "process": "terminal", "write_file": "file", "patch": "file"}
EFFECTS: dict[str, Any] = {"write_file": "write", "patch": "write", "read_file": "read"}


@dataclass(frozen=True)
class Telling(Objection):
    """An objection that tells effects."""

    effects: tuple[Any, ...] = ()


MakeCase = Callable[..., Case]


@pytest.fixture
def case(tmp_path: Path) -> MakeCase:
    """Make a case: ``case("terminal", effects=[...], command="rm a")``."""

    def make(
        name: str = "terminal",
        *,
        effects: tuple[Any, ...] = (),
        objects: bool = True,
        folder: Path = tmp_path,
        workspace: Path = tmp_path,
        **args: Any,
    ) -> Case:
        entry = ToolEntry(
            name=name,
            toolset=TOOLSETS.get(name, "mine"),
            schema={},
            handler=lambda args, **_: "",
            effects=EFFECTS.get(name, "unknown"),
        )
        shown = str(args.get("command", "x"))
        said = (
            Telling(args.pop("reason", f"does {shown}"), shown, "this", effects=tuple(effects))
            if objects
            else None
        )
        context = {"cwd": str(folder), "workspace": str(workspace)}
        return case_of(entry, ToolCall(id="1", name=name, args=args), context, said)

    return make
