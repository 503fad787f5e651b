"""Give tasks to other agents, which work side by side, each by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tools.files import arguments
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result
from tools.toolsets import UnknownToolset

MAX_TASKS = 100
MAX_CHARS = 100_000
"""Of a goal, and of a context: more belongs into a file."""
ROLES = ("leaf", "orchestrator")
YEAR = 31_536_000.0
"""Children have limits of their own, each model call and each tool; the whole needs none."""

_TOOLSETS = {
    "type": "array",
    "items": {"type": "string"},
    "description": (
        "Toolsets or tools it gets, such as file or terminal; it never gets more than you have. "
        "All of yours by default."
    ),
}
_ROLE = {
    "type": "string",
    "enum": list(ROLES),
    "description": "An orchestrator may delegate in turn, where that is allowed. Default leaf.",
}
_CONTEXT = {
    "type": "string",
    "description": "All it must know: paths, facts, wishes. It sees nothing of this conversation.",
}

SCHEMA = {
    "name": "delegate_task",
    "description": (
        "Give work to other agents and wait for what they find out or do. Each starts without "
        "knowing this conversation, works alone with its own shell, and answers with a summary. "
        "Use it for work that can be told completely in a few lines: parts that do not need each "
        "other (give them together in tasks: they run side by side), or long searches of which "
        "you need only the result. Do small things yourself. Returns for each: status (completed, "
        "failed, error, interrupted), summary, files_written, and a session_id under which "
        "session_search has all it did. Check what matters before you rely on it."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "goal": {"type": "string", "description": "One task: what shall be done or found."},
            "context": _CONTEXT,
            "tasks": {
                "type": "array",
                "description": "Several tasks in place of one goal.",
                "items": {
                    "type": "object",
                    "properties": {
                        "goal": {"type": "string", "description": "What shall be done or found."},
                        "context": _CONTEXT,
                        "toolsets": _TOOLSETS,
                        "role": _ROLE,
                    },
                    "required": ["goal"],
                },
            },
            "toolsets": _TOOLSETS,
            "role": _ROLE,
            "background": {
                "type": "boolean",
                "description": "Has no effect: the results come with this call.",
            },
        },
        "required": [],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task, as it is asked for."""

    goal: str
    context: str = ""
    toolsets: tuple[str, ...] = ()
    """Empty: all that may be had."""
    orchestrates: bool = False


class Delegation(Protocol):
    """Who has the tasks done; see ``hermes_jupyter.delegation``."""

    async def run(
        self,
        tasks: Sequence[Task],
        *,
        call_id: str,
        cancelled: Any,
        say: Callable[[str], None],
    ) -> list[dict[str, Any]]:
        """A report on each task, in their order. ValueError if one cannot be given away."""
        ...


async def delegate_task(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: have the tasks done through ``context["delegation"]``."""
    delegation: Delegation | None = context.get("delegation")
    if delegation is None:
        return tool_error("delegate_task must be handled by the agent loop")
    began = time.monotonic()
    try:
        results = await delegation.run(
            _tasks(args),
            call_id=context["tool_call_id"],
            cancelled=context["cancelled"],
            say=context["on_output"],
        )
    except (Problem, UnknownToolset, ValueError) as problem:
        return tool_error(f"{problem}. No task was begun")
    seconds = round(time.monotonic() - began, 2)
    return tool_result(results=results, total_duration_seconds=seconds)


def _tasks(args: Mapping[str, Any]) -> list[Task]:
    several = args.get("tasks")
    if not several:
        return [_task(args, "goal", {})]
    if not isinstance(several, list | tuple) or not all(isinstance(t, Mapping) for t in several):
        raise Problem("'tasks' must be a list of objects, each with a goal")
    if len(several) > MAX_TASKS:
        raise Problem(f"{len(several)} tasks are too many; give {MAX_TASKS} at most in a call")
    return [_task(task, f"tasks[{place}].goal", args) for place, task in enumerate(several)]


def _task(told: Mapping[str, Any], name: str, for_all: Mapping[str, Any]) -> Task:
    """A task; what it does not say itself is said for all."""
    said = {key: told.get(key) or for_all.get(key) for key in ("context", "toolsets", "role")}
    goal = arguments.text(told, "goal", "")
    if not goal.strip():
        raise Problem(f"{name!r} is empty; say what shall be done")
    extra = arguments.text(said, "context", "")
    for what, text in ((name, goal), ("context", extra)):
        if len(text) > MAX_CHARS:
            raise Problem(
                f"{what!r} has {len(text):,} characters, more than {MAX_CHARS:,}; put the text "
                "into a file and name the file"
            )
    return Task(
        goal=goal,
        context=extra,
        toolsets=_toolsets(said["toolsets"]),
        orchestrates=arguments.choice(said, "role", ROLES) == "orchestrator",
    )


def _toolsets(told: Any) -> tuple[str, ...]:
    named = [told] if isinstance(told, str) else told or ()
    if not isinstance(named, list | tuple) or not all(isinstance(name, str) for name in named):
        raise Problem("'toolsets' must be a list of names")
    return tuple(word for name in named for word in name.replace(",", " ").split())


def _changes_nothing(args: Mapping[str, Any], **_: Any) -> bool:
    """Itself: each call of a child is looked at like any other, also in plan mode."""
    return True


registry.register(
    name="delegate_task",
    toolset="delegation",
    schema=SCHEMA,
    handler=delegate_task,
    is_async=True,
    emoji="🔀",
    reads_only=_changes_nothing,
    timeout=YEAR,
)
