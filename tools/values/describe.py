"""A value in detail, by what it is: the one place that knows all kinds."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tools.values.arrays import describe_array, is_array
from tools.values.frames import describe_lazy, describe_table, is_lazy, is_table
from tools.values.objects import (
    describe_class,
    describe_container,
    describe_figure,
    describe_function,
    describe_image,
    describe_module,
    describe_network,
    describe_object,
    describe_text,
    is_figure,
)
from tools.values.plain import told
from tools.values.types import full_name, is_instance, is_of, isinstance_of_module

Details = dict[str, Any]
_TEXTS = (str, bytes, bytearray)
_CONTAINERS = (dict, list, tuple, set, frozenset, deque)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def _is_one_of(kinds: Sequence[type]) -> Callable[[object], bool]:
    return lambda value: any(is_instance(value, kind) for kind in kinds)


KINDS: Sequence[tuple[Callable[[object], bool], Callable[[Any], Details]]] = (
    (is_lazy, describe_lazy),
    (is_table, describe_table),
    (is_array, describe_array),
    (is_figure, describe_figure),
    (lambda value: is_of(value, "PIL.Image", "Image"), describe_image),
    (lambda value: is_of(value, "torch.nn", "Module"), describe_network),
    (isinstance_of_module, describe_module),
    (_is_one_of((type,)), describe_class),
    (_is_one_of(_FUNCTIONS), describe_function),
    (_is_one_of(_TEXTS), describe_text),
    (_is_one_of(_CONTAINERS), describe_container),
)
"""The first that fits describes a value."""
PLAIN = (bool, int, float, complex, type(None))


def details_of(value: Any) -> Details:
    """Everything worth knowing of a value, as JSON."""
    about: Details = {"type": full_name(type(value))}
    if type(value) in PLAIN:
        return {**about, "value": told(value)}
    for fits, describe in KINDS:
        if fits(value):
            return {**about, **describe(value)}
    short = told(value)
    said = {} if short == f"<{about['type']}>" else {"value": short}
    return {**about, **said, **describe_object(value)}
