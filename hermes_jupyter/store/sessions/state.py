"""What is kept beside a conversation: its to-do list, and what it has used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from hermes_jupyter.calls import Usage


def state_of(todos: Sequence[Mapping[str, Any]], usage: Usage) -> dict[str, Any]:
    """As it is written."""
    return {"todos": [*todos], "usage": asdict(usage)}


def todos_of(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The to-do list; what is none of its items is left out."""
    told = state.get("todos")
    items = told if isinstance(told, list) else []
    return [dict(item) for item in items if isinstance(item, dict) and "status" in item]


def usage_of(state: Mapping[str, Any]) -> Usage:
    """The tokens used; fields that are not known here play no part."""
    told = state.get("usage")
    names = {field.name for field in fields(Usage)}
    numbers = told.items() if isinstance(told, dict) else ()
    return Usage(**{name: value for name, value in numbers if name in names})
