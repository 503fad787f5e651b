"""Private names of Hermes Agent that its articles explain, over what does the same here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.checks import checked
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.places import Places
from hermes_jupyter.agent.planning import plan
from tools.async_bridge import run_async
from tools.discovery import discover_builtin
from tools.registry import registry
from tools.safety import inspect_command
from tools.toolsets import FORMER

_run_async = run_async
_discover_tools = discover_builtin
_LEGACY_TOOLSET_MAP = FORMER


def _should_parallelize_tool_batch(tool_calls: Sequence[Any]) -> bool:
    """Whether all calls of a step, as the ``openai`` package has them, may run side by side."""
    calls = [
        RawCall(id=str(place), name=call.function.name, arguments=call.function.arguments)
        for place, call in enumerate(tool_calls)
    ]
    ready = checked(calls, registry.get_all_tool_names())
    return len(ready) > 1 and len(plan(ready, registry, str(Path.cwd()))) == 1


def _paths_overlap(left: Path, right: Path) -> bool:
    """Whether two paths lead to the same place, or one into the other."""
    places = Places(str(Path.cwd()), None)
    return any(
        one.overlaps(other)
        for one in places.written(str(left))
        for other in places.written(str(right))
    )


def _is_destructive_command(cmd: str) -> bool:
    """Whether a person must be asked before this shell command runs."""
    return inspect_command(cmd, str(Path.cwd())) is not None
