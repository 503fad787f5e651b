"""What the variables of a running kernel are, for the judge of the next cell.

Only plain types are looked into; of other objects nothing but their class is read, so that no
code of theirs runs. Functions of the notebook are read in the text of the cells that made them.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
import textwrap
import types
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePath
from typing import Any

from tools.safety.python_code.names import full_name
from tools.safety.python_code.parsing import parsed
from tools.safety.python_code.values import (
    UNKNOWN,
    Defined,
    FilePath,
    Items,
    Known,
    Made,
    Method,
    Named,
    Table,
    Value,
)

LONGEST_TEXT = 10_000
MOST_ITEMS = 64
DEEPEST = 3
MOST_NAMES = 500
_NAME = re.compile(r"[^\W\d]\w*")
_PLAIN = (str, bytes, int, float, bool, type(None))


def values_of(namespace: Mapping[str, object], text: str) -> dict[str, Value]:
    """The variables that a cell with this text could use, and those that their functions use."""
    values: dict[str, Value] = {}
    names = list(dict.fromkeys(_NAME.findall(text)))
    while names and len(values) < MOST_NAMES:
        name = names.pop()
        if name in values or name not in namespace or _is_own(name, namespace[name]):
            continue
        value = value_of(namespace[name])
        values[name] = value
        if isinstance(value, Defined):
            names += _names_in(value.node)
    return values


def _names_in(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _is_own(name: str, thing: object) -> bool:
    """Is it what every kernel has by this name, such as ``exit``?"""
    if name == "get_ipython":
        return type(thing) is types.MethodType
    is_callable_of_kernel = _full_name(type(thing)).startswith(("IPython.", "ipykernel."))
    return (name in ("exit", "quit") and is_callable_of_kernel) or (
        thing is getattr(builtins, name, UNKNOWN)
    )


def _full_name(thing: Any) -> str:
    return full_name(f"{thing.__module__}.{thing.__qualname__}")


def value_of(thing: Any, depth: int = 0) -> Value:
    """What the judge can know of an object."""
    # Not by isinstance, which asks an object for its class, and so may run code of the object.
    kind = type(thing)
    if kind in _PLAIN:
        is_long = kind in (str, bytes) and len(thing) > LONGEST_TEXT
        return UNKNOWN if is_long else Known(thing)
    if issubclass(kind, PurePath) and kind.__module__.startswith("pathlib"):
        return FilePath(str(thing))
    if issubclass(kind, types.ModuleType):
        return Named(full_name(str(thing.__dict__.get("__name__", ""))))
    if kind is types.FunctionType and thing.__module__ == "__main__":
        return _function(thing)
    if kind in (types.FunctionType, types.BuiltinFunctionType) or issubclass(kind, type):
        return Named(_full_name(thing))
    if kind is types.MethodType and depth < DEEPEST:
        return Method(value_of(thing.__self__, depth + 1), thing.__func__.__name__)
    if kind is functools.partial and depth < DEEPEST:
        held = [value_of(each, depth + 1) for each in (thing.func, *thing.args)]
        return Made("functools.partial", tuple(held))
    if kind in (list, tuple, set) and depth < DEEPEST:
        held = [value_of(each, depth + 1) for each in islice(thing, MOST_ITEMS)]
        return Items(held, more=len(thing) > MOST_ITEMS)
    if kind is dict and depth < DEEPEST:
        entries = ((key, each) for key, each in thing.items() if type(key) in (str, int))
        return Table({key: value_of(each, depth + 1) for key, each in islice(entries, MOST_ITEMS)})
    return Made(_full_name(kind))


def _function(function: types.FunctionType) -> Value:
    """A function of the notebook, by its text."""
    try:
        tree = parsed(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return UNKNOWN
    nodes = (
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    node = next(nodes, None)
    return Defined(node) if node is not None else UNKNOWN
