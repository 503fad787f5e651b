"""Give a tool's answer the shape that travels on: clean, masked, not too long.

What is cut is kept whole, if there is a place to keep it in and somebody who can read it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from hermes_jupyter.calls import CallStatus
from hermes_jupyter.road.cleaning import cleaned
from hermes_jupyter.road.cutting import Whole, cut
from hermes_jupyter.text import json_object, readable

MAX_READ_CHARS = 50_000_000
"""A longer answer is not looked into."""
QUICK_CHARS = 30_000
"""To shape what is longer would hold up the loop: that is done in a tool thread."""


class Keeper(Protocol):
    """Where whole answers are kept: see `hermes_jupyter.store.handles.Handles`."""

    def keep(self, text: str, source: str = "") -> str: ...

    def whole(self, handle: str) -> str: ...

    def source(self, handle: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Shaped:
    """An answer as it travels on. The fields are those of `ToolResult`."""

    text: str
    handle: str = ""
    total_chars: int = 0


def shaped_here(text: str, limit: int, keeper: Keeper | None = None, source: str = "") -> Shaped:
    """Mend broken characters, mask secrets, cut what is longer than ``limit``.

    Parameters
    ----------
    keeper
        Keeps the whole of what is cut. None if nobody could read it: then the model is told how
        to ask for less.
    source
        Where the text is from, if that is not to be trusted. It is kept with it.
    """
    clean = cleaned(text)
    if len(clean) <= limit:
        return Shaped(clean)
    handle = keeper.keep(clean, source) if keeper else ""
    return shortened(clean, limit, handle)


def shortened(text: str, limit: int, handle: str, hint: str = "") -> Shaped:
    """A clean answer, cut. ``handle`` is where it is kept, ``hint`` more to tell its reader."""
    _, body = readable(text)
    whole = Whole(handle=handle, chars=len(body), lines=body.count("\n") + 1, hint=hint)
    return Shaped(cut(text, limit, whole), handle, len(body))


def status_of(text: str) -> CallStatus:
    """Did the tool say that it failed? Only a JSON object with a true ``error`` says so."""
    if '"error"' not in text or _only(text, '"error": null'):
        return "ok"
    answer = _read(text)
    return "error" if answer is not None and answer.get("error") else "ok"


def exit_code_of(text: str) -> int:
    """The exit code that an answer names; 0 if it names none."""
    if '"exit_code"' not in text or _only(text, '"exit_code": 0,'):
        return 0
    answer = _read(text)
    code = answer.get("exit_code") if answer is not None else None
    return code if isinstance(code, int) else 0


def _only(text: str, field: str) -> bool:
    """Whether the name is there once, with this value: then the JSON need not be read."""
    return field in text and text.count(field[: field.index(":")]) == 1


def _read(text: str) -> dict[str, Any] | None:
    return json_object(text) if len(text) <= MAX_READ_CHARS else None
