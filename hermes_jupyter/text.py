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


NO_JSON = object()
"""What `parsed` answers for text that is no JSON."""
LITTLE_CHARS = 2_000
"""So much may stand beside the one long text of an answer that is taken for the answer."""


def parsed(text: str) -> Any:
    """The JSON object, array or text that this is; ``NO_JSON`` if it is anything else."""
    if not text.lstrip().startswith(("{", "[", '"')):
        return NO_JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NO_JSON


def as_json(value: Any) -> str:
    """JSON as any encoder takes it; what was escaped in the original may be broken characters."""
    return mended(json.dumps(value, ensure_ascii=False))


def main_field(answer: Any) -> str:
    """The name under which an object holds a text beside which all else is little, or ``""``."""
    if not isinstance(answer, dict):
        return ""
    texts = [name for name, value in answer.items() if isinstance(value, str)]
    longest = max(texts, key=lambda name: len(answer[name]), default="")
    if not longest:
        return ""
    rest = json.dumps({**answer, longest: ""}, ensure_ascii=False)
    return longest if len(rest) <= min(LITTLE_CHARS, len(answer[longest])) else ""


def readable(text: str) -> tuple[str, str]:
    """What is worth reading of an answer: the name of its main text and that, or all of it."""
    answer = parsed(text)
    try:
        name = main_field(answer)
    except RecursionError:
        name = ""
    return (name, mended(answer[name])) if name else ("", text)
