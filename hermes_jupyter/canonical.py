"""JSON whose fingerprint survives other programs, which write numbers and keys in their own way."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

EXACT = 2**53
"""Up to here a browser keeps integers as they are."""


def portable(value: Any) -> Any:
    """A JSON value with numbers that every program can write."""
    match value:
        case bool() | str() | int() | None:
            return value
        case float():
            if not math.isfinite(value):
                return str(value)
            return int(value) if value.is_integer() and abs(value) <= EXACT else value
        case Mapping():
            return {str(key): portable(each) for key, each in value.items()}
    return [portable(each) for each in value]


def digest(value: Any) -> str:
    """The sha256 (hex) of a JSON value, whoever has written it since.

    Raises
    ------
    ValueError
        If it is nested too deeply.
    """
    try:
        text = json.dumps(_as_browsers_have_it(value), sort_keys=True, separators=(",", ":"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def prompt_sha256(prompt: str) -> str:
    """The sha256 (hex) of a prompt; white space around it plays no part."""
    return hashlib.sha256(prompt.strip().encode("utf-8", "surrogatepass")).hexdigest()


def depends_on(prompt: str, line: str, model: str, tools: Any) -> str:
    """The fingerprint of all that an answer depends on, given that of its prompt."""
    return digest([prompt, line, model, list(tools)])


def _as_browsers_have_it(value: Any) -> Any:
    match value:
        case bool() | str() | None:
            return value
        case int() | float():
            return _number(value)
        case Mapping():
            return {str(key): _as_browsers_have_it(each) for key, each in value.items()}
    return [_as_browsers_have_it(each) for each in value]


def _number(value: int | float) -> Any:
    """The same for 1 and 1.0, and for a long integer and what a browser makes of it."""
    if isinstance(value, float):
        value = portable(value)
    if isinstance(value, int) and abs(value) > EXACT:
        try:
            return repr(float(value))
        except OverflowError:
            return str(value)
    return value if isinstance(value, int | str) else repr(value)
