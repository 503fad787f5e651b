"""What the shared corpora of cases are scored against: one function for each corpus."""

from __future__ import annotations

import json
import re
from typing import Any

from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.agent.planning import plan
from hermes_jupyter.agent.relaxed_values import Unrepairable
from hermes_jupyter.agent.repair import repaired
from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road import coercion
from tools import discovery
from tools.registry import ToolRegistry, registry
from tools.safety import judge_command
from tools.safety.cells import judge_cell


def parallel(
    calls: list[dict[str, Any]], cwd: str, home: str, mcp_parallel: list[str]
) -> list[list[str]]:
    """Ids of the calls, batch by batch.

    ``mcp_parallel`` names MCP servers, or tools of theirs, that take several calls at once.
    """
    discovery.discover_builtin()
    tools = ToolRegistry()
    for entry in registry.entries():
        tools.register(
            entry.name, entry.toolset, entry.schema, entry.handler,
            effects=entry.effects, resources=entry.resources,
        )  # fmt: skip
    for name in {call["name"] for call in calls if _opted_in(call["name"], mcp_parallel)}:
        tools.register(name, "mcp", {}, str, effects="read", resources=lambda args: ())
    return [[call.id for call in batch] for batch in plan([*map(_call, calls)], tools, cwd, home)]


def _opted_in(name: str, mcp_parallel: list[str]) -> bool:
    """By its own name or its server's, if the name can be cut in one way only."""
    prefix, _, rest = name.partition("_")
    cut = "__" if rest.startswith("_") else "_"
    parts = rest.removeprefix("_").split(cut)
    servers = {re.sub(r"\W", "_", re.sub("^mcp[-_]+|[_*]+$", "", each)) for each in mcp_parallel}
    return name in mcp_parallel or (prefix == "mcp" and len(parts) == 2 and parts[0] in servers)


def _call(call: dict[str, Any]) -> ToolCall:
    try:
        args = json.loads(call["arguments"])
    except (ValueError, RecursionError):
        args = None
    if not isinstance(args, dict):
        return ToolCall(id=call["id"], name=call["name"], error="unusable arguments")
    return ToolCall(id=call["id"], name=call["name"], args=args)


def coerce(schema: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a tool with these parameters would get them."""
    return coercion.coerce(args, schema)


def argrepair(raw: str, params: list[str] | None) -> dict[str, Any] | None:
    """The argument object that the text stands for; None if it cannot be repaired."""
    try:
        return repaired(raw, params)
    except Unrepairable:
        return None


def toolnames(name: str, registered: list[str], withheld: list[str]) -> str | None:
    """The tool that is meant; None if that is not certain."""
    return resolve_name(name, registered, withheld)


def commands(text: str) -> str:
    """``safe``, ``ask`` or ``block`` for a shell command."""
    return judge_command(text, "/data/project").verdict


def cells(text: str) -> str:
    """``safe``, ``ask`` or ``block`` for a notebook cell."""
    return judge_cell(text, "/data/project").verdict
