"""The report on decisions: what was asked, allowed and denied lately, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hermes_jupyter.errors import ConfigurationError

DEFAULT_COUNT = 20
MAX_COUNT = 10_000
MAX_CHARS = 100


def show_audit(magics: Any, words: Sequence[str]) -> None:
    """The last decisions in the audit log, oldest first."""
    count = _count(words)
    log = magics.desktop.hermes.session().audit
    entries = log.last(count)
    for entry in entries:
        print(_line(entry))
    print(f"{log.path}" if entries else f"No decision is recorded yet, in {log.path}")


def _count(words: Sequence[str]) -> int:
    if not words:
        return DEFAULT_COUNT
    if not words[0].isdecimal() or not 0 < int(words[0]) <= MAX_COUNT:
        raise ConfigurationError(f"%hermes audit takes a number, not {words[0]!r}")
    return int(words[0])


def _line(entry: Mapping[str, Any]) -> str:
    at = datetime.fromisoformat(str(entry["time"])).astimezone()
    parts = [
        f"{at:%Y-%m-%d %H:%M:%S}",
        f"{entry['decision']:<7} {entry['by']:<9}",
        f"{entry['tool']}: {_short(entry['edited'] or entry['shown'])}",
        *(f"({entry[name]})" for name in ("reason", "rule", "note") if entry.get(name)),
    ]
    return "  ".join(map(_printable, parts))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 1]}…"


def _printable(text: str) -> str:
    """Nothing that is kept there shall steer the reader's screen."""
    return "".join(sign if sign.isprintable() else "·" for sign in text)
