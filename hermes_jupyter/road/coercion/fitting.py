"""The pass that fits a value to a schema. It changes no object; what is unchanged stays itself."""

from __future__ import annotations

import json
from typing import Any

from hermes_jupyter.road.coercion.choices import chosen, same
from hermes_jupyter.road.coercion.nodes import KIND, Node, Union
from hermes_jupyter.road.coercion.readings import (
    NULLS,
    boolean_of,
    container_of,
    integer_of,
    number_of,
)

MAX_DEPTH = 60
"""Deeper values are left as they are."""
MAX_ROUNDS = 4
MAX_STEPS = 500_000
"""Values looked at in one pass; it takes a second or two."""
MANY = 100_000
"""Of so many values jsonschema would take seconds, and gigabytes to say what is wrong."""
MISSING = object()


class TooLargeError(Exception):
    """There are more values than can be looked at while somebody waits."""


class Fitting:
    """One pass over the arguments of a call.

    What was found for a union is remembered: with recursive schemas the same part of a value
    would else be tried again and again, twice as often with every level.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._steps = 0
        self._united: dict[tuple[int, int, bool], tuple[Any, Any]] = {}
        self._accepted: dict[tuple[int, int], tuple[Any, bool]] = {}
        self._parsed: dict[int, tuple[str, Any]] = {}

    def fit(self, node: Node, value: Any, *, wrap: bool = True) -> Any:
        """The value as the node wants it, as far as that loses nothing.

        ``wrap`` lets a single value become an array of one, which unions try last.

        Raises
        ------
        TooLargeError
            If there is too much to look at.
        """
        if type(value) in node.plain or self._depth > MAX_DEPTH:
            return value
        self._step()
        self._depth += 1
        try:
            for _ in range(MAX_ROUNDS):  # text that became a container is looked at once more
                before, value = value, self._fit_once(node, value, wrap)
                if value is before or (type(value) is type(before) and not node.unions):
                    break
        finally:
            self._depth -= 1
        return value

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooLargeError

    def _fit_once(self, node: Node, value: Any, wrap: bool) -> Any:
        value = self._own(node, value, wrap)
        if type(value) is dict and node.of_objects:
            value = self._fit_values(node, value)
        elif type(value) is list and node.of_arrays:
            value = self._fit_elements(node, value)
        for union in node.unions:
            value = self._fit_union(union, value, wrap)
        for condition, then, otherwise in node.conditions:
            value = self.fit(then if self.accepts(condition, value) else otherwise, value)
        return value

    def _own(self, node: Node, value: Any, wrap: bool) -> Any:
        """What the node itself says of the type of a value."""
        if is_lacking(node, value):
            return None if "null" in node.kinds else value
        if node.choices is not None:
            kinds = node.own_kinds
            return chosen(value, [each for each in node.choices if KIND.get(type(each)) in kinds])
        if node.types is None or value is None:
            return value
        return self._converted(node, value, wrap)

    def _converted(self, node: Node, value: Any, wrap: bool) -> Any:
        """The value in the first of the node's types that can hold it."""
        is_text, fits = type(value) is str, KIND.get(type(value)) in node.own_kinds
        if fits and not is_text:
            return value
        for kind in node.types or ():
            if is_text and kind == "string":
                return value
            new = self._as_kind(node, kind, value)
            if new is not MISSING and (not fits or self._is_faithful(node, value, new)):
                return new
        if wrap and not fits and "array" in node.own_kinds:
            return self._wrapped(node, value)
        return value

    def _as_kind(self, node: Node, kind: str, value: Any) -> Any:
        new: Any = None
        match kind, value:
            case "integer", float() if value.is_integer():
                new = int(value)
            case "integer", str():
                new = integer_of(value)
            case "number", str():
                new = number_of(value)
            case "boolean", str():
                new = boolean_of(value)
            case "boolean", 0 | 1 if type(value) is int:
                new = bool(value)
            case "string", int() if type(value) is int:
                new = _decimal(value)
            case "null", "null":  # where text would do as well
                return None
            case (("array" | "object"), str()):
                new = self._parse(value)
                new = new if KIND.get(type(new)) == kind else None
        return MISSING if new is None else new

    def _is_faithful(self, node: Node, text: str, new: Any) -> bool:
        """Whether a text that could stay one may become ``new``."""
        if isinstance(new, dict | list):
            return self.accepts(node, self.fit(node, new))
        return json.dumps(new) == text

    def _wrapped(self, node: Node, value: Any) -> Any:
        items = node.of_index(0)
        if type(value) is str and not items.parts and type(self._parse(value)) is dict:
            value = self._parse(value)
        element = self.fit(items, value)
        return [element] if self.accepts(items, element) else value

    def _fit_values(self, node: Node, value: dict[str, Any]) -> dict[str, Any]:
        new: dict[str, Any] = {}
        changed = False
        for key, each in value.items():
            expected = node.of_key(key)
            fitted = self.fit(expected, each)
            if key not in node.keep and expected.kinds and is_lacking(expected, fitted):
                changed = True
                continue
            changed = changed or fitted is not each
            new[key] = fitted
        return new if changed else value

    def _fit_elements(self, node: Node, value: list[Any]) -> list[Any]:
        first, rest = node.first_elements, node.of_elements
        new = [self.fit(*pair) for pair in zip(first, value, strict=False)]
        plain = rest.plain
        new += [
            each if type(each) in plain else self.fit(rest, each) for each in value[len(first) :]
        ]
        same_objects = all(one is other for one, other in zip(new, value, strict=True))
        return value if same_objects else new

    def _fit_union(self, union: Union, value: Any, wrap: bool) -> Any:
        key = (id(union), id(value), wrap)
        if key not in self._united:
            self._united[key] = (value, self._unite(union, value, wrap))
        return self._united[key][1]

    def _unite(self, union: Union, value: Any, wrap: bool) -> Any:
        is_text = type(value) is str
        if type(value) is dict and (meant := self._meant(union, value)) is not None:
            return self.fit(meant, value, wrap=False)
        accepting = [member for member in union.members if self.accepts(member, value)]
        if accepting and not is_text:
            return self.fit(accepting[0], value, wrap=False)
        for member in union.members:
            new = self.fit(member, value, wrap=False)
            if member in accepting:
                return new
            if new is value or (accepting and not _may_replace(value, new)):
                continue
            if self.accepts(member, new):
                return new
        if accepting:
            return value
        return self._last_resort(union, value, wrap)

    def _last_resort(self, union: Union, value: Any, wrap: bool) -> Any:
        """Wrap the value; else mend what can be mended in the one member that it is meant for."""
        for member in union.members if wrap else ():
            new = self.fit(member, value, wrap=True)
            if new is not value and self.accepts(member, new):
                return new
        parsed = self._parse(value) if type(value) is str else value
        if type(parsed) is dict and (meant := self._meant(union, parsed)) is not None:
            return self.fit(meant, parsed, wrap=False)
        able = [member for member in union.members if KIND.get(type(parsed)) in member.kinds]
        if len(able) == 1 and isinstance(parsed, dict | list):
            return self.fit(able[0], parsed, wrap=False)
        return value

    def _meant(self, union: Union, value: dict[str, Any]) -> Node | None:
        """The member whose tag the object carries."""
        if (named := union.named(value)) is not None:
            return named
        left = list(union.objects)
        for key in union.tags:
            if key not in value:
                continue
            exact = [each for each in left if self.accepts(each.of_key(key), value[key])]
            left = exact or [each for each in left if self._tag_fits(each, key, value)] or left
        return left[0] if len(left) == 1 < len(union.objects) else None

    def _tag_fits(self, member: Node, key: str, value: dict[str, Any]) -> bool:
        expected = member.of_key(key)
        return self.accepts(expected, self.fit(expected, value[key]))

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether types, members, keys and choices are right; ranges and patterns play no part."""
        kind = type(value)
        if kind in node.plain:
            return True
        self._step()
        if KIND.get(kind) not in node.own_kinds:
            return False
        if node.choices is not None and not any(same(value, each) for each in node.choices):
            return False
        if kind is dict and not self._accepts_values(node, value):
            return False
        if kind is list and node.of_arrays and not self._accepts_elements(node, value):
            return False
        return all(self._accepts_union(union, value) for union in node.unions)

    def _accepts_values(self, node: Node, value: dict[str, Any]) -> bool:
        if not node.required <= value.keys():
            return False
        if not node.of_objects:
            return True
        return all(self.accepts(node.of_key(key), each) for key, each in value.items())

    def _accepts_elements(self, node: Node, value: list[Any]) -> bool:
        first, rest = node.first_elements, node.of_elements
        plain = rest.plain
        return all(map(self.accepts, first, value)) and all(
            type(each) in plain or self.accepts(rest, each) for each in value[len(first) :]
        )

    def _accepts_union(self, union: Union, value: Any) -> bool:
        key = (id(union), id(value))
        if key not in self._accepted:
            answer = any(self.accepts(member, value) for member in union.members)
            self._accepted[key] = (value, answer)
        return self._accepted[key][1]

    def _parse(self, text: str) -> Any:
        if id(text) not in self._parsed:
            self._parsed[id(text)] = (text, container_of(text))
        return self._parsed[id(text)][1]


def is_lacking(node: Node, value: Any) -> bool:
    """Whether the value says "nothing" where that is no value of its own."""
    if value is None:
        return "null" not in node.kinds
    return type(value) is str and value in NULLS and "string" not in node.kinds


def are_many(args: dict[str, Any]) -> bool:
    """Whether there are too many values for a full check."""
    number, todo = 0, list[Any]([args])
    while todo and number <= MANY:
        value = todo.pop()
        inner = list(value.values()) if isinstance(value, dict) else value
        number += len(inner)
        todo += [each for each in inner[:MANY] if isinstance(each, dict | list)]
    return number > MANY


def _may_replace(text: str, new: Any) -> bool:
    """Whether a text that a member accepts as text may become a value of another member."""
    if isinstance(new, dict | list):
        return True
    return not isinstance(new, str) and json.dumps(new) == text


def _decimal(value: int) -> str | None:
    try:
        return str(value)
    except ValueError:  # Python writes no integer of more than some thousand digits
        return None
