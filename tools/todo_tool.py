"""The session's list of things to do, kept by the agent and seen by the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tools.files import arguments
from tools.files.answering import answering
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

STATUSES = ("pending", "in_progress", "completed", "cancelled")
MAX_ITEMS = 256
MAX_CHARS = 4_000

SCHEMA = {
    "name": "todo",
    "description": (
        "Keep a list of the steps of a task with three or more steps. Call it without todos to "
        "read the list. With todos it replaces the list, or with merge=true it updates items of "
        "the same id and adds the others. Keep one item in_progress, and mark each completed as "
        "soon as it is done. Returns the whole list and how many items have each status."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "description": "The items; leave out to read the list.",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {
                            "type": "string",
                            "description": "A short name, unique in the list.",
                        },
                        "content": {"type": "string", "description": "What is to be done."},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    "required": ["id", "content", "status"],
                },
            },
            "merge": {
                "type": "boolean",
                "default": False,
                "description": "Update and add items instead of replacing the list.",
            },
        },
        "required": [],
    },
}


@answering()
def todo(args: dict[str, Any], **context: Any) -> str:
    """Handler: read or change ``context["todos"]``, in place."""
    todos = context.get("todos")
    if not isinstance(todos, list):
        return tool_error("todo must be handled by the agent loop")
    given = args.get("todos")
    if given is not None:
        if not isinstance(given, list):
            raise Problem(f"'todos' must be a list of items, not {type(given).__name__}")
        todos[:] = _changed(todos, given, args)
    counts = Counter(item["status"] for item in todos)
    summary = {"total": len(todos), **{status: counts[status] for status in STATUSES}}
    return tool_result(todos=todos, summary=summary)


def _changed(
    todos: Sequence[Mapping[str, str]], given: list[Any], args: Mapping[str, Any]
) -> list[dict[str, str]]:
    """The list as it shall be. Checked as a whole before anything changes."""
    known = {item["id"]: dict(item) for item in todos} if arguments.flag(args, "merge") else {}
    named: set[str] = set()
    for number, item in enumerate(given, 1):
        name = _name(number, item)
        if name in named:
            raise Problem(f"Item {number}: id {name!r} is there twice; ids must be unique")
        named.add(name)
        known[name] = _checked(number, {**known.get(name, {}), **item, "id": name})
    if len(known) > MAX_ITEMS:
        raise Problem(f"The list would have {len(known)} items; {MAX_ITEMS} are allowed")
    return list(known.values())


def _name(number: int, item: Any) -> str:
    if not isinstance(item, dict):
        raise Problem(
            f"Item {number} must be an object with id, content and status, not {item!r:.80}"
        )
    name = item.get("id")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name.strip():
        raise Problem(f"Item {number} needs an id, for example '{number}'")
    return name.strip()


def _checked(number: int, item: Mapping[str, Any]) -> dict[str, str]:
    label = f"Item {number} (id {item['id']!r})"
    content, status = item.get("content"), item.get("status", "pending")
    if not isinstance(content, str) or not content.strip():
        raise Problem(f"{label} needs content: what is to be done")
    if len(content) > MAX_CHARS:
        raise Problem(f"{label}: content has {len(content)} characters; {MAX_CHARS} are allowed")
    if status not in STATUSES:
        raise Problem(f"{label}: status {status!r:.80} is not one of {', '.join(STATUSES)}")
    return {"id": item["id"], "content": content, "status": status}


registry.register(
    name="todo",
    toolset="todo",
    schema=SCHEMA,
    handler=todo,
    emoji="📋",
    reads_only=lambda args, **_: True,  # of the world: a list of its own is what a plan needs
)
