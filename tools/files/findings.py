"""A question to a search, and what it found; both travel between machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is searched for. ``folder`` is where paths in the answer begin."""

    pattern: str
    root: str
    folder: str
    file_glob: str = ""
    limit: int = 50
    offset: int = 0
    context: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches."""

    path: str
    line: int
    content: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def as_result(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value or name == "content"}


@dataclass(frozen=True, slots=True)
class Clock:
    """When to stop, and why."""

    deadline: float
    cancelled: threading.Event | None = None

    def why_stopped(self) -> Literal["", "cancelled", "deadline"]:
        if self.cancelled is not None and self.cancelled.is_set():
            return "cancelled"
        return "deadline" if time.monotonic() > self.deadline else ""


@dataclass(slots=True)
class Findings:
    """What a search found. Totals are of everything; the lists are one page of it."""

    counts: dict[str, int] = field(default_factory=dict)
    """Matching lines of each file; for a search of names, 1."""
    matches: list[Match] = field(default_factory=list)
    stopped: str = ""
    """Why the totals are only "at least", if they are."""
    left_out: dict[str, int] = field(default_factory=dict)
    page_is_full: bool = False
    """The page ended early because it had grown too long."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def findings_of(told: Mapping[str, Any]) -> Findings:
    """The findings that `dataclasses.asdict` and JSON have made a mapping of."""
    matches = [
        Match(**{**each, "before": tuple(each["before"]), "after": tuple(each["after"])})
        for each in told["matches"]
    ]
    return Findings(**{**told, "matches": matches})
