"""Unified differences that stay fast on large files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

CONTEXT = 3
MAX_COMPARED_LINES = 20_000
MAX_EXACT_LINES = 1_000
"""Above this, lines that are very frequent do not count as places to align at."""
NO_NEWLINE = "\\ No newline at end of file"


def unified_diff(before: str, after: str, old_name: str, new_name: str) -> str:
    """The difference of two texts; empty if there is none.

    Equal lines at both ends are set aside first: `difflib` needs seconds for a large file of
    which one line changed.
    """
    old, new = _lines(before), _lines(after)
    if old == new:
        return ""
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    start = max(0, first - CONTEXT)
    end = max(0, last - CONTEXT)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    header = [f"--- {old_name}", f"+++ {new_name}"]
    if len(old) + len(new) > MAX_COMPARED_LINES:
        return "\n".join([*header, f"[{len(old):,} lines replaced by {len(new):,} lines]"]) + "\n"
    return "\n".join([*header, *_hunks(old, new, start)]) + "\n"


def capped(text: str, lines: int, chars: int) -> str:
    """The first lines of a text, with a mark that says how many are left out."""
    kept = text.split("\n", lines)
    rest = kept.pop() if len(kept) > lines else ""
    short = "\n".join(kept)
    if len(short) > chars:
        return f"{short[:chars]}\n…[cut: {len(text) - chars:,} characters more]"
    return f"{short}\n…[cut: {rest.count(chr(10)) + 1:,} lines more]" if rest else text


def count_changes(diff: str) -> tuple[int, int]:
    """Lines added and removed."""
    body = diff.split("\n")[2:]
    return sum(line[:1] == "+" for line in body), sum(line[:1] == "-" for line in body)


def _hunks(old: list[str], new: list[str], start: int) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(new) > MAX_EXACT_LINES)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(i1 + start, i2 - i1)} +{_range(j1 + start, j2 - j1)} @@"
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                yield from _marked(" ", old[a1:a2])
            else:
                yield from _marked("-", old[a1:a2])
                yield from _marked("+", new[b1:b2])


def _range(start: int, count: int) -> str:
    first = start + 1 if count else start
    return f"{first}" if count == 1 else f"{first},{count}"


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def _lines(text: str) -> list[str]:
    """Lines with their line feed; ``splitlines`` would also cut at form feeds and the like."""
    pieces = text.split("\n")
    ended = [piece + "\n" for piece in pieces[:-1]]
    return [*ended, pieces[-1]] if pieces[-1] else ended


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count
