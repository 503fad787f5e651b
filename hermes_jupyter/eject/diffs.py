"""A unified diff over several files, taken apart file by file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_FILE = "/dev/null"
BARE = "\\ No newline at end of file"


class UnclearDiff(ValueError):
    """It is no diff that says everything."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes of one file."""

    name: str
    """Without the ``a/`` in front."""
    kind: str
    """``new``, ``gone`` or ``changed``."""
    hunks: tuple[str, ...]
    """The lines, from the first ``@@`` on."""

    @property
    def content(self) -> str:
        """All of a new file."""
        lines: list[str] = []
        for line in self.hunks:
            if line == BARE:
                lines[-1] = lines[-1].removesuffix("\n")
            elif not line.startswith("@@"):
                lines.append(f"{line[1:]}\n")
        return "".join(lines)


def apart(diff: str) -> Iterator[FileDiff]:
    """The files of a diff.

    Raises
    ------
    UnclearDiff
        If something is missing.
    """
    lines = diff.removesuffix("\n").split("\n")
    at = 0
    while at < len(lines):
        if not (lines[at].startswith("--- ") and lines[at + 1 : at + 2]):
            raise UnclearDiff(f"a file was expected, not {lines[at]!r:.80}")
        old, new = lines[at][4:], lines[at + 1][4:]
        begin = at = at + 2
        while at < len(lines) and (hunk := _HUNK.match(lines[at])):
            at = _end(lines, at + 1, _count(hunk[2]), _count(hunk[4]))
        kind = "new" if old == NO_FILE else "gone" if new == NO_FILE else "changed"
        name = new.removeprefix("b/") if kind == "new" else old.removeprefix("a/")
        yield FileDiff(name, kind, tuple(lines[begin:at]))


def _end(lines: list[str], at: int, gone: int, come: int) -> int:
    """The line behind a hunk."""
    while gone > 0 or come > 0:
        sign = lines[at][:1] if at < len(lines) else ""
        if sign not in ("-", "+", " ", "\\"):
            raise UnclearDiff("a hunk is cut")
        gone -= sign in "- "
        come -= sign in "+ "
        at += 1
    return at + (lines[at : at + 1] == [BARE])


def _count(said: str | None) -> int:
    return 1 if said is None else int(said)
