"""What the agent remembers from one conversation to the next: notes, and what it knows of the user.

Two files, shared with Hermes Agent and open to any editor: ``memories/MEMORY.md`` and ``USER.md``,
entries between lines that hold a ``§`` alone. An entry's id is made of its text; when it was
written is kept in a file of ours, so that the two stay as they are for others.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hermes_jupyter.store.locks import locked
from tools.files.local_place import LOCAL
from tools.safety.instructions import order_in

Target = Literal["memory", "user"]

FILES: dict[Target, str] = {"memory": "MEMORY.md", "user": "USER.md"}
LIMITS: dict[Target, int] = {"memory": 2_200, "user": 1_375}
"""Characters of a whole file; Hermes Agent's own numbers."""
DELIMITER = "\n§\n"
TITLES: dict[Target, str] = {"memory": "Your notes", "user": "About the user"}


class MemoryProblem(ValueError):
    """Why a change cannot be made, for the model to mend."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something remembered."""

    text: str
    written: str = ""
    """The day, ``2026-11-30``; empty if somebody else wrote it."""

    @property
    def id(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:6]


@dataclass(frozen=True, slots=True)
class Change:
    """One step: add ``text``, or replace or remove the entry that ``old`` names."""

    action: Literal["add", "replace", "remove"]
    text: str = ""
    old: str = ""
    """Its id, or a part of its text that no other entry has."""


class Memory:
    """Both files. Any thread; other kernels may write too.

    Parameters
    ----------
    home
        The folder of Hermes, usually ``~/.hermes``.
    """

    def __init__(self, home: Path) -> None:
        self.folder = home / "memories"
        self._dates = home / "jupyter" / "memory-dates.json"
        self._lock = self._dates.with_suffix(".lock")

    def path(self, target: Target) -> Path:
        return self.folder / FILES[target]

    def entries(self, target: Target) -> list[Entry]:
        """As they are on disk now.

        Raises
        ------
        MemoryProblem
            If the file is there and cannot be read as UTF-8.
        """
        dates = self._read_dates()
        return [Entry(text, dates.get(Entry(text).id, "")) for text in self._texts(target)]

    def change(self, target: Target, changes: Sequence[Change]) -> list[Entry]:
        """Make all changes or none; the entries as they are then.

        Raises
        ------
        MemoryProblem
            If one is not possible. Nothing is written then.
        OSError
            If the disk does not take it.
        """
        with locked(self._lock):
            texts = before = self._texts(target)
            for change in changes:
                texts = _changed(texts, change)
            _must_fit(target, texts, before)
            if texts != before:
                self._write(target, texts)
        return self.entries(target)

    @staticmethod
    def step(action: Literal["add", "replace", "remove"], text: str = "", old: str = "") -> Change:
        """One change, for callers that know this object only."""
        return Change(action, text, old)

    @staticmethod
    def usage(target: Target, entries: Sequence[Entry]) -> str:
        """How full it is: ``12% — 264/2200 chars``."""
        chars, limit = len(DELIMITER.join(entry.text for entry in entries)), LIMITS[target]
        return f"{100 * chars // limit}% — {chars}/{limit} chars"

    def snapshot(self) -> str:
        """What a system prompt says of both; "" if nothing is remembered, or it cannot be read."""
        parts = []
        for target in FILES:
            try:
                texts = [text for text in self._texts(target) if not order_in(text)]
            except MemoryProblem:
                continue
            if texts:
                parts.append(f"{TITLES[target]}:\n" + "\n".join(f"- {text}" for text in texts))
        return "\n\n".join(parts)

    def _texts(self, target: Target) -> list[str]:
        path = self.path(target)
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise MemoryProblem(f"{path} cannot be read: {error}. A person must mend it.") from None
        parts = "\n".join(text.splitlines()).split(DELIMITER)
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def _write(self, target: Target, texts: Sequence[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        LOCAL.write_bytes_atomic(str(self.path(target)), DELIMITER.join(texts).encode(), 0o600)
        today = time.strftime("%Y-%m-%d")
        known = self._read_dates()
        other: Target = "user" if target == "memory" else "memory"
        kept = {Entry(text).id for text in [*texts, *self._texts(other)]}
        dates = {key: day for key, day in known.items() if key in kept}
        dates |= {Entry(text).id: known.get(Entry(text).id, today) for text in texts}
        LOCAL.write_bytes_atomic(str(self._dates), json.dumps(dates).encode(), 0o600)

    def _read_dates(self) -> dict[str, str]:
        try:
            told = json.loads(self._dates.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}


def _changed(texts: Sequence[str], change: Change) -> list[str]:
    if change.action == "add":
        text = _checked(change.text)
        return [*texts, text] if text not in texts else list(texts)
    found = _named(texts, change.old)
    if change.action == "remove":
        return [text for text in texts if text != found]
    text = _checked(change.text)
    return list(dict.fromkeys(text if each == found else each for each in texts))


def _checked(text: str) -> str:
    text = "\n".join(text.strip().splitlines())
    if not text:
        raise MemoryProblem("'content' is empty: write what is to be remembered")
    if any(line.strip() == "§" for line in text.split("\n")):
        raise MemoryProblem("a line that holds only § separates entries: leave it out")
    if order := order_in(text):
        raise MemoryProblem(f"not kept, because it {order}; keep facts, not orders")
    return text


def _named(texts: Sequence[str], old: str) -> str:
    old = old.strip()
    if not old:
        raise MemoryProblem("'old_text' is empty: give the id of an entry, or a part of its text")
    found = [text for text in texts if Entry(text).id == old] or [t for t in texts if old in t]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{Entry(text).id}: {text[:60]!r}" for text in found or texts)
    if not found:
        raise MemoryProblem(f"no entry has {old!r}. There are: {listed or 'none'}")
    raise MemoryProblem(f"{len(found)} entries have {old!r}; use the id. {listed}")


def _must_fit(target: Target, texts: Sequence[str], before: Sequence[str]) -> None:
    chars, limit = len(DELIMITER.join(texts)), LIMITS[target]
    if chars > limit and chars >= len(DELIMITER.join(before)):  # a person may write more
        raise MemoryProblem(
            f"this would be {chars} of {limit} characters: remove or shorten entries in the same "
            "call (operations), then add"
        )
