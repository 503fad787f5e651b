"""Objects of known libraries: how large they are, what tells them apart, how they are copied.

No library is imported here: an object of one tells by its type where it is from. Nothing of the
user's own classes is ever called.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from typing import Any, Literal

Family = Literal["array", "frame", "tensor", "other"]
SAMPLED = 512
"""Elements of a large array that are looked at."""
BUILTINS = (list, dict, set, bytearray, deque)


def family_of(value: Any) -> Family:
    """Which of the known kinds it is."""
    kind = type(value)
    top = str(kind.__module__).partition(".")[0]
    if top == "numpy" and kind.__name__ in ("ndarray", "MaskedArray"):
        return "array"
    if top in ("pandas", "polars") and kind.__name__ in ("DataFrame", "Series"):
        return "frame"
    if top == "torch" and kind.__name__ in ("Tensor", "Parameter"):
        return "tensor"
    return "other"


def bytes_of(value: Any) -> int:
    """What it takes in memory, as far as that is told at once."""
    match family_of(value):
        case "array":
            return int(value.nbytes)
        case "tensor":
            return int(value.nelement() * value.element_size())
        case "frame":
            return _frame_bytes(value)
    return sys.getsizeof(value) if type(value) in (*BUILTINS, str, bytes) else 0


def print_of(value: Any) -> Any:
    """What is the same as long as it is not changed in place, as far as that is quick to tell."""
    match family_of(value):
        case "array":
            return (value.shape, str(value.dtype), _sample(value))
        case "tensor":
            return (tuple(value.shape), str(value.dtype), value._version)
        case "frame":
            return _frame_print(value)
    if type(value) in BUILTINS:
        return len(value)
    return None


def copied(value: Any) -> Any:
    """A copy of an array, tensor or frame."""
    match family_of(value):
        case "tensor":
            return value.detach().clone()
        case "frame" if str(type(value).__module__).startswith("polars"):
            return value.clone()
    return value.copy()


def is_equal(one: Any, other: Any) -> bool:
    """Do an array, tensor or frame and its copy hold the same?"""
    if type(one) is not type(other):
        return False
    match family_of(one):
        case "array":
            alike = one.shape == other.shape and one.dtype == other.dtype
            return bool(alike and one.tobytes() == other.tobytes())
        case "tensor":
            return bool(one.shape == other.shape and one.equal(other))
    return bool(one.equals(other))


def put_into(value: Any, copy: Any) -> bool:
    """Give an array or tensor its former content, in place; False if that cannot be."""
    match family_of(value):
        case "array":
            if value.shape != copy.shape or value.dtype != copy.dtype or not value.flags.writeable:
                return False
            value[...] = copy
            return True
        case "tensor":
            if value.shape != copy.shape or value.requires_grad:
                return False
            value.copy_(copy)
            return True
    return False


def _sample(array: Any) -> bytes:
    """Some elements, evenly taken."""
    if not array.flags.c_contiguous or array.dtype.hasobject:
        return b""
    step = max(1, math.ceil(array.size / SAMPLED))
    return bytes(array.reshape(-1)[::step].tobytes())


def _frame_bytes(frame: Any) -> int:
    if hasattr(frame, "estimated_size"):  # polars
        return int(frame.estimated_size())
    used = frame.memory_usage(deep=False)
    return int(used if isinstance(used, int) else used.sum())


def _frame_print(frame: Any) -> Any:
    if type(frame).__name__ == "Series":
        return (tuple(frame.shape), frame.name, str(frame.dtype))
    dtypes = tuple(map(str, frame.dtypes))[:SAMPLED]
    return (tuple(frame.shape), tuple(frame.columns)[:SAMPLED], dtypes)
