"""What is worked out once for each schema, and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from hermes_jupyter.road.coercion.dialect import Links, has_references, is_exact, modern
from hermes_jupyter.road.coercion.nodes import Catalog
from hermes_jupyter.road.coercion.quick import Quick, quick_of

if TYPE_CHECKING:
    from hermes_jupyter.road.coercion.validation import Validation

MAX_PLANS = 1_000
UNUSABLE = (
    re.error,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""What is raised for a schema that is none: an unknown type, a broken pattern or link."""


class ExhaustedError(Exception):
    """The check was given up: it took references out of all proportion to the value."""


class Plan:
    """A schema, made ready."""

    def __init__(self, parameters: Any) -> None:
        self._broken: Exception | None = None
        try:
            self.schema, links = modern(parameters), Links()
            if has_references(self.schema):
                from hermes_jupyter.road.coercion.links import link  # few schemas need its import

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
        # Only for what is wrong or unusual: where the checks of all formats are installed, as
        # beside Jupyter, the import of jsonschema takes a second.
        from hermes_jupyter.road.coercion.validation import Validation

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
