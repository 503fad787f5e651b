"""Arguments inside another object: ``{"name": "read_file", "arguments": {"path": "a.py"}}``.

A tool may have a parameter that is called ``arguments``, so an envelope shows itself only beside
the names of the tool's parameters, or in the markup in which a model prints whole calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

MAX_ENVELOPES = 3

_PAYLOADS = {
    "arguments", "args", "argument", "parameters", "params", "param", "input", "inputs", "kwargs",
    "tool_input", "tool_args", "tool_arguments", "tool_parameters", "function_args",
    "function_arguments", "action_input", "properties", "function", "function_call", "tool_call",
    "call",
}  # fmt: skip
_ABOUT = {
    "name", "tool", "tool_name", "function", "function_name", "type", "id", "call_id",
    "tool_call_id", "action", "index", "recipient_name",
}  # fmt: skip
_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
_CALL_MARKUP = re.compile(
    r"<[|/]?(?:tool_call|tool_calls|function_call|function_calls|tool_call_begin)\|?>"
    r"|\[TOOL_CALLS\]"
)


def opened(args: dict[str, Any], params: Collection[str] | None, tool: str = "") -> dict[str, Any]:
    """The arguments in an envelope, or ``args`` as they are.

    It is an envelope if nothing in it is a parameter of the tool and all inside it are.
    """
    if params is None:
        return args
    inside = args
    for _ in range(MAX_ENVELOPES):
        payload = _payload(inside, params, tool)
        if payload is None:
            return args
        if payload.keys() <= set(params):
            return payload
        inside = payload
    return args


def opened_markup(args: dict[str, Any], before: str) -> dict[str, Any]:
    """The arguments of a whole call that stands in a model's markup for calls."""
    whole = args.keys() in ({"name", "arguments"}, {"name", "parameters"})
    if not whole or not _CALL_MARKUP.search(before):
        return args
    inner = _object_of(args.get("arguments", args.get("parameters")))
    return args if inner is None else inner


def _payload(args: dict[str, Any], params: Collection[str], tool: str) -> dict[str, Any] | None:
    if any(key in params for key in args):
        return None
    inside = {
        key: value
        for key, value in args.items()
        if key in _PAYLOADS and not (key in _NAMES and isinstance(value, str))
    }
    if len(inside) != 1 or not args.keys() - inside.keys() <= _ABOUT:
        return None
    if tool and any(
        _last_part(args.get(name, tool)) != _last_part(tool)
        for name in _NAMES
        if name not in inside
    ):
        return None
    return _object_of(next(iter(inside.values())))


def _last_part(name: object) -> str:
    return re.sub(r"[\W_]", "", re.split(r"[.:/]", str(name))[-1]).casefold()


def _object_of(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value, strict=False) if value.strip() else {}
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
