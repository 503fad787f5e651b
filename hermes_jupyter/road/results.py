"""Give a tool's answer the shape that the model reads: clean, masked, not too long."""

from __future__ import annotations

import json
from typing import Any

from hermes_jupyter.calls import CallStatus
from hermes_jupyter.redaction import redact

HEAD_SHARE = 0.4
MAX_READ_CHARS = 5_000_000
"""A longer answer is not looked into, so as not to hold up the loop."""


def shape(text: str, limit: int) -> str:
    """Clean lone surrogates, mask secrets, cut at ``limit`` characters.

    A JSON object stays one: its longest text is cut, with a mark that tells how much is gone.
    """
    clean = redact(text.encode("utf-8", "replace").decode("utf-8"))
    return clean if len(clean) <= limit else _cut_answer(clean, limit)


def _cut_answer(text: str, limit: int) -> str:
    answer = _object(text)
    if answer is None:
        return cut(text, limit)
    longest = max(
        (key for key, value in answer.items() if isinstance(value, str)),
        key=lambda key: len(answer[key]),
        default=None,
    )
    if longest is None:
        return cut(text, limit)
    excess = len(text) - limit
    keep = max(1_000, len(answer[longest]) - 2 * excess if excess < limit else limit // 3)
    shorter = json.dumps({**answer, longest: cut(answer[longest], keep)}, ensure_ascii=False)
    return shorter if len(shorter) <= limit * 2 else cut(shorter, limit)


def cut(text: str, limit: int) -> str:
    """Head and tail of a long text, with the count of what is left out."""
    if len(text) <= limit:
        return text
    head = int(limit * HEAD_SHARE)
    tail = limit - head
    return f"{text[:head]}\n… [{len(text) - limit} characters left out] …\n{text[-tail:]}"


def status_of(text: str) -> CallStatus:
    """Did the tool say that it failed? Only a JSON object with a true ``error`` says so."""
    if len(text) > MAX_READ_CHARS:
        return "ok"
    answer = _object(text)
    return "error" if answer is not None and answer.get("error") else "ok"


def exit_code_of(text: str) -> int:
    """The exit code that an answer names; 0 if it names none."""
    answer = _object(text) if '"exit_code"' in text else None
    code = answer.get("exit_code") if answer is not None else None
    return code if isinstance(code, int) else 0


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None
