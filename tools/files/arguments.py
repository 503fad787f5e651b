"""Arguments of a call, taken forgivingly: small models write ``"10"`` for 10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.files import v4a
from tools.files.problems import Problem

TRUE_WORDS = frozenset({"true", "yes", "on", "1"})


def text(args: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = args.get(name, default)
    if value is None and default is not None:
        return default
    if isinstance(value, str):
        return value
    if value is None:
        raise Problem(f"{name!r} is missing; pass it as text")
    raise Problem(f"{name!r} must be text, not {type(value).__name__}")


def number(args: Mapping[str, Any], name: str, default: int, limits: tuple[int, int]) -> int:
    """An integer, moved into ``limits`` where it lies outside."""
    value = args.get(name)
    if value is None or value == "":
        return default
    try:
        if isinstance(value, bool):
            raise ValueError
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        raise Problem(f"{name!r} must be a whole number, not {value!r:.80}") from None
    return max(limits[0], min(limits[1], whole))


def choice(args: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    """One of ``choices``; the first when nothing is given."""
    value = args.get(name) or choices[0]
    folded = value.strip().lower() if isinstance(value, str) else value
    if folded in choices:
        return str(folded)
    raise Problem(f"{name!r} must be one of {', '.join(choices)}, not {value!r:.80}")


def flag(args: Mapping[str, Any], name: str) -> bool:
    value = args.get(name)
    return value.strip().lower() in TRUE_WORDS if isinstance(value, str) else bool(value)


def paths(args: Mapping[str, Any]) -> list[str]:
    """The paths that a call names, as ``path`` and in a ``patch``, readable or not otherwise."""
    path, patch = args.get("path"), args.get("patch")
    named = [path] if isinstance(path, str) and path else []
    return named + (v4a.paths(patch) if isinstance(patch, str) else [])
