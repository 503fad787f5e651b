"""The ``replace`` mode of patch: one passage of a file becomes another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tools.files.matching import (
    TYPOGRAPHY,
    candidates,
    excerpt,
    find_block,
    find_similar,
    rewritten,
    without_line_numbers,
)
from tools.files.problems import Problem
from tools.files.text import Edit

ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\'": "'"}
LISTED_PLACES = 10
Occurrences = Literal["one", "all"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """The edits of a text, and how their places were found ("exact" if to the letter)."""

    edits: tuple[Edit, ...]
    strategy: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    old: str
    new: str
    reading: str


def find_replacement(text: str, old: str, new: str, occurrences: Occurrences) -> Replacement:
    r"""The edits that put ``new`` in the place of ``old``; all texts with ``\n`` at line ends.

    Raises
    ------
    Problem
        If there is no such passage, or several and only one may be changed.
    """
    for wanted in _readings(old, new):
        found = _exactly(text, wanted) or _typographically(text, wanted) or _by_lines(text, wanted)
        if found:
            return _checked(text, found, wanted, occurrences)
    return _checked(text, _by_similarity(text, old, new), _Wanted(old, new, ""), occurrences)


def _readings(old: str, new: str) -> Iterator[_Wanted]:
    yield _Wanted(old, new, "")
    plain = without_line_numbers(old)
    if plain:
        yield _Wanted(plain, without_line_numbers(new) or new, "without the line numbers")
    if "\n" not in old and any(escape in old for escape in ESCAPES):
        yield _Wanted(_unescaped(old), _unescaped(new), "with its escapes resolved")


def _unescaped(text: str) -> str:
    for escape, character in ESCAPES.items():
        text = text.replace(escape, character)
    return text


def _exactly(text: str, wanted: _Wanted) -> Replacement | None:
    starts = _find_all(text, wanted.old)
    edits = tuple(Edit(at, at + len(wanted.old), wanted.new) for at in starts)
    return Replacement(edits, wanted.reading or "exact") if edits else None


def _typographically(text: str, wanted: _Wanted) -> Replacement | None:
    """Quotes and dashes count as their plain forms; what does not change keeps the file's."""
    old, new = wanted.old, wanted.new
    starts = _find_all(text.translate(TYPOGRAPHY), old.translate(TYPOGRAPHY))
    head = _common_start(old, new)
    tail = _common_start(old[head:][::-1], new[head:][::-1])
    middle = new[head : len(new) - tail]
    edits = tuple(Edit(at + head, at + len(old) - tail, middle) for at in starts)
    return Replacement(edits, "ignoring typography") if edits else None


def _by_lines(text: str, wanted: _Wanted) -> Replacement | None:
    old, new = _blocks(wanted.old, wanted.new)
    lines = text.split("\n")
    places = find_block(lines, old)
    return _replacement(lines, places.starts, places.strategy, old, new)


def _by_similarity(text: str, old: str, new: str) -> Replacement | None:
    old_block, new_block = _blocks(old, new)
    lines = text.split("\n")
    places = find_similar(lines, old_block, new_block)
    return _replacement(lines, places.starts, places.strategy, old_block, new_block)


def _replacement(
    lines: list[str], starts: tuple[int, ...], strategy: str, old: list[str], new: list[str]
) -> Replacement | None:
    edits = []
    for start in starts:
        block = rewritten(lines[start : start + len(old)], old, new)
        if block is None:
            return None
        edits.append(line_edit(lines, start, start + len(old), block))
    return Replacement(tuple(edits), strategy) if edits else None


def line_edit(lines: list[str], start: int, end: int, block: list[str]) -> Edit:
    """Replace lines ``start`` to ``end`` by others; without others their line ends go too."""
    first = sum(len(line) + 1 for line in lines[:start])
    last = first + sum(len(line) + 1 for line in lines[start:end])
    if start < end == len(lines):  # the last line has no line end of its own
        return Edit(max(0, first - (not block)), last - 1, "\n".join(block))
    return Edit(first, last, "".join(f"{line}\n" for line in block))


def _blocks(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts as lines, without the blank lines that frame the old one."""
    before, after = old.split("\n"), new.split("\n")
    for end in (0, -1):
        while len(before) > 1 and not before[end].strip():
            before.pop(end)
            if after and not after[end].strip():
                after.pop(end)
    return before, after if after != [""] else []


def _checked(
    text: str,
    found: Replacement | None,
    wanted: _Wanted,
    occurrences: Occurrences,
) -> Replacement:
    lines = text.split("\n")
    if found is None:
        raise Problem(
            _not_found(text, wanted), candidates=candidates(lines, wanted.old.split("\n"))
        )
    if len(found.edits) > 1 and (occurrences == "one" or found.strategy == "similar lines"):
        numbers = [text.count("\n", 0, edit.start) for edit in found.edits]
        raise Problem(
            f"old_string fits {len(numbers)} places (lines "
            f"{', '.join(str(number + 1) for number in numbers[:LISTED_PLACES])}); add lines "
            "around it until it fits one, or pass replace_all=true to change all of them",
            candidates=[excerpt(lines, number, 3) for number in numbers[:3]],
        )
    return found


def _not_found(text: str, wanted: _Wanted) -> str:
    said = "old_string is not in the file"
    if wanted.new.strip() and wanted.new in text:
        return said + ", but new_string is: the change may have been made already"
    return said + "; read the file and copy the lines as they are there, without line numbers"


def _common_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _find_all(text: str, wanted: str) -> list[int]:
    starts, at = [], text.find(wanted)
    while at >= 0:
        starts.append(at)
        at = text.find(wanted, at + len(wanted))
    return starts
