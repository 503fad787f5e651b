"""Names such as ``df['a'].values[3]``: followed only where reading runs no code of the user's."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping
from typing import Any

from tools.values.types import (
    bases,
    full_name,
    is_instance,
    is_of,
    library,
    overrides,
    own_names,
    raw_attributes,
)

MOST_CHARS = 500
_MISSING = object()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FRAMES = "axes columns dtype dtypes empty iloc index loc name names ndim shape size values"
_ATTRIBUTES: tuple[tuple[str, tuple[str, ...], frozenset[str]], ...] = (
    ("pandas", ("DataFrame", "Series", "Index"), _words(f"array {_FRAMES}")),
    (
        "polars",
        ("DataFrame", "Series"),
        _words("columns dtype dtypes height name schema shape width"),
    ),
    (
        "pyarrow",
        ("Table", "RecordBatch", "ChunkedArray", "Array"),
        _words("column_names columns num_columns num_rows null_count schema shape type"),
    ),
    (
        "numpy",
        ("ndarray",),
        _words("T dtype flat imag itemsize nbytes ndim real shape size strides"),
    ),
    ("torch", ("Tensor",), _words("data device dtype requires_grad shape")),
)
"""What may be asked of values of libraries: it is known to be quick and to change nothing."""
_ACCESSORS = ("_iLocIndexer", "_LocIndexer")
"""What pandas gives for ``.iloc`` and ``.loc``."""


class Unreadable(LookupError):
    """The name means nothing, or nothing that can be read without running code."""


def value_at(text: str, namespace: Mapping[str, Any]) -> Any:
    """The value that a name or a path such as ``model.layers[0]`` stands for.

    Raises
    ------
    Unreadable
        With words for the model.
    """
    if len(text) > MOST_CHARS:
        raise Unreadable("that is too long for a name; run_python takes code")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise Unreadable(f"{text!r} is no name, nor a path such as df['a'] or obj.name") from None
    return _value(tree, namespace)


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return _named(name, namespace)
        case ast.Attribute(value=inner, attr=name):
            return _attribute(_value(inner, namespace), name, ast.unparse(inner))
        case ast.Subscript(value=inner, slice=key):
            return _item(_value(inner, namespace), _key(key), ast.unparse(inner))
    raise Unreadable(
        f"{ast.unparse(node)!r} would have to be computed: only names, attributes and items are "
        "read here. Use run_python"
    )


def _named(name: str, namespace: Mapping[str, Any]) -> Any:
    if name not in namespace:
        raise Unreadable(f"there is no variable {name!r}; list_variables shows those there are")
    return namespace[name]


def _attribute(value: Any, name: str, text: str) -> Any:
    for module, kinds, names in _ATTRIBUTES:
        if is_of(value, module, *kinds):
            if name in names:
                return getattr(value, name)
            if is_of(value, "pandas", "DataFrame"):
                return _item(value, name, text)
            break
    stored = raw_attributes(value)
    if name in stored:
        return stored[name]
    found = _of_class(type(value), name) if not is_instance(value, type) else _MISSING
    if is_instance(value, type):
        found = _of_class(value, name)
    if found is _MISSING:
        raise Unreadable(f"{text} ({full_name(type(value))}) stores no {name!r}")
    return found


def _of_class(cls: type, name: str) -> Any:
    """What the class holds by this name; a property would run code."""
    for base in bases(cls):
        entry = own_names(base).get(name, _MISSING)
        if entry is _MISSING:
            continue
        if type(entry) is property or ("__get__" in own_names(type(entry)) and not callable(entry)):
            raise Unreadable(
                f"{name!r} is a property: to read it would run its code. Use run_python"
            )
        return entry
    return _MISSING


def _computes(entry: object) -> bool:
    """Does reading it on an object run something, as with a property?"""
    has_get = any("__get__" in own_names(base) for base in bases(type(entry)))
    return has_get and not callable(entry)


def _key(node: ast.expr) -> Any:
    """A constant key, a slice of constants, or a tuple of them."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if each is None else _key(each) for each in (lower, upper, step)))
        case ast.Tuple(elts=elements):
            return tuple(map(_key, elements))
        case ast.List(elts=elements):
            return list(map(_key, elements))
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise Unreadable(
            f"[{ast.unparse(node)}]: only constants are read as keys here. Use run_python"
        ) from None


def _item(value: Any, key: Any, text: str) -> Any:
    try:
        return _read_item(value, key, text)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"{text} has no [{key!r:.80}]: {str(error)[:200]}") from None
    except Exception as error:
        if type(error).__module__.split(".")[0] in ("polars", "pyarrow", "pandas"):
            raise Unreadable(f"{text} has no [{key!r:.80}]: {str(error)[:200]}") from None
        raise


def _read_item(value: Any, key: Any, text: str) -> Any:
    for base in (dict, list, tuple, str, bytes, deque):
        if is_instance(value, base):
            if type(value) is not base and overrides(value, base, "__getitem__"):
                break
            return base.__getitem__(value, key)
    if any(is_of(value, module, *kinds) for module, kinds, _ in _ATTRIBUTES) or _is_accessor(value):
        return value[key]
    raise Unreadable(
        f"to read [{key!r:.80}] of {text} ({full_name(type(value))}) would run its code. "
        "Use run_python"
    )


def _is_accessor(value: Any) -> bool:
    indexing = library("pandas.core.indexing")
    return indexing is not None and any(
        type(value) is getattr(indexing, name, None) for name in _ACCESSORS
    )
