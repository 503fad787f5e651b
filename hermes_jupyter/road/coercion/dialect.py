"""Schemas of all drafts in one form: JSON Schema 2020-12 whose references all lead somewhere.

Tools of MCP servers come with OpenAPI's ``nullable``, types in capitals, tuples of draft 7, links
to nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

IN_VALUE = (
    "items", "additionalItems", "additionalProperties", "unevaluatedItems", "contains",
    "unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "components",
)  # fmt: skip
IN_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
IN_MAP = (
    "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "schemas",
)  # fmt: skip
NEVER: dict[str, Any] = {"enum": []}
"""What ``false`` says."""
REFERENCES = ("$ref", "$dynamicRef")
KINDS = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
ANNOTATIONS = frozenset({
    "title", "description", "default", "example", "examples", "format", "deprecated", "readOnly",
    "writeOnly", "$comment", "$defs", "definitions", "discriminator",
})  # fmt: skip
EXACT = ANNOTATIONS | {
    "type", "properties", "required", "items", "prefixItems", "additionalProperties", "enum",
    "const", "anyOf", "allOf", "$ref",
}  # fmt: skip
"""All that a schema may say so that what ``Fitting.accepts`` is surely valid."""


@dataclass(frozen=True)
class Links:
    """Where the references of a schema lead: by ``id`` of the schema that holds one."""

    targets: dict[int, Any] = field(default_factory=dict)


def modern(schema: Any) -> Any:
    """A copy in the words of draft 2020-12."""
    if not isinstance(schema, dict):
        return schema
    new = {key: _modern_value(key, value) for key, value in schema.items() if key != "$schema"}
    kind = new.get("type")
    if isinstance(kind, str) and kind.lower() in KINDS:  # Gemini's are in capitals
        new["type"] = kind.lower()
    if isinstance(new.get("items"), list):  # up to draft 2019-09
        new["prefixItems"] = new.pop("items")
        if "additionalItems" in new:
            new["items"] = new.pop("additionalItems")
    if isinstance(new.get("required"), bool):  # draft 3, said of the property itself
        del new["required"]
    for limit, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(new.get(strict), bool) and new.pop(strict) and limit in new:  # draft 4
            new[strict] = new.pop(limit)
    return _with_null(new) if new.pop("nullable", False) is True else new


def _modern_value(key: str, value: Any) -> Any:
    if isinstance(value, list) and (key in IN_LIST or key == "items"):
        return [_modern_member(each) for each in value]
    if isinstance(value, dict) and key in IN_MAP:
        return {name: _modern_member(each) for name, each in value.items()}
    return modern(value) if key in IN_VALUE else value


def _modern_member(schema: Any) -> Any:
    # jsonschema reports an error of the schema ``false`` without its path
    return dict(NEVER) if schema is False else modern(schema)


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's ``nullable`` in the words of JSON Schema."""
    kinds = schema.get("type")
    if kinds is None:
        return {"anyOf": [schema, {"type": "null"}]}
    listed = kinds if isinstance(kinds, list) else [kinds]
    new = {**schema, "type": listed if "null" in listed else [*listed, "null"]}
    if isinstance(new.get("enum"), list) and None not in new["enum"]:
        new["enum"] = [*new["enum"], None]
    return new


def has_references(schema: Any) -> bool:
    todo, seen = [schema], set()
    while todo:
        current = todo.pop()
        if not isinstance(current, dict) or id(current) in seen:
            continue
        if any(word in current for word in REFERENCES):
            return True
        seen.add(id(current))
        todo += subschemas(current)
    return False


def subschemas(schema: Mapping[str, Any]) -> Iterator[Any]:
    """All that stands where a schema should stand."""
    yield from (schema[word] for word in IN_VALUE if word in schema)
    for word in IN_LIST:
        members = schema.get(word)
        yield from members if isinstance(members, list) else ()
    for word in IN_MAP:
        named = schema.get(word)
        yield from named.values() if isinstance(named, dict) else ()


def kinds_of(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The types that a schema names, in its order; None if it names none that exist."""
    named = schema.get("type")
    listed = named if isinstance(named, list) else [named]
    known = [kind for kind in listed if isinstance(kind, str) and kind in KINDS]
    return tuple(dict.fromkeys(known)) if known and len(known) == len(listed) else None


def is_exact(schema: Any, links: Links) -> bool:
    """Whether the whole schema is of the plain words whose meaning needs no validator."""
    todo, seen = [schema], set()
    while todo:
        current = todo.pop()
        if isinstance(current, bool):
            continue
        if not isinstance(current, dict) or not _is_plain(current):
            return False
        if id(current) not in seen:
            seen.add(id(current))
            todo += subschemas(current)
            todo += [links.targets[id(current)]] if id(current) in links.targets else []
    return True


def _is_plain(schema: Mapping[str, Any]) -> bool:
    if not schema.keys() <= EXACT:
        return False
    required = schema.get("required", [])
    lists = [schema[word] for word in (*IN_LIST, "enum") if word in schema]
    maps = [schema[word] for word in IN_MAP if word in schema]
    return (
        ("type" not in schema or kinds_of(schema) is not None)
        and isinstance(required, list)
        and all(isinstance(key, str) for key in required)
        and all(isinstance(members, list) for members in lists)
        and all(isinstance(named, dict) for named in maps)
    )
