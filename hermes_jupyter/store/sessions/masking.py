"""What is written is mended and masked: text as text, JSON value by value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.redaction import redact
from hermes_jupyter.text import mended

MAX_DEPTH = 50
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""MIME types of base64."""


def masked(text: str) -> str:
    """Text that any encoder takes, without secrets."""
    return redact(mended(text))


def masked_value(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A JSON value in which every text is masked."""
    match value:
        case str():
            # An image inside a message is no text, and may be large.
            return value if value.startswith("data:") else masked(value)
        case Mapping() if depth:
            return {
                mended(str(k)): v if _is_picture(k, v) else masked_value(v, depth - 1)
                for k, v in value.items()
            }
        case list() | tuple() if depth:
            return [masked_value(each, depth - 1) for each in value]
        case bool() | float() | None:
            return value
        case int() if abs(value) < 10**1_000:  # Python may refuse to write longer ones
            return value
    return masked(repr(value)[:1_000]) if not isinstance(value, int) else "(a long integer)"


def _is_picture(name: Any, value: Any) -> bool:
    """Is it one in base64, in a bundle by MIME type? No text, and what looks like one is chance."""
    return name in PICTURES and isinstance(value, str) and value.isascii() and " " not in value


def masked_json(text: str) -> str:
    """JSON text, such as the arguments of a call, that stays JSON."""
    if masked(text) == text:
        return text
    try:
        return dumped(masked_value(json.loads(text)))
    except (ValueError, RecursionError):
        return dumped({"unreadable": masked(text)})


dumped = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A JSON value as text. Made once: ``json.dumps`` would make an encoder for each value."""
