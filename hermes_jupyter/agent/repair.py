"""The argument object that a model meant, where its text can be read in one way only.

What is valid JSON is final. What was cut, is one of several different objects, or would have to
be guessed or evaluated, is refused with the place, so that the model can send it again.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection
from typing import Any

from hermes_jupyter.agent.envelopes import opened
from hermes_jupyter.agent.prose import objects_in
from hermes_jupyter.agent.relaxed_json import MAX_DEPTH
from hermes_jupyter.agent.relaxed_values import QUOTES, Unrepairable, string_at

MAX_CHARS = 10_000_000
MAX_LAYERS = 6

_INVISIBLE = "".join(map(chr, (*range(0x21), 0x7F, 0xA0, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)))
_NOTHING = frozenset(("", "null", "none", "undefined"))
_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>\s*+", re.DOTALL)
_ENTITY_START = re.compile(r"[{\[]\s*+&(?:quot|apos|#34|#39|#x22|#x27);", re.IGNORECASE)
_ESCAPED_START = re.compile(r"[{\[](?:\s|\\+[nrt])*\\+\"")


def repaired(text: str, params: Collection[str] | None = None, tool: str = "") -> dict[str, Any]:
    """The object that ``text`` stands for.

    Parameters
    ----------
    params
        Names of the tool's parameters, if known. They tell an object of arguments from an
        envelope (``{"arguments": {...}}``) around it.
    tool
        The tool's name, if known: an envelope that names another tool is left alone.

    Raises
    ------
    Unrepairable
        If there is no reading, or more than one.
    """
    if len(text) > MAX_CHARS:
        raise Unrepairable(f"too long: {len(text)} characters, at most {MAX_CHARS}")
    return opened(_arguments(text, params or ()), params, tool)


def is_exact(text: str) -> bool:
    """Whether this is a JSON object as the standard has it."""
    try:
        return isinstance(json.loads(text, parse_constant=_no_constant), dict)
    except (ValueError, RecursionError):
        return False


def _arguments(text: str, params: Collection[str]) -> dict[str, Any]:
    for _ in range(MAX_LAYERS):
        bare = text.strip(_INVISIBLE)
        if bare.casefold() in _NOTHING:
            return {}
        try:
            value = _exact(bare)
        except ValueError:
            layer = _without_layer(bare)
            if layer is None:
                return _the_one(objects_in(text, params))
            text = layer
        else:
            if not isinstance(value, str):
                return _object_of(value)
            text = value
    raise Unrepairable("encoded too many times")


def _exact(text: str) -> Any:
    """The value of JSON text, in which raw control characters may stand in strings."""
    try:
        value = json.loads(text, strict=False, parse_constant=_no_constant)
    except RecursionError:
        raise Unrepairable("nested too deeply") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deep(value):
        raise Unrepairable("nested too deeply")
    return value


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return any(isinstance(each, dict | list) for each in level)


def _object_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if value == [] and isinstance(value, list):
        return {}
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return _the_one(value)
    raise Unrepairable(f"a JSON object is needed, not {type(value).__name__}")


def _the_one(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """The object that was written once or repeated."""
    if len({json.dumps(each, sort_keys=True) for each in objects}) > 1:
        raise Unrepairable(f"{len(objects)} different objects; one call takes one")
    return objects[0]


def _without_layer(text: str) -> str | None:
    """The text in a code fence or in quotes, behind thoughts, or with its quotes escaped."""
    thoughts = _THOUGHTS.match(text)
    if thoughts:
        if thoughts.end() == len(text):
            raise Unrepairable("there are only thoughts")
        return text[thoughts.end() :]
    if _ENTITY_START.match(text):
        return html.unescape(text)
    if text.startswith(("```", "~~~")):
        return _without_fence(text)
    if _ESCAPED_START.match(text):
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            return None
    if text[0] in QUOTES - {'"'} and len(text) > 1:
        return _unquoted(text)
    return None


def _without_fence(text: str) -> str | None:
    mark = text[:3]
    first, _, rest = text.partition("\n")
    inner = rest.rstrip(_INVISIBLE)
    if not inner.endswith(mark) or set(first[3:].strip()) & set("{[\"'`"):
        return None
    inner = inner.rstrip(mark[0])
    return None if f"\n{mark}" in inner else inner


def _unquoted(text: str) -> str | None:
    """What stands in quotes, if reading its backslashes once or not at all says the same."""
    try:
        value, end = string_at(text, 0)
    except Unrepairable:
        return None
    if end != len(text) or text == "``":  # which began a code fence
        return None
    raw = text[1:-1]
    if "\\" in raw and _reading(raw) not in (None, _reading(value)):
        raise Unrepairable("the backslashes can be read in two ways")
    return value


def _reading(text: str) -> str | None:
    try:
        return json.dumps(json.loads(text, strict=False), sort_keys=True)
    except (ValueError, RecursionError):
        return None
