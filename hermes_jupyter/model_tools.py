"""The functions by which the articles on Hermes Agent call tools, for those who have read them.

Each is thin, over what does the work here. An agent has more: a session, and a person who can
be asked. Called from here, what needs a consent is denied, and what needs an agent says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tools import availability, discovery
from tools.environments.timeouts import FOREGROUND_MAX_TIMEOUT
from tools.registry import registry, tool_error
from tools.toolsets import resolve_toolsets

if TYPE_CHECKING:
    from hermes_jupyter.events import Event
    from hermes_jupyter.road.run import Road

__all__ = [
    "FOREGROUND_MAX_TIMEOUT",
    "coerce_tool_args",
    "get_tool_definitions",
    "handle_function_call",
]

_AGENT_LOOP_TOOLS = frozenset({"todo", "memory", "session_search", "delegate_task"})
KEPT = 8

discovery.discover_builtin()


def __getattr__(name: str) -> Any:
    """Names that only readers of the articles ask for are imported when they do."""
    from hermes_jupyter import former_names

    if name.startswith("_") and not name.startswith("__") and hasattr(former_names, name):
        return getattr(former_names, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_tool_definitions(
    enabled_toolsets: Collection[str] | None = None,
    disabled_toolsets: Collection[str] | None = None,
    quiet_mode: bool = False,
) -> list[dict[str, Any]]:
    """Definitions of the tools that can be used now, by name, for a Chat Completions request.

    Parameters
    ----------
    enabled_toolsets
        Toolsets and tools; None stands for the default and all that was registered besides.
    disabled_toolsets
        Win over the enabled ones.
    quiet_mode
        Has no effect: nothing is printed.

    Raises
    ------
    UnknownToolset
        For a name that is neither a toolset nor a tool.
    """
    enabled = None if enabled_toolsets is None else tuple(enabled_toolsets)
    disabled = tuple(disabled_toolsets or ())
    # A list of the caller's own, who may add to it.
    return [*_definitions(enabled, disabled, registry.generation, availability.stamp())]


@lru_cache(maxsize=KEPT)
def _definitions(
    enabled: tuple[str, ...] | None, disabled: tuple[str, ...], generation: int, stamp: int
) -> list[dict[str, Any]]:
    """Worked out once for each state of the registry and of the tools' own checks."""
    return registry.get_definitions(resolve_toolsets(enabled, disabled))


def handle_function_call(
    function_name: str,
    function_args: Mapping[str, Any],
    task_id: str | None = None,
    tool_call_id: str | None = None,
    session_id: str | None = None,
    user_task: str | None = None,
    enabled_tools: Collection[str] | None = None,
) -> str:
    """Run one tool, in any thread, and give its answer as text. Never raises.

    Parameters
    ----------
    function_args
        An object, not its JSON text.
    enabled_tools
        Names of the tools that may be called; None allows all.
    """
    if function_name in _AGENT_LOOP_TOOLS:
        return tool_error(f"{function_name} must be handled by the agent loop")
    if not isinstance(function_args, Mapping):
        kind = type(function_args).__name__
        return tool_error(f"Arguments of {function_name} must be an object, not {kind}")
    from hermes_jupyter.calls import ToolCall

    allowed = None if enabled_tools is None else frozenset(enabled_tools)
    road = _road(registry.generation, allowed)
    call = ToolCall(id=tool_call_id or "call", name=function_name, args=function_args)
    return road.run_here(call).text


@lru_cache(maxsize=KEPT)
def _road(generation: int, allowed: frozenset[str] | None) -> Road:
    """The road, imported with the first call: who only wants definitions goes without it."""
    from hermes_jupyter.events import ApprovalRequested, QuestionAsked
    from hermes_jupyter.road.approval import ApprovalDesk
    from hermes_jupyter.road.policy import Policy
    from hermes_jupyter.road.run import Road

    desk = ApprovalDesk()

    def nobody(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            desk.reply(event.question.id, None, by="policy")
        elif isinstance(event, ApprovalRequested):
            request = event.request
            desk.answer(request.id, "deny", by="policy", digest=request.digest)

    view = registry.view(allow=allowed)
    return Road(tools=view, desk=desk, policy=Policy(), emit=nobody, context={})


def coerce_tool_args(tool_name: str, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the types that the tool wants, as far as nothing is lost by it."""
    from hermes_jupyter.road import coercion

    schema = registry.get_schema(tool_name)
    return coercion.coerce(args, schema["parameters"]) if schema else args
