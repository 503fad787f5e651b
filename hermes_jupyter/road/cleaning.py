"""Make a tool's answer fit to be kept: broken characters mended, secrets masked.

A JSON answer stays one. Its texts are looked at one by one, since in JSON a line's first word
follows an ``n``: the rest of ``\\n``.
"""

from __future__ import annotations

from typing import Any

from hermes_jupyter.redaction import is_suspicious, redact
from hermes_jupyter.text import NO_JSON, as_json, mended, parsed

MAX_NAMED_CHARS = 4_000
"""A longer text is no password, whatever its name says."""


def cleaned(text: str) -> str:
    """The answer without broken characters, and without secrets of a known shape."""
    text = mended(text)
    if not is_suspicious(text):
        return text
    answer = parsed(text)
    if answer is NO_JSON:
        return redact(text)
    try:
        masked = _masked(answer)
        return text if masked == answer else as_json(masked)
    except RecursionError:
        return redact(text)


def _masked(value: Any) -> Any:
    match value:
        case str():
            return redact(value)
        case list():
            return [_masked(item) for item in value]
        case dict():
            return {redact(name): _masked_field(name, item) for name, item in value.items()}
        case _:
            return value


def _masked_field(name: str, value: Any) -> Any:
    """A name may say that its value is a secret: then they are looked at together."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return _masked(value)
    text = str(value)
    before, behind = f'"{name}": "', '"'
    if len(text) > MAX_NAMED_CHARS or '"' in text:
        return _masked(value)
    masked = redact(f"{before}{text}{behind}")
    if not (masked.startswith(before) and masked.endswith(behind)):
        return _masked(value)
    inner = masked[len(before) : len(masked) - len(behind)]
    return value if inner == text else inner
