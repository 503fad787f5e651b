"""Reads the fields of a request. What does not fit is refused, never mended: it may approve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hermes_jupyter.kernel.control import Refusal

MAX_NAME_CHARS = 200
"""Of ids, digests and choices."""
MAX_TEXT_CHARS = 64_000
MAX_NOTE_CHARS = 4_000

Content = Mapping[str, Any]
ENVELOPE = frozenset({"protocol", "do"})


def only(content: Content, *names: str) -> None:
    """Refuse a request that has other fields: whoever sent it means something else."""
    if strange := sorted(set(map(str, content)) - ENVELOPE - set(names)):
        raise Refusal("invalid", f"this request has no field {strange[0][:60]!r}")


def name(content: Content, field: str) -> str:
    """An id or the like; it must be there.

    Raises
    ------
    Refusal
    """
    value = content.get(field)
    if not isinstance(value, str) or not value:
        raise Refusal("invalid", f"the field {field!r} must be a text")
    return _short(value, field, MAX_NAME_CHARS)


def text(content: Content, field: str, limit: int = MAX_TEXT_CHARS) -> str | None:
    """A text, or None if there is none.

    Raises
    ------
    Refusal
    """
    value = content.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refusal("invalid", f"the field {field!r} must be a text or null")
    return _short(_sound(value, field), field, limit)


def chosen(content: Content, field: str, offered: Callable[[], list[str]]) -> str:
    """One of what was offered.

    Raises
    ------
    Refusal
    """
    choice, choices = name(content, field), offered()
    if choice not in choices:
        raise Refusal("invalid", f"{choice[:60]!r} was not offered; {', '.join(choices)} were")
    return choice


def _short(value: str, field: str, limit: int) -> str:
    if len(value) > limit:
        raise Refusal("invalid", f"the field {field!r} has more than {limit} characters")
    return value


def _sound(value: str, field: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal("invalid", f"the field {field!r} is no text: a half of a character") from None
    return value
