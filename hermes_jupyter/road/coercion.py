"""Arguments of the right type: ``"42"`` becomes 42 where the schema wants an integer.

Models often write numbers, booleans and containers as text. Only what loses nothing is
changed; the rest is left to validation, whose errors the model reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType
from referencing.exceptions import Unresolvable

INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
NUMBER = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*", re.ASCII)
BOOLEANS = {"true": True, "false": False}
MAX_ERRORS = 5
UNUSABLE = (
    SchemaError, UnknownType, Unresolvable, re.error, AttributeError, TypeError, ValueError,
    LookupError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What jsonschema raises for a schema that is none: an unknown type, a broken pattern or link."""


def coerce(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``args`` whose text values fit the types of the schema where they can."""
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    known = properties if isinstance(properties, Mapping) else {}
    return {key: _fit(value, known.get(key)) for key, value in args.items()}


def _fit(value: Any, schema: Any) -> Any:
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(value, float) and wanted == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    if wanted == "integer" and INTEGER.fullmatch(value) and len(value) < 4_000:
        return int(value)
    if wanted == "number" and NUMBER.fullmatch(value):
        number = float(value)
        return number if number not in (float("inf"), float("-inf")) else value
    if wanted == "boolean":
        return BOOLEANS.get(value.strip().lower(), value)
    if wanted in ("array", "object"):
        return _container(value, list if wanted == "array" else dict)
    return value


def _container(text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, kind) else text


def problems(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """One sentence for each argument that does not fit the schema, for the model to read."""
    try:
        found = Draft202012Validator(dict(parameters)).iter_errors(dict(args))
        sentences = [
            f"{error.json_path.removeprefix('$').lstrip('.') or 'arguments'}: {error.message[:300]}"
            for error, _ in zip(found, range(MAX_ERRORS), strict=False)
        ]
    except UNUSABLE as error:  # a tool author's mistake, not the model's
        return [f"the tool's own schema cannot be used: {type(error).__name__}"]
    return sentences
