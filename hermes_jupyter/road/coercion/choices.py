"""The member of an enum that a value means, if it can mean one only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.road.coercion.readings import (
    NULLS,
    boolean_of,
    container_of,
    integer_of,
    number_of,
)


def chosen(value: Any, members: Sequence[Any]) -> Any:
    """The exact member, else the one of other case or outer space, else the one of same meaning."""
    for member in members:
        if same(value, member):
            return member if type(value) is float and type(member) is int else value
    if type(value) is str:
        key = _key(value)
        near = {member for member in members if type(member) is str and _key(member) == key}
        if near:
            return near.pop() if len(near) == 1 else value
    meant = [member for member in members if _means(value, member)]
    return meant[0] if len(meant) == 1 else value


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _key(text: str) -> str:
    return text.strip().lower()


def _means(value: Any, member: Any) -> bool:
    if type(value) is str:
        return _text_means(value, member)
    if type(value) is int and type(member) is bool:
        return value in (0, 1) and bool(value) is member
    return type(value) is int and type(member) is str and _decimal(value) == member


def _text_means(text: str, member: Any) -> bool:
    match member:
        case None:
            return text in NULLS
        case bool():
            return boolean_of(text) is member
        case int() | float():
            whole = integer_of(text)
            return (number_of(text) if whole is None else whole) == member
        case dict() | list():
            return same(container_of(text), member)
    return False


def _decimal(value: int) -> str | None:
    try:
        return str(value)
    except ValueError:  # Python writes no integer of more than some thousand digits
        return None
