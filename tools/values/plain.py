"""Values in a few words, and nested ones to a given room: safe for any object."""

from __future__ import annotations

import datetime
import enum
import itertools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from tools.secrets.variables import is_secret_name, is_secret_value
from tools.values.types import (
    full_name,
    is_exactly,
    is_instance,
    isinstance_of_module,
    library,
    module_of,
    name_of,
    own_names,
)

DEEPEST = 3
MOST_ITEMS = 20
TEXT_CHARS = 200
MOST_DIGITS = 100
HIDDEN = "«hidden: looks like a secret»"
_WHOLE = (
    bool, float, complex, type(None), type(...), type(NotImplemented), datetime.date,
    datetime.timedelta, range,
)  # fmt: skip
"""Types whose own ``repr`` is short."""
_SHORT = (
    ("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"),
    ("pandas", "Timestamp"), ("pandas", "Timedelta"), ("pandas", "Period"),
)  # fmt: skip
"""Likewise their own text, of libraries that need not be there."""
_MARKS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
    deque: ("[", "]"),
}


def told(value: Any, room: int = 200, depth: int = 0) -> str:
    """What a value is, in at most about ``room`` characters."""
    kind = type(value)
    if kind in _WHOLE or (kind is datetime.datetime and _has_plain_zone(value)):
        return repr(value)[:MOST_DIGITS]
    if kind is int:
        return repr(value) if value.bit_length() < 3 * MOST_DIGITS else _long_number(value)
    if kind in (str, bytes, bytearray):
        return _text(value, min(room, TEXT_CHARS if depth else room))
    if any(is_exactly(value, *each) for each in _SHORT) or _is_not_a_time(value):
        return str(value)[:MOST_DIGITS]
    if is_instance(value, PurePath) and module_of(kind).startswith("pathlib"):
        return f"{name_of(kind)}({str(value)[:room]!r})"
    if kind in _MARKS:
        return _items(value, room, depth)
    if kind in (dict, defaultdict, OrderedDict):
        return _entries(value, room, depth)
    return glance(value)


def _is_not_a_time(value: Any) -> bool:
    pandas = library("pandas")
    return pandas is not None and value is getattr(pandas, "NaT", pandas)


def glance(value: Any) -> str:
    """What a value is, in a few words: its type, and its size where that is known."""
    kind = type(value)
    for look in (_of_frame, _of_array, _of_code):
        if said := look(value):
            return said
    size = size_of(value)
    if size is not None:
        return f"{full_name(kind)} of {size:,}"
    return f"<{full_name(kind)}>"


def size_of(value: Any) -> int | None:
    """The number of items of a builtin container, also of a subclass; None for others."""
    for base in (dict, list, tuple, set, frozenset, str, bytes, bytearray, deque):
        if is_instance(value, base):
            return int(base.__len__(value))
    return None


def items_of(value: Any, most: int) -> list[Any]:
    """The first items of a builtin container; its class may be one of the user's."""
    for base in (list, tuple, set, frozenset, deque):
        if is_instance(value, base):
            return _first(base.__iter__(value), most)
    return []


def entries_of(value: Any, most: int) -> list[tuple[Any, Any]]:
    """The first entries of a dictionary, likewise."""
    return _first(dict.items(value), most)


def _first(found: Iterable[Any], most: int) -> list[Any]:
    try:
        return list(itertools.islice(found, most))
    except RuntimeError:  # another thread changes it just now
        return []


def named(name: object, value: Any, room: int = 200, depth: int = 0) -> str:
    """The value of a variable, a field or a key, unless its name says that it is a secret."""
    if type(name) is str and type(value) in (str, bytes) and is_secret_name(name):
        text = value if type(value) is str else value.decode("utf-8", "replace")
        if is_secret_value(name, text[:10_000]):
            return HIDDEN
    return told(value, room, depth)


def _has_plain_zone(value: datetime.datetime) -> bool:
    zone = value.tzinfo
    return zone is None or type(zone) is datetime.timezone


def _long_number(value: int) -> str:
    return f"<int of {value.bit_length():,} bits>"


def _text(value: str | bytes | bytearray, room: int) -> str:
    if len(value) <= room:
        return repr(value)
    unit = "characters" if isinstance(value, str) else "bytes"
    return f"{value[:room]!r}… ({len(value):,} {unit})"


def _items(value: Any, room: int, depth: int) -> str:
    size = size_of(value) or 0
    opening, closing = _MARKS[type(value)]
    prefix = "" if type(value) in (list, tuple, set) else name_of(type(value)) + "("
    if not size:
        return {set: "set()"}.get(type(value), prefix + opening + closing) + (")" if prefix else "")
    body = _joined((told(each, room // 4, depth + 1) for each in items_of(value, MOST_ITEMS)),
                   room, size, deep=depth >= DEEPEST)  # fmt: skip
    comma = "," if type(value) is tuple and size == 1 else ""
    return f"{prefix}{opening}{body}{comma}{closing}{')' if prefix else ''}"


def _entries(value: dict[Any, Any], room: int, depth: int) -> str:
    size = dict.__len__(value)
    parts = (
        f"{told(key, 60, depth + 1)}: {named(key, each, room // 4, depth + 1)}"
        for key, each in entries_of(value, MOST_ITEMS)
    )
    body = _joined(parts, room, size, deep=depth >= DEEPEST)
    prefix = "" if type(value) is dict else name_of(type(value))
    return f"{prefix}({{{body}}})" if prefix else f"{{{body}}}"


def _joined(parts: Iterator[str], room: int, size: int, *, deep: bool) -> str:
    if deep:
        return f"… {size:,} …"
    kept: list[str] = []
    for part in parts:
        if kept and sum(map(len, kept)) + len(part) > room:
            break
        kept.append(part)
    more = size - len(kept)
    return ", ".join(kept) + (f", … {more:,} more" if more > 0 else "")


def _of_frame(value: Any) -> str:
    kind = type(value)
    shape = _shape_of_frame(value)
    return f"{name_of(kind)} {shape}" if shape else ""


def _shape_of_frame(value: Any) -> str:
    pandas, polars, arrow = library("pandas"), library("polars"), library("pyarrow")
    if pandas is not None and is_instance(value, getattr(pandas, "DataFrame", None)):
        rows, columns = pandas.DataFrame.shape.fget(value)
        return f"{rows:,} × {columns:,}"
    if pandas is not None and is_instance(value, getattr(pandas, "Series", None)):
        manager = dictionary_manager(value)
        return f"{manager.shape[-1]:,}" if manager is not None else ""
    if polars is not None and is_instance(value, getattr(polars, "DataFrame", None)):
        rows, columns = polars.DataFrame.shape.fget(value)
        return f"{rows:,} × {columns:,}"
    if polars is not None and is_instance(value, getattr(polars, "Series", None)):
        return f"{polars.Series.__len__(value):,}"
    if arrow is not None and is_instance(value, getattr(arrow, "Table", None)):
        return f"{value.num_rows:,} × {value.num_columns:,}"
    return ""


def dictionary_manager(value: Any) -> Any:
    """Where pandas keeps the data of a series or frame."""
    return object.__getattribute__(value, "__dict__").get("_mgr")


def _of_array(value: Any) -> str:
    kind = type(value)
    numpy, torch = library("numpy"), library("torch")
    if numpy is not None and is_instance(value, getattr(numpy, "ndarray", None)):
        flat = numpy.ndarray.view(value, numpy.ndarray)
        return f"{name_of(kind)} {_sizes(flat.shape)} {flat.dtype}"
    if numpy is not None and is_instance(value, getattr(numpy, "generic", None)):
        return told(value.item()) if module_of(kind) == "numpy" and value.nbytes <= 64 else ""
    if torch is not None and is_instance(value, getattr(torch, "Tensor", None)):
        return f"{name_of(kind)} {_sizes(tuple(torch.Tensor.size(value)))} {value.dtype}"
    return ""


def _sizes(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "of one value"


def _of_code(value: Any) -> str:
    kind = type(value)
    if isinstance_of_module(value):
        found = types.ModuleType.__getattribute__(value, "__dict__").get("__name__", "")
        return f"module {found}" if type(found) is str else "module"
    if is_instance(value, type):
        return f"class {full_name(value)}"
    if kind is types.FunctionType:
        return f"function {value.__qualname__}"
    if kind is types.MethodType:
        return f"method {told(value.__func__, 60)}"
    if kind is types.BuiltinFunctionType:
        return f"{name_of(kind)} {value.__name__}"
    if is_instance(value, enum.Enum):
        member = object.__getattribute__(value, "__dict__").get("_name_", "")
        return f"{name_of(kind)}.{member}" if type(member) is str else ""
    if is_instance(value, BaseException):
        return _of_error(value)
    return ""


def _of_error(error: BaseException) -> str:
    if "__str__" in own_names(type(error)):
        return name_of(type(error))
    given: tuple[Any, ...] = BaseException.__dict__["args"].__get__(error)
    return f"{name_of(type(error))}({', '.join(told(each, 100, 1) for each in given[:3])})"
