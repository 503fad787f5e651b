"""Give a tool's answer the shape that the model reads: clean, masked, not too long."""

from __future__ import annotations

import json
from typing import Any

from hermes_jupyter.calls import CallStatus
from hermes_jupyter.redaction import redact
from hermes_jupyter.text import json_object
from tools.plain_text import Excerpt

MAX_READ_CHARS = 5_000_000
"""A longer answer is not looked into, so as not to hold up the loop."""


def shape(text: str, limit: int) -> str:
    """Replace broken characters, mask secrets, cut at ``limit`` characters.

    A JSON object stays one: its longest text is cut, with a mark that tells how much is gone.
    """
    clean = redact(text.encode("utf-8", "replace").decode("utf-8"))
    return clean if len(clean) <= limit else _cut_answer(clean, limit)


def _cut_answer(text: str, limit: int) -> str:
    answer = json_object(text)
    if answer is None:
        return _cut(text, limit)
    longest = max(
        (key for key, value in answer.items() if isinstance(value, str)),
        key=lambda key: len(answer[key]),
        default=None,
    )
    if longest is None:
        return _cut(text, limit)
    excess = len(text) - limit
    keep = max(1_000, len(answer[longest]) - 2 * excess if excess < limit else limit // 3)
    shorter = json.dumps({**answer, longest: _cut(answer[longest], keep)}, ensure_ascii=False)
    return shorter if len(shorter) <= limit * 2 else _cut(shorter, limit)


def _cut(text: str, limit: int) -> str:
    """Head and tail of a long text, with the count of what is left out."""
    kept = Excerpt(limit)
    kept.add(text)
    return kept.text()


def status_of(text: str) -> CallStatus:
    """Did the tool say that it failed? Only a JSON object with a true ``error`` says so."""
    answer = _read(text)
    return "error" if answer is not None and answer.get("error") else "ok"


def exit_code_of(text: str) -> int:
    """The exit code that an answer names; 0 if it names none."""
    answer = _read(text) if '"exit_code"' in text else None
    code = answer.get("exit_code") if answer is not None else None
    return code if isinstance(code, int) else 0


def _read(text: str) -> dict[str, Any] | None:
    return json_object(text) if len(text) <= MAX_READ_CHARS else None
