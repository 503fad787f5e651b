"""The JSON Schemas of what stays in notebooks, and checking against them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Schema = Literal["turn-v2", "recording-v1"]
MAX_SAID = 200


@cache
def schema(name: Schema) -> dict[str, Any]:
    """The schema of this name, as the package has it."""
    text = files("hermes_jupyter").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def fault(value: Any, name: Schema) -> str:
    """What is wrong with a value, and where; empty if it fits the schema."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(name).iter_errors(value))
    if error is None:
        return ""
    place = "/".join(map(str, error.absolute_path)) or "the whole"
    return f"{place}: {error.message[:MAX_SAID]}"


@cache
def _validator(name: Schema) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(name))
