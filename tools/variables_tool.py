"""See what variables the user has, and what is in one. None of the user's code runs for it."""

from __future__ import annotations

import ast
import fnmatch
import types
from collections.abc import Mapping
from typing import Any

from tools.files import arguments
from tools.live import MISSING, LiveKernel, is_there, live_of
from tools.registry import registry, tool_error, tool_result
from tools.secrets.placeholders import masked, secrets_of
from tools.secrets.variables import is_secret_name
from tools.values.paths import Unreadable, value_at
from tools.values.plain import HIDDEN, named
from tools.values.types import full_name, is_instance

DEFAULT_LIMIT, MAX_LIMIT = 50, 200
WORDS = 100
SECONDS = 10.0

LIST_SCHEMA = {
    "name": "list_variables",
    "description": (
        "List the variables in the user's notebook kernel, the newest last: each with its type "
        "and, in short, its value or size; the names of functions, classes and modules apart. "
        "Nothing is computed."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "Only names like this: df*, *model*. Case plays no part.",
            },
            "limit": {
                "type": "integer",
                "default": DEFAULT_LIMIT,
                "maximum": MAX_LIMIT,
                "description": "How many variables to return.",
            },
        },
        "required": [],
    },
}
INSPECT_SCHEMA = {
    "name": "inspect_variable",
    "description": (
        "Look closely at a variable in the user's notebook kernel: for tables the columns with "
        "their types, missing values, memory and first rows; shape and first values of arrays; "
        "source of functions and classes; attributes of objects. Quick also for huge data, and "
        "safe: nothing is computed or copied. A path works where reading runs no code: "
        "df['price'], data['a'][0], model.params."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The variable, or a path into it."}
        },
        "required": ["name"],
    },
}


def list_variables(args: dict[str, Any], **context: Any) -> str:
    """Handler: one line for each."""
    live = live_of(context)
    if live is None:
        return tool_error(MISSING)
    pattern = arguments.text(args, "pattern", "").strip().lower() or "*"
    limit = arguments.number(args, "limit", DEFAULT_LIMIT, (1, MAX_LIMIT))
    found = {
        name: value
        for name, value in live.variables().items()
        if fnmatch.fnmatchcase(name.lower(), pattern)
    }
    code = {name: value for name, value in found.items() if _is_code(value)}
    data = [name for name in found if name not in code]
    shown = data[-limit:]
    answer: dict[str, Any] = {
        "variables": [
            {
                "name": name,
                "type": full_name(type(found[name])),
                "value": named(name, found[name], WORDS),
            }
            for name in shown
        ],
        "count": len(data),
    }
    if len(data) > len(shown):
        answer["not_shown"] = f"{len(data) - len(shown)} older ones; use pattern, or limit"
    answer |= _names_of_code(code)
    return tool_result(masked(answer, secrets_of(context)))


def _is_code(value: object) -> bool:
    return any(
        is_instance(value, kind)
        for kind in (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)
    )


def _names_of_code(code: Mapping[str, object]) -> dict[str, list[str]]:
    kinds = {"modules": types.ModuleType, "classes": type}
    sorted_in = {
        kind: [name for name, value in code.items() if is_instance(value, of)]
        for kind, of in kinds.items()
    }
    rest = [name for name in code if not any(name in names for names in sorted_in.values())]
    return {
        kind: names[:MAX_LIMIT] for kind, names in {"functions": rest, **sorted_in}.items() if names
    }


def inspect_variable(args: dict[str, Any], **context: Any) -> str:
    """Handler: all that is worth knowing of one value."""
    from tools.values.describe import details_of  # it knows all kinds of values

    live = live_of(context)
    if live is None:
        return tool_error(MISSING)
    name = arguments.text(args, "name").strip()
    try:
        value = _value(name, live)
    except Unreadable as problem:
        return tool_error(str(problem.args[0]))
    if _is_secret(name, value):
        return tool_result(name=name, type=full_name(type(value)), value=HIDDEN)
    return tool_result(masked({"name": name, **details_of(value)}, secrets_of(context)))


def _value(name: str, live: LiveKernel) -> Any:
    return value_at(name, live.namespace())


def _is_secret(path: str, value: object) -> bool:
    """Does a name on the way say that this text is a secret?"""
    if type(value) not in (str, bytes):
        return False
    names: list[str] = []
    for node in ast.walk(ast.parse(path, mode="eval")):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                names.append(name)
    return any(named(name, value) == HIDDEN for name in names if is_secret_name(name))


for schema, handler, emoji in (
    (LIST_SCHEMA, list_variables, "🧮"),
    (INSPECT_SCHEMA, inspect_variable, "🔬"),
):
    registry.register(
        name=str(schema["name"]),
        toolset="notebook",
        schema=schema,
        handler=handler,
        emoji=emoji,
        check_fn=is_there,
        # No file: what else a batch does to the variables cannot be told, so they run alone.
        effects="unknown",
        reads_only=lambda args, **_: True,
        timeout=SECONDS,
        works_in="kernel",
    )
