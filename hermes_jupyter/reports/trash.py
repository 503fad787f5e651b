"""The report on deleted files, and the way to have one back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from tools.files.problems import Problem, describe, shown
from tools.files.workspace import place_of

SHOWN_ENTRIES = 50


def trash(magics: Any, words: Sequence[str]) -> None:
    """What is in the trash, oldest first; with an id or a path, bring that file back."""
    session = magics.desktop.hermes.session()
    kept, files = session.trash, place_of(session.environment)
    if words:
        try:
            print(f"restored {shown(kept.restore(kept.find(words[0]), files=files))}")
        except Problem as problem:
            raise ConfigurationError(str(problem)) from None
        except OSError as error:
            raise ConfigurationError(describe(error)) from None
        return
    entries = kept.entries(everywhere=True)
    for entry in entries[-SHOWN_ENTRIES:]:
        print(_line(entry))
    more = len(entries) - SHOWN_ENTRIES
    if more > 0:
        print(f"and {more} older ones")
    print("%hermes trash ID brings one back" if entries else "The trash is empty.")


def _line(entry: Any) -> str:
    at = datetime.fromtimestamp(entry.kept_at)
    size = "link" if entry.is_link else f"{entry.size:,} bytes"
    path = f"{entry.where}:{entry.path}" if entry.where else entry.path
    return f"{entry.id}  {at:%Y-%m-%d %H:%M}  {entry.why:<8}  {size:>15}  {shown(path)}"
