"""Text of others, taken with care: broken characters mended, JSON told from prose."""

from __future__ import annotations

import json
from typing import Any


def mended(text: str) -> str:
    """The text as any encoder takes it.

    A pair of surrogates becomes the character it stands for, a lone one the replacement mark.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is; None if it is anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
