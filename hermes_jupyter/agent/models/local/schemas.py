"""Cut a tool's JSON schema down to what a grammar can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT = frozenset(
    {"type", "enum", "const", "required", "minLength", "maxLength", "minItems", "maxItems",
     "minimum", "maximum"}
)  # fmt: skip
DEEPEST = 12


def cleaned(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object, without references and words for people."""
    definitions = {**parameters.get("definitions", {}), **parameters.get("$defs", {})}
    schema = simplified(parameters, definitions, DEEPEST)
    return {"type": "object", "properties": {}, "additionalProperties": False, **schema}


def simplified(schema: Any, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth == 0:
        return {}
    if reference := schema.get("$ref"):
        # The schema ends up inside another one, where the path of a reference would lead nowhere.
        target = definitions.get(str(reference).rpartition("/")[2])
        return simplified(target, definitions, depth - 1)
    clean = {key: value for key, value in schema.items() if key in KEPT}
    if "items" in schema:
        clean["items"] = simplified(schema["items"], definitions, depth - 1)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        clean["anyOf"] = [simplified(choice, definitions, depth - 1) for choice in choices]
    if properties := schema.get("properties"):
        clean["properties"] = {
            name: simplified(value, definitions, depth - 1) for name, value in properties.items()
        }
        clean["additionalProperties"] = False
    return clean


def essential(
    schema: Mapping[str, Any],
    options: tuple[str, ...] | None,
    most: int,
    required: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Keep the required parameters and the named options; without names, the first few.

    Parameters
    ----------
    required
        What every call must have, instead of what the schema says.
    """
    required = required or tuple(schema.get("required", ()))
    required = tuple(name for name in required if name in schema["properties"])
    if options is None:
        others = [name for name in schema["properties"] if name not in required]
        options = tuple(others[: max(0, most - len(required))])
    properties = {
        name: value
        for name, value in schema["properties"].items()
        if name in required or name in options
    }
    return {**schema, "properties": properties, "required": list(required)}
