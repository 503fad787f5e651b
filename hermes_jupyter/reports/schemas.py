"""A tool's schema for people: what it does, and what each parameter takes."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_jupyter.views.sanitize import clean, one_line
from tools.entry import ToolEntry

WIDTH = 88
MAX_DEPTH = 3
MAX_CHOICES = 12
_PLURALS = {"string": "strings", "integer": "integers", "number": "numbers",
            "boolean": "booleans", "object": "objects"}  # fmt: skip


def schema_text(entry: ToolEntry) -> str:
    """Description, parameters and the JSON that a model is told."""
    told = {"name": entry.name, **entry.definition()["function"]}
    parameters = told["parameters"]
    blocks = [
        f"{clean(entry.emoji)} {told['name']}  (toolset {one_line(entry.toolset, 60)})",
        _wrapped(str(told.get("description") or ""), ""),
        _parameters(parameters),
        "As JSON:\n" + clean(json.dumps(told, indent=2, ensure_ascii=False)),
    ]
    return "\n\n".join(block for block in blocks if block)


def type_of(schema: Any, depth: int = MAX_DEPTH) -> str:
    """What a value may be, in a few words: ``string``, ``array of strings``, ``"a" or "b"``."""
    if not isinstance(schema, Mapping) or depth == 0:
        return "anything"
    if "enum" in schema:
        return _choices(schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2] or "anything"
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " or ".join(dict.fromkeys(type_of(each, depth - 1) for each in schema[key]))
    kinds = schema.get("type", "anything")
    names = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_named(str(name), schema, depth) for name in names)


def _named(name: str, schema: Mapping[str, Any], depth: int) -> str:
    items = schema.get("items")
    if name != "array" or not isinstance(items, Mapping):
        return name
    inner = type_of(items, depth - 1)
    return f"array of {_PLURALS.get(inner, inner)}"


def _choices(values: Any) -> str:
    shown = [json.dumps(value, ensure_ascii=False) for value in list(values)[:MAX_CHOICES]]
    return " or ".join(shown) + (" or …" if len(values) > MAX_CHOICES else "")


def _parameters(parameters: Mapping[str, Any]) -> str:
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return "It takes no arguments."
    required = parameters.get("required") or ()
    width = min(20, max(len(name) for name in properties))
    return "\n".join(
        line
        for name, schema in properties.items()
        for line in _parameter(name, schema, width, is_required=name in required)
    )


def _parameter(name: str, schema: Any, width: int, *, is_required: bool) -> Iterator[str]:
    about = schema if isinstance(schema, Mapping) else {}
    facts = [one_line(type_of(schema), 200)]
    facts += ["required"] if is_required else []
    if "default" in about:
        facts.append(f"default {one_line(json.dumps(about['default'], ensure_ascii=False), 80)}")
    yield f"  {one_line(name, 60):<{width}}  {', '.join(facts)}"
    if about.get("description"):
        yield _wrapped(str(about["description"]), " " * (width + 4))


def _wrapped(text: str, indent: str) -> str:
    lines = [
        textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=indent,
                      break_long_words=False, break_on_hyphens=False)
        for line in clean(text).splitlines()
    ]  # fmt: skip
    return "\n".join(lines)
