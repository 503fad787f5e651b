"""What is worked out once for each schema, and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from jsonschema.exceptions import SchemaError, UnknownType
from referencing.exceptions import Unresolvable

from hermes_jupyter.road.coercion.dialect import Links, is_exact, link, modern
from hermes_jupyter.road.coercion.nodes import Catalog
from hermes_jupyter.road.coercion.quick import Quick, quick_of
from hermes_jupyter.road.coercion.validation import Validation

MAX_PLANS = 1_000
UNUSABLE = (
    SchemaError, UnknownType, Unresolvable, re.error, AttributeError, TypeError, ValueError,
    LookupError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What jsonschema raises for a schema that is none: an unknown type, a broken pattern or link."""


class Plan:
    """A schema, made ready."""

    def __init__(self, parameters: Any) -> None:
        self._broken: Exception | None = None
        try:
            self.schema, links = modern(parameters), Links()
            if isinstance(self.schema, dict):
                links = link(self.schema)
        except UNUSABLE as error:
            self.schema, links, self._broken = {}, Links(), error
        self._has_references = bool(links.targets)
        self.root = Catalog(links).node([self.schema])
        self.exact = self._broken is None and is_exact(self.schema, links)
        self.quick: Quick | None = None if self._broken else quick_of(self.root)

    @cached_property
    def validation(self) -> Validation:
        """The check by jsonschema; raises what is wrong with the schema itself."""
        if self._broken is not None:
            raise self._broken
        return Validation(self.schema, has_references=self._has_references)


class _This:
    """A schema object as a key: the very object, which the key keeps alive."""

    __slots__ = ("schema",)

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and self.schema is other.schema


def plan_of(parameters: Mapping[str, Any]) -> Plan:
    """The plan of a schema, by the object itself: writing it out would cost more than its use."""
    return _plan_of_object(_This(parameters))


@lru_cache(maxsize=MAX_PLANS)
def _plan_of_object(key: _This) -> Plan:
    try:
        return _plan_of_text(json.dumps(key.schema))
    except (TypeError, ValueError, RecursionError):
        return Plan(key.schema)


@lru_cache(maxsize=MAX_PLANS)
def _plan_of_text(text: str) -> Plan:
    """Equal schemas share a plan. Order counts: that of the members of a union means something."""
    return Plan(json.loads(text))
