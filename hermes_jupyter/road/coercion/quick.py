"""The common case at no cost: plain arguments that are all right already.

It decides nothing: when in doubt it says no, and the real pass and validation follow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from hermes_jupyter.road.coercion.dialect import ANNOTATIONS
from hermes_jupyter.road.coercion.nodes import Node

OF_ROOT = ANNOTATIONS | {"type", "properties", "required"}
OF_PROPERTY = ANNOTATIONS | {"type"}
Check = tuple[frozenset[type], Callable[[Any], bool] | None]
UNKNOWN: Check = (frozenset(), None)
DIGITS = re.compile("[0-9]{1,18}")


class Quick:
    """For each plain property the Python types that are right, and a further test."""

    def __init__(
        self, checks: Mapping[str, Check], required: frozenset[str], integers: frozenset[str]
    ) -> None:
        self._checks = checks
        self._required = required
        self._integers = integers

    def fitted(self, args: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments, plain digits read as integers; None if more than that is to be done."""
        checks, fitted = self._checks, dict(args)
        for key, value in args.items():
            types, test = checks.get(key, UNKNOWN)
            if type(value) in types:
                if test is not None and not test(value):
                    return None
            elif key in self._integers and type(value) is str and DIGITS.fullmatch(value):
                fitted[key] = int(value)
            else:
                return None
        return fitted

    def holds_for(self, args: Mapping[str, Any]) -> bool:
        """Whether each argument is surely right as it is."""
        checks = self._checks
        for key, value in args.items():
            types, test = checks.get(key, UNKNOWN)
            if type(value) not in types or (test is not None and not test(value)):
                return False
        return True

    def approves(self, args: Mapping[str, Any]) -> bool:
        """Whether the arguments together are surely valid."""
        return self._required <= args.keys() and self.holds_for(args)


def quick_of(root: Node) -> Quick | None:
    """None if the schema says more than which arguments there are."""
    if len(root.parts) != 1 or not root.parts[0].keys() <= OF_ROOT or root.types != ("object",):
        return None
    checks = {key: check for key in root.declared if (check := _check(root.of_key(key)))}
    integers = frozenset(key for key in checks if root.of_key(key).types == ("integer",))
    return Quick(checks, root.required, integers)


def _check(node: Node) -> Check | None:
    if len(node.parts) != 1 or node.types is None:
        return None
    words = node.parts[0].keys() - OF_PROPERTY
    if not words:
        return node.plain, None
    if words == {"enum"} and all(type(choice) is str for choice in node.choices or ()):
        return (frozenset({str}), frozenset(node.choices or ()).__contains__)
    if words <= {"minimum", "maximum"} and node.plain <= {int, float}:
        return _ranged(node)
    if words == {"items"} and node.types == ("array",):
        return _list(node.of_index(0))
    return None


def _ranged(node: Node) -> Check | None:
    low, high = (node.parts[0].get(word, math.inf) for word in ("minimum", "maximum"))
    low = -math.inf if "minimum" not in node.parts[0] else low
    if any(isinstance(limit, bool) or not isinstance(limit, int | float) for limit in (low, high)):
        return None
    return node.plain, lambda value: low <= value <= high


def _list(items: Node) -> Check | None:
    check = _check(items)
    if check is None or check[1] is not None:
        return None
    types = check[0]
    return frozenset({list}), lambda value: all(type(each) in types for each in value)
