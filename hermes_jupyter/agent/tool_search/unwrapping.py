"""The call inside a ``tool_call``. All that comes after the checks sees only the real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.tool_search.bridge import NOT_A_TOOL, TOOL_CALL, TOOLSET
from hermes_jupyter.calls import ToolCall
from tools.catalog import Catalog

PARAMETERS = frozenset({"name", "arguments"})


def unwrapped(call: ToolCall, tools: Catalog, check: Callable[[RawCall], ToolCall]) -> ToolCall:
    """The call that is meant, with its own errors if it has some; other calls as they are.

    Parameters
    ----------
    tools
        What may be called. If nothing is deferred, there is no bridge among them.
    check
        The checks that a call written without the bridge would have to pass.
    """
    if call.name != TOOL_CALL or call.error or tools.get_toolset_for_tool(TOOL_CALL) != TOOLSET:
        return call
    name, others = call.args.get("name"), sorted(call.args.keys() - PARAMETERS)
    if not isinstance(name, str) or not name.strip():
        return _wrong(call, f"{TOOL_CALL} needs the name of a tool as text")
    if others:
        what = f"{TOOL_CALL} takes only name and arguments"
        told = ", ".join(others)[:200]
        return _wrong(call, what, f"put what belongs to {name[:100]} into arguments: {told}")
    text = _text_of(call.args.get("arguments"))
    if text is None:
        return _wrong(call, f"the arguments in {TOOL_CALL} must be an object")
    inner = check(RawCall(id=call.id, name=name, arguments=text))
    if inner.name == TOOL_CALL:
        return _wrong(call, f"{TOOL_CALL} cannot call itself", "name the tool itself")
    return inner


def _text_of(arguments: Any) -> str | None:
    """The arguments as a model would write them for the tool itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments) if isinstance(arguments, dict) else None


def _wrong(call: ToolCall, mistake: str, remedy: str = "") -> ToolCall:
    told = f"{mistake}: {remedy}" if remedy else mistake
    error = f"{told}. Nothing was run. {NOT_A_TOOL}."
    return ToolCall(id=call.id, name=TOOL_CALL, args=call.args, error=error, mistake=mistake)
