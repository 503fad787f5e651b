"""What a text says as a value of another type, if it says it exactly. Nothing is evaluated."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any, NoReturn

NULLS = frozenset({"", "null", "None"})
"""How models write that there is no value."""
BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
DECIMAL = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,9}))?")
JSON_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MAX_DIGITS = 4300
"""Longer integers cannot be written back: the limit that Python sets by default."""
MAX_LITERAL_CHARS = 200_000
"""Of a Python literal; its syntax tree takes hundreds of bytes for each character."""
MAX_LAYERS = 3
PROPER_ESCAPES = re.compile(r"(?:[^\\]|\\[\n\\'\"abfnrtvxNuU])*")
"""The compiler warns of any other escape, and does not say what the writer meant."""


def integer_of(text: str) -> int | None:
    """``"42"``, ``" +7 "``, ``"1e3"`` and ``"3.0"``; never through a float."""
    if len(text) > 2 * MAX_DIGITS or not (match := DECIMAL.fullmatch(text.strip())):
        return None
    sign, whole, fraction, exponent = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    shift = int(exponent or 0) - len(fraction)
    if shift < 0:
        digits, rest = digits[:shift], digits[shift:]
        if not digits or rest.strip("0"):
            return None
    if len(digits) + max(shift, 0) > MAX_DIGITS:
        return None
    return int(sign + digits + "0" * max(shift, 0))


def number_of(text: str) -> int | float | None:
    """A JSON number, perhaps with a plus; an int if it is integral, however large."""
    stripped = text.strip()
    if len(stripped) > 2 * MAX_DIGITS or not JSON_NUMBER.fullmatch(stripped):
        return None
    if stripped.lstrip("+-").isdigit():
        return integer_of(stripped)
    number = float(stripped)
    if not math.isfinite(number):
        return None
    whole = integer_of(stripped)
    if whole is not None:
        return whole
    return number or None  # not zero as written, but too small for a float


def boolean_of(text: str) -> bool | None:
    return BOOLEANS.get(text.strip().lower())


def container_of(text: str) -> dict[str, Any] | list[Any] | None:
    """The array or object that a JSON text holds, else a Python literal; else None."""
    for _ in range(MAX_LAYERS):  # a JSON text may have been made text again
        text = text.strip()
        if not text.startswith(("[", "{", '"', "(")):
            return None
        try:
            value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError):
            return _literal(text)
        if not isinstance(value, str):
            return value if isinstance(value, dict | list) else None
        text = value
    return None


def _literal(text: str) -> dict[str, Any] | list[Any] | None:
    if len(text) > MAX_LITERAL_CHARS or not PROPER_ESCAPES.fullmatch(text):
        return None
    try:
        value = _jsonable(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _jsonable(value: Any) -> Any:
    """A literal as JSON would hold it; keys that are not text would have to be renamed."""
    if isinstance(value, list | tuple):
        return [_jsonable(element) for element in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _jsonable(element) for key, element in value.items()}
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"not a JSON value: {type(value).__name__}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large")
    return number
