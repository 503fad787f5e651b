"""jsonschema, held back: no network, and no hour over a recursive schema."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType
from jsonschema.validators import extend
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from hermes_jupyter.road.coercion.dialect import REFERENCES
from hermes_jupyter.road.coercion.plans import ExhaustedError

FOLLOWED = 1_000
FOLLOWED_FOR_EACH_VALUE = 50


class _Patience(threading.local):
    """References that a check in this thread may still follow."""

    left = 0


class Validation:
    """The check of one schema.

    A recursive union is tried again for each of its members at every level, which doubles the
    work with each. All recursion goes through references, so these are counted.
    """

    def __init__(self, schema: Any, *, has_references: bool) -> None:
        self._patience = _Patience() if has_references else None
        kind = extend(Draft202012Validator, self._counted()) if self._patience else None
        # An empty registry: a reference never leads to a server.
        self._validator = (kind or Draft202012Validator)(schema, registry=EMPTY_REGISTRY)

    def errors(self, instance: Any) -> Iterator[Any]:
        """What jsonschema finds; to be read in this thread, before the next check.

        Raises
        ------
        ValueError
            If the schema itself is wrong; other exceptions, too, as `plans.UNUSABLE` lists them.
        ExhaustedError
        """
        if self._patience is not None:
            self._patience.left = FOLLOWED + FOLLOWED_FOR_EACH_VALUE * _size(instance)
        try:
            yield from self._validator.iter_errors(instance)
        except (SchemaError, UnknownType, Unresolvable) as error:
            raise ValueError(str(error)) from error

    def is_valid(self, instance: Any) -> bool:
        return next(self.errors(instance), None) is None

    def _counted(self) -> dict[str, Callable[..., Iterator[Any]]]:
        return {word: self._count(Draft202012Validator.VALIDATORS[word]) for word in REFERENCES}

    def _count(self, follow: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        patience = self._patience

        def counted(*about: Any) -> Iterator[Any]:
            if patience is not None:
                patience.left -= 1
                if patience.left < 0:
                    raise ExhaustedError
            yield from follow(*about) or ()

        return counted


def _size(instance: Any) -> int:
    """How many values there are, containers included."""
    size, todo = 0, [instance]
    while todo:
        value = todo.pop()
        size += 1
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return size
