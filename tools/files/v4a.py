"""The V4A patch format: what a patch text asks for, file by file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tools.files.problems import Problem

HEADER = re.compile(r"^\*\*\* (Update|Add|Delete|Move) File:\s*(.+?)\s*$")
MOVE_TO = re.compile(r"^\*\*\* Move to:\s*(.+?)\s*$")
END_OF_FILE = "*** End of File"
UNIFIED_RANGE = re.compile(r"^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
FORMAT = (
    "A patch looks like this:\n*** Begin Patch\n*** Update File: path\n@@ a line above the change\n"
    " a line that stays\n-a line that goes\n+a line that comes\n*** End Patch"
)

Action = Literal["Update", "Add", "Delete", "Move"]


@dataclass(slots=True)
class Hunk:
    """One change inside a file."""

    anchors: list[str] = field(default_factory=list)
    """Lines that stand somewhere above it."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.old and not self.new


@dataclass(slots=True)
class Operation:
    """What is asked for one file."""

    action: Action
    path: str
    target: str = ""
    """Where it is moved to."""
    hunks: list[Hunk] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    """Lines of an added file."""


def parse(patch: str) -> list[Operation]:
    """Read a patch.

    Raises
    ------
    Problem
        If it is no V4A patch; the message shows the format.
    """
    operations: list[Operation] = []
    for number, line in _body(patch):
        header = HEADER.match(line)
        if header:
            operations.append(_operation(header))
        elif operations:
            _take(operations[-1], line, number)
        elif line.strip():
            raise Problem(f"Line {number} of the patch comes before any file header. {FORMAT}")
    if not operations:
        raise Problem(f"The patch names no file. {FORMAT}")
    for operation in operations:
        _finish(operation)
    return operations


def paths(patch: str) -> list[str]:
    """All paths that a patch names, readable or not as it may be otherwise."""
    named: list[str] = []
    for line in patch.splitlines():
        header, target = HEADER.match(line), MOVE_TO.match(line)
        if header:
            named += header[2].split(" -> ") if header[1] == "Move" else [header[2]]
        elif target:
            named.append(target[1])
    return [path.strip() for path in named]


def _body(patch: str) -> Iterator[tuple[int, str]]:
    """Numbered lines between Begin and End; both may be missing, and prose around them is left."""
    lines = patch.replace("\r\n", "\n").split("\n")
    begins = [at for at, line in enumerate(lines) if line.strip() == "*** Begin Patch"]
    start = begins[0] + 1 if begins else 0
    for number, line in enumerate(lines[start:], start + 1):
        if line.rstrip() == "*** End Patch":
            return
        if not line.startswith("```"):
            yield number, line


def _operation(header: re.Match[str]) -> Operation:
    action, path = header[1], header[2]
    if action != "Move":
        return Operation(action, path)  # type: ignore[arg-type]  # one of the regex's four words
    source, arrow, target = path.partition(" -> ")
    if arrow:
        return Operation("Move", source.strip(), target.strip())
    return Operation("Move", path)


def _take(operation: Operation, line: str, number: int) -> None:
    target = MOVE_TO.match(line)
    if target and operation.action in ("Update", "Move"):
        operation.target = target[1]
    elif operation.action == "Add":
        operation.content.append(line)
    elif operation.action == "Delete":
        if line.strip():
            raise Problem(f"Line {number} of the patch follows a Delete, which takes no lines")
    else:
        _take_hunk_line(operation.hunks, line, number)


def _take_hunk_line(hunks: list[Hunk], line: str, number: int) -> None:
    if line.startswith("@@"):
        _take_anchor(hunks, line[2:])
        return
    if line.rstrip() == END_OF_FILE:
        if hunks:
            hunks[-1].at_end = True
        return
    if line.startswith("*** "):
        raise Problem(f"Line {number} of the patch is no known header: {line!r:.100}. {FORMAT}")
    if not hunks:
        hunks.append(Hunk())
    sign, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
    if sign != "+":
        hunks[-1].old.append(rest)
    if sign != "-":
        hunks[-1].new.append(rest)


def _take_anchor(hunks: list[Hunk], rest: str) -> None:
    """Start a hunk, or add a second anchor to one that has no lines yet."""
    if not hunks or not hunks[-1].is_empty:
        hunks.append(Hunk())
    anchor = "" if UNIFIED_RANGE.match(rest.strip()) else rest.strip().removesuffix("@@").strip()
    if anchor:
        hunks[-1].anchors.append(anchor)


def _finish(operation: Operation) -> None:
    operation.hunks = [hunk for hunk in operation.hunks if not _trim(hunk).is_empty]
    if operation.action == "Add":
        operation.content = _added(operation.path, operation.content)
    elif operation.action == "Move" and not operation.target:
        raise Problem(f"Move File needs a target: *** Move File: {operation.path} -> new/path")
    elif operation.action == "Update" and not operation.hunks and not operation.target:
        raise Problem(f"The update of {operation.path} changes nothing. {FORMAT}")


def _trim(hunk: Hunk) -> Hunk:
    """Drop blank lines at the end that only separate hunks in the patch text."""
    while hunk.old and hunk.new and hunk.old[-1] == hunk.new[-1] == "":
        hunk.old.pop()
        hunk.new.pop()
    return hunk


def _added(path: str, lines: Iterable[str]) -> list[str]:
    content = list(lines)
    while content and not content[-1].strip():
        content.pop()
    if not any(line.startswith("+") for line in content):
        return content
    if any(line.strip() and not line.startswith("+") for line in content):
        raise Problem(f"In the new file {path}, every line must begin with '+'")
    return [line[1:] for line in content]
