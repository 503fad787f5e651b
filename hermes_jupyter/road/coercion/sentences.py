"""What is wrong with arguments, in sentences that a model can act upon."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

MAX_ERRORS = 20
MAX_CHARS = 80
MAX_NAMED = 12
ARTICLES = {
    "boolean": "a boolean", "integer": "an integer", "number": "a number",
    "string": "a string", "array": "an array", "object": "an object",
}  # fmt: skip
SAYS_ALL = ("enum", "const")
"""Keywords beside which a word about the type is of no use."""


def sentences(errors: Iterable[Any]) -> list[str]:
    """One for each bad path: the path, the value there, and what was expected."""
    found: dict[str, str] = {}
    for error in errors:
        for path, sentence in _findings(error):
            if path not in found and len(found) == MAX_ERRORS:
                return [*found.values(), "and more of the kind"]
            if path not in found or error.validator in SAYS_ALL:
                found[path] = f"{path}: {sentence}"
    return list(found.values())


def _findings(error: Any) -> Iterator[tuple[str, str]]:
    """Path and complaint; an error of a union leads to those of the member that was meant."""
    place, shown = _path(error.absolute_path), _shown(error.instance)
    match error.validator:
        case "required":
            for key in error.validator_value:
                if key not in error.instance:
                    yield _path([*error.absolute_path, key]), "required, but missing"
        case "additionalProperties" | "unevaluatedProperties" if isinstance(error.instance, dict):
            yield from _unknown_keys(error)
        case "anyOf" | "oneOf":
            meant = _meant(error)
            for inner in meant:
                yield from _findings(inner)
            if not meant:
                yield place, f"{shown} {_expected_union(error)}"
        case "type":
            yield place, f"{shown} is not {_kinds(error.validator_value)}"
        case "enum":
            listed = _listed(error.validator_value)
            yield place, f"{shown} is not one of {listed}" if listed else "nothing is allowed here"
        case "const":
            yield place, f"{shown} is not {_shown(error.validator_value)}"
        case None:
            yield place, "nothing is allowed here"
        case word:
            yield place, f"{shown} does not satisfy {word} {_shown(error.validator_value)}"


def _unknown_keys(error: Any) -> Iterator[tuple[str, str]]:
    known = list(error.schema.get("properties", {}))
    advice = f"; known are {_listed(known)}" if known else ""
    if error.schema.get(error.validator) is not False:
        yield _path(error.absolute_path), f"an unknown key does not fit{advice}"
        return
    patterns = error.schema.get("patternProperties", {})
    for key in error.instance:
        if key not in known and not patterns:
            yield _path([*error.absolute_path, key]), f"unknown key{advice}"
    if patterns:
        yield _path(error.absolute_path), f"has a key that is not allowed{advice}"


def _meant(error: Any) -> list[Any]:
    """The errors of the only member that the value can have been meant for; else none."""
    members: dict[Any, list[Any]] = {}
    for inner in error.context or ():
        members.setdefault(inner.relative_schema_path[0], []).append(inner)
    able = [errors for errors in members.values() if not any(map(_is_of_type, errors))]
    tagged = [errors for errors in able if not any(map(_is_of_tag, errors))]
    for candidates in (able, tagged):
        if len(candidates) == 1:
            return candidates[0]
    return []


def _is_of_type(error: Any) -> bool:
    return not error.relative_path and error.validator in ("type", None)


def _is_of_tag(error: Any) -> bool:
    return len(error.relative_path) == 1 and error.validator in ("const", "enum")


def _expected_union(error: Any) -> str:
    if not error.context:
        return "fits more than one of the allowed forms"
    kinds = [
        inner.validator_value if _is_of_type(inner) and inner.validator else None
        for inner in error.context
    ]
    if None in kinds:
        return f"fits none of the {len(error.validator_value)} allowed forms"
    flat = [kind for named in kinds for kind in (named if isinstance(named, list) else [named])]
    return f"is not {_kinds(flat)}"


def _kinds(named: Any) -> str:
    listed = list(dict.fromkeys(named if isinstance(named, list) else [named]))
    return " or ".join(ARTICLES.get(kind, str(kind)) for kind in listed)


def _listed(values: Any) -> str:
    values = list(values) if isinstance(values, list | tuple) else [values]
    shown = ", ".join(_shown(value) for value in values[:MAX_NAMED])
    return shown if len(values) <= MAX_NAMED else f"{shown} and {len(values) - MAX_NAMED} more"


def _path(steps: Iterable[Any]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")[:200] or "arguments"


def _shown(value: Any) -> str:
    """A value in short, whatever its size."""
    if isinstance(value, str):
        cut = value if len(value) <= MAX_CHARS else value[:MAX_CHARS] + "…"
        return json.dumps(cut, ensure_ascii=False)
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    try:
        return json.dumps(value, default=repr)[:MAX_CHARS]
    except ValueError:
        return f"a very long {type(value).__name__}"
