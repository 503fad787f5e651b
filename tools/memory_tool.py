"""Remember across conversations: short facts, in two files that a person can read and edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.files import arguments
from tools.files.answering import answering
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

ACTIONS = ("add", "replace", "remove", "read")
TARGETS = ("memory", "user")

SCHEMA = {
    "name": "memory",
    "description": (
        "Remember short facts for later conversations: lasting preferences of the user "
        "(target=user), and what you have learned about their projects and machine "
        "(target=memory). Do not keep what is in files, or the state of a task. What is remembered "
        "is in your prompt from the next conversation on. replace and remove name the entry by its "
        "id or a unique part of its text; operations makes several changes, all or none."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "target": {"type": "string", "enum": list(TARGETS), "default": "memory"},
            "content": {"type": "string", "description": "The fact, for add and replace."},
            "old_text": {
                "type": "string",
                "description": "Id, or a unique part of the text, for replace and remove.",
            },
            "operations": {
                "type": "array",
                "description": "Several changes instead of one.",
                "items": {
                    "type": "object",
                    "properties": {
                        "action": {"type": "string", "enum": ["add", "replace", "remove"]},
                        "content": {"type": "string"},
                        "old_text": {"type": "string"},
                    },
                    "required": ["action"],
                },
            },
        },
        "required": [],
    },
}


@answering(success=False)
def memory(args: dict[str, Any], **context: Any) -> str:
    """Handler: read or change ``context["memory"]``."""
    store = context.get("memory")
    if store is None:
        return tool_error("memory must be handled by the agent loop")
    target = arguments.choice(args, "target", TARGETS)
    try:
        changes = _changes(args, store)
        entries = store.change(target, changes) if changes else store.entries(target)
    except ValueError as error:
        raise Problem(str(error), target=target) from None
    return tool_result(
        success=True,
        done=_done(args),
        target=target,
        usage=store.usage(target, entries),
        entry_count=len(entries),
        entries=[_shown(entry) for entry in entries],
    )


def _shown(entry: Any) -> dict[str, str]:
    return {
        "id": entry.id,
        "text": entry.text,
        **({"written": entry.written} if entry.written else {}),
    }


def _changes(args: Mapping[str, Any], store: Any) -> list[Any]:
    operations = args.get("operations")
    if operations is None:
        action = arguments.choice(args, "action", ("read", *ACTIONS[:3]))
        return [] if action == "read" else [_change(args, action, store)]
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise Problem("'operations' must be a list of objects with an action")
    return [
        _change(each, arguments.choice(each, "action", ACTIONS[:3]), store) for each in operations
    ]


def _change(args: Mapping[str, Any], action: str, store: Any) -> Any:
    return store.step(
        action, arguments.text(args, "content", ""), arguments.text(args, "old_text", "")
    )


def _done(args: Mapping[str, Any]) -> str:
    operations = args.get("operations")
    return f"{len(operations)} operations" if operations else str(args.get("action") or "read")


def reads_only(args: Mapping[str, Any], **context: Any) -> bool:
    """Does a call only look?"""
    return not args.get("operations") and args.get("action") in (None, "", "read")


registry.register(
    name="memory",
    toolset="memory",
    schema=SCHEMA,
    handler=memory,
    emoji="🧠",
    reads_only=reads_only,
    effects="unknown",
)
