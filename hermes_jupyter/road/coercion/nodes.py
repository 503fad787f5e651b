"""What a schema expects of one value: all that its references and ``allOf`` say, taken together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from hermes_jupyter.road.coercion.choices import same
from hermes_jupyter.road.coercion.dialect import KINDS, NEVER, Links, is_exact, kinds_of

KIND = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string",
    list: "array", dict: "object",
}  # fmt: skip
OF_OBJECTS = ("properties", "patternProperties", "additionalProperties")
OF_ARRAYS = ("prefixItems", "items")
NO_KEYS: frozenset[str] = frozenset()


class Catalog:
    """The nodes of a schema, made when a value first leads to them (schemas may be recursive)."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self._nodes: dict[tuple[tuple[int, ...], frozenset[str]], Node] = {}

    def node(self, schemas: Iterable[Any], keep: frozenset[str] = NO_KEYS) -> Node:
        """The node for a value that must fit all ``schemas``; ``keep`` names keys to leave in."""
        listed = tuple(schemas)
        key = (tuple(map(id, listed)), keep)
        if key not in self._nodes:
            self._nodes[key] = Node(self, listed, keep)
        return self._nodes[key]

    def parts(self, schemas: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
        """The schemas with those that they include for the same value, each once."""
        todo, seen = list(reversed(list(schemas))), set()
        while todo:
            schema = todo.pop()
            if schema is False:
                yield NEVER
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            included = schema.get("allOf")
            todo += reversed(included) if isinstance(included, list) else ()
            if id(schema) in self.links.targets:
                todo.append(self.links.targets[id(schema)])


class Node:
    """What is expected of one value."""

    def __init__(self, catalog: Catalog, schemas: tuple[Any, ...], keep: frozenset[str]) -> None:
        self.catalog = catalog
        self.schemas = schemas  # keeps them alive: they are known by their ids
        self.parts = tuple(catalog.parts(schemas))
        self.types = _common_types(self.parts)
        self.own_kinds = KINDS if self.types is None else _with_integers(self.types)
        self.choices = _common_choices(self.parts)
        self.required = frozenset(key for part in self.parts for key in _texts(part, "required"))
        self.keep = keep | self.required
        self.of_objects = any(word in part for part in self.parts for word in OF_OBJECTS)
        self.of_arrays = any(word in part for part in self.parts for word in OF_ARRAYS)
        self._keys: dict[str, Node] = {}

    @cached_property
    def unions(self) -> tuple[Union, ...]:
        return tuple(
            Union(self, part, part[word])
            for part in self.parts
            for word in ("anyOf", "oneOf")
            if isinstance(part.get(word), list) and part[word]
        )

    @cached_property
    def conditions(self) -> tuple[tuple[Node, Node, Node], ...]:
        """``if``, ``then`` and ``else``; a key that is there is a condition as well."""
        dependents = (
            (self.catalog.node([{"required": [key]}]), schema)
            for part in self.parts
            for key, schema in _mapping(part, "dependentSchemas").items()
        )
        return tuple(
            (condition, self.catalog.node([schema], self.keep), self.catalog.node([]))
            for condition, schema in dependents
        ) + tuple(
            (
                self.catalog.node([part["if"]]),
                self.catalog.node([part.get("then", True)], self.keep),
                self.catalog.node([part.get("else", True)], self.keep),
            )
            for part in self.parts
            if "if" in part and is_exact(part["if"], self.catalog.links)
        )

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The types that a value may have, as far as can be told."""
        kinds = self.own_kinds
        if self.choices is not None:
            kinds &= _with_integers(KIND.get(type(choice), "") for choice in self.choices)
        for union in self.unions:
            kinds &= frozenset().union(*(member.kinds for member in union.members))
        return kinds

    @cached_property
    def plain(self) -> frozenset[type]:
        """Python types of values that are right as they are, whatever their content."""
        if self.choices is not None or self.unions or self.conditions:
            return frozenset()
        right = {kind for kind, name in KIND.items() if name in self.own_kinds}
        if self.types is not None and self.types[:1] != ("string",):
            right.discard(str)  # another type may be declared before it
        if self.of_objects or self.required:
            right.discard(dict)
        if self.of_arrays:
            right.discard(list)
        return frozenset(right)

    @cached_property
    def declared(self) -> frozenset[str]:
        """Keys that ``properties`` name."""
        return frozenset(key for part in self.parts for key in _mapping(part, "properties"))

    def of_key(self, key: str) -> Node:
        """What is expected of the value of a key."""
        node = self._keys.get(key)
        if node is None and key not in self.declared and not self._has_patterns:
            return self.of_other_keys
        if node is None:
            node = self.catalog.node(_each(self.parts, _schemas_of_key, key))
            if key in self.declared:
                self._keys[key] = node
        return node

    @cached_property
    def of_other_keys(self) -> Node:
        """What ``additionalProperties`` expects."""
        return self.catalog.node(
            part["additionalProperties"] for part in self.parts if "additionalProperties" in part
        )

    def of_index(self, index: int) -> Node:
        """What is expected of an element of an array."""
        first = self.first_elements
        return first[index] if index < len(first) else self.of_elements

    @cached_property
    def first_elements(self) -> tuple[Node, ...]:
        """What is expected of the elements that have a place of their own."""
        tuples = [part.get("prefixItems") for part in self.parts]
        lengths = [len(each) for each in tuples if isinstance(each, list)]
        return tuple(
            self.catalog.node(_each(self.parts, _schemas_of_index, index))
            for index in range(max(lengths, default=0))
        )

    @cached_property
    def of_elements(self) -> Node:
        """What is expected of all other elements."""
        return self.catalog.node(part["items"] for part in self.parts if "items" in part)

    @cached_property
    def _has_patterns(self) -> bool:
        return any("patternProperties" in part for part in self.parts)


class Union:
    """``anyOf`` or ``oneOf``."""

    def __init__(self, owner: Node, part: Mapping[str, Any], schemas: list[Any]) -> None:
        self.members = tuple(owner.catalog.node([schema], owner.keep) for schema in schemas)
        self.discriminator = part.get("discriminator")
        self.names = tuple(
            str(schema.get("$ref", "")) if isinstance(schema, dict) else "" for schema in schemas
        )

    @cached_property
    def objects(self) -> tuple[Node, ...]:
        """Members that an object can belong to."""
        return tuple(member for member in self.members if "object" in member.kinds)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Keys whose value tells which of the objects is meant."""
        first, *others = self.objects or (None,)
        if first is None or not others:
            return ()
        shared = first.declared.intersection(*(member.declared for member in others))
        return tuple(
            sorted(
                key
                for key in shared
                if all(member.of_key(key).choices is not None for member in self.objects)
            )
        )

    def named(self, value: Mapping[str, Any]) -> Node | None:
        """The member that OpenAPI's ``discriminator`` points to."""
        about = self.discriminator
        if not isinstance(about, dict):
            return None
        tag = value.get(str(about.get("propertyName")))
        if not isinstance(tag, str):
            return None
        target = str(_mapping(about, "mapping").get(tag, tag)).rpartition("/")[2]
        found = [
            member
            for member, name in zip(self.members, self.names, strict=True)
            if name and name.rpartition("/")[2] == target
        ]
        return found[0] if len(found) == 1 else None


def _each(
    parts: Iterable[Mapping[str, Any]], find: Callable[..., Iterator[Any]], place: str | int
) -> list[Any]:
    return [schema for part in parts for schema in find(part, place)]


def _schemas_of_key(part: Mapping[str, Any], key: str) -> Iterator[Any]:
    properties, others = _mapping(part, "properties"), _mapping(part, "patternProperties")
    patterns = [schema for pattern, schema in others.items() if _matches(pattern, key)]
    if key in properties:
        yield properties[key]
    yield from patterns
    if key not in properties and not patterns and "additionalProperties" in part:
        yield part["additionalProperties"]


def _schemas_of_index(part: Mapping[str, Any], index: int) -> Iterator[Any]:
    first = part.get("prefixItems")
    if isinstance(first, list) and index < len(first):
        yield first[index]
    elif "items" in part:
        yield part["items"]


def _matches(pattern: Any, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except (re.error, TypeError, OverflowError):
        return False


def _mapping(part: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    value = part.get(word)
    return value if isinstance(value, dict) else {}


def _texts(part: Mapping[str, Any], word: str) -> Iterator[str]:
    value = part.get(word)
    yield from (each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _with_integers(kinds: Iterable[str]) -> frozenset[str]:
    named = frozenset(kinds)
    return named | {"integer"} if "number" in named else named


def _common_types(parts: Iterable[Mapping[str, Any]]) -> tuple[str, ...] | None:
    common: tuple[str, ...] | None = None
    for part in parts:
        if (named := kinds_of(part)) is not None:
            common = named if common is None else tuple(_narrowed(common, named))
    return common


def _narrowed(kinds: tuple[str, ...], by: tuple[str, ...]) -> Iterator[str]:
    for kind in kinds:
        if kind in by or (kind == "integer" and "number" in by):
            yield kind
        elif kind == "number" and "integer" in by:
            yield "integer"


def _common_choices(parts: Iterable[Mapping[str, Any]]) -> tuple[Any, ...] | None:
    common: tuple[Any, ...] | None = None
    for part in parts:
        lists = [part["enum"]] if isinstance(part.get("enum"), list) else []
        for named in [*lists, *([[part["const"]]] if "const" in part else [])]:
            common = tuple(
                member
                for member in named
                if common is None or any(same(member, other) for other in common)
            )
    return common
