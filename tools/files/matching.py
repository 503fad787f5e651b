"""Find the lines that a model means, though it did not copy them exactly.

Five ways to compare lines, strict ones first, and one by similarity. Whoever asks must find one
place only; what does not fit clearly is refused, with the places that come near.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MIN_FUZZY_CHARS = 3
MIN_SQUEEZED_CHARS = 8
MIN_SIMILAR_LINES = 3
LINE_SIMILARITY = 0.6
BLOCK_SIMILARITY = 0.85
MARGIN = 0.1
"""How far the best similar block must be ahead of the next one."""
MAX_COMPARED_LINES = 5_000
COMPARED_CHARS = 300
CANDIDATES = 3
NUMBERED = re.compile(r" *(\d+)\|")
EXCERPT_LINES = 8

TYPOGRAPHY = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-",
    "\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ",
})  # fmt: skip
"""One character for one, so that places in the text stay the same."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to compare lines: equal keys are equal lines."""

    name: str
    key: Callable[[str], str]
    min_chars: int


def fold(line: str) -> str:
    """The line without what editors and models change: typography, kind of white space."""
    return " ".join(unicodedata.normalize("NFKC", line.translate(TYPOGRAPHY)).split())


def squeeze(line: str) -> str:
    return fold(line).replace(" ", "")


STRATEGIES = (
    Strategy("exact", str, 0),
    Strategy("ignoring white space at line ends", str.rstrip, MIN_FUZZY_CHARS),
    Strategy("ignoring indentation", str.strip, MIN_FUZZY_CHARS),
    Strategy("ignoring typography", fold, MIN_FUZZY_CHARS),
    Strategy("ignoring white space", squeeze, MIN_SQUEEZED_CHARS),
)


@dataclass(frozen=True, slots=True)
class Places:
    """Where a block of lines was found: indices of its first line. ``strategy`` says how."""

    starts: tuple[int, ...]
    strategy: str


def find_block(lines: Sequence[str], wanted: Sequence[str], begin: int = 0) -> Places:
    """All places of a block, by the strictest comparison that finds any."""
    size = sum(len(squeeze(line)) for line in wanted)
    for strategy in STRATEGIES:
        if wanted and size >= strategy.min_chars:
            starts = _starts(lines, [strategy.key(line) for line in wanted], strategy.key, begin)
            if starts:
                return Places(starts, strategy.name)
    return Places((), "")


def find_similar(lines: Sequence[str], old: Sequence[str], new: Sequence[str]) -> Places:
    """The one block that resembles ``old``, if a second one comes nowhere near.

    First and last line and every line that is to change must be there; only lines that stay
    may differ, and they are left as the file has them.
    """
    if len(old) < MIN_SIMILAR_LINES:
        return Places((), "")
    firm = {0, len(old) - 1, *_changed(old, new)}
    keys = [fold(line) for line in old]
    first_lines = (
        start
        for start in range(len(lines) - len(old) + 1)
        if all(fold(lines[start + index]) == keys[index] for index in sorted(firm))
    )
    scored = sorted(
        ((_score(lines[at : at + len(old)], keys), at) for at in first_lines), reverse=True
    )
    if not scored or scored[0][0] < BLOCK_SIMILARITY:
        return Places((), "")
    if len(scored) > 1 and scored[0][0] - scored[1][0] < MARGIN:
        return Places(tuple(sorted(at for _, at in scored)), "similar lines")
    return Places((scored[0][1],), "similar lines")


def rewritten(there: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str] | None:
    """The block ``there`` with the change from ``old`` to ``new`` made to it.

    Lines that stay are those of the file; new lines get the file's indentation. None if the
    indentation of ``old`` maps to more than one in the file and a new line would depend on it.
    """
    indents = _indents(old, there)
    result: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            result += there[i1:i2]
            continue
        for offset, line in enumerate(new[j1:j2]):
            at = i1 + offset
            if at < i2 and indent(old[at]) == indent(line):
                result.append(
                    indent(there[at]) + line[len(indent(line)) :] if line.strip() else line
                )
                continue
            moved = _reindented(line, indents)
            if moved is None:
                return None
            result.append(moved)
    return result


def candidates(lines: Sequence[str], wanted: Sequence[str]) -> list[dict[str, object]]:
    """Places that resemble the block, for a model to look at: line number and excerpt."""
    stripped_wanted = [line.strip()[:COMPARED_CHARS] for line in wanted]
    telling = max(stripped_wanted, key=len, default="")
    if len(telling) < MIN_FUZZY_CHARS:
        return []
    stripped = [line.strip()[:COMPARED_CHARS] for line in lines[:MAX_COMPARED_LINES]]
    close = difflib.get_close_matches(telling, set(stripped), n=CANDIDATES, cutoff=0.6)
    offset = stripped_wanted.index(telling)
    starts = sorted({max(0, stripped.index(each) - offset) for each in close})
    return [excerpt(lines, start, len(wanted)) for start in starts]


def excerpt(lines: Sequence[str], start: int, count: int) -> dict[str, object]:
    shown = lines[start : start + min(count, EXCERPT_LINES)]
    numbered = (f"{start + 1 + index}|{line[:200]}" for index, line in enumerate(shown))
    return {"line": start + 1, "excerpt": "\n".join(numbered)}


def indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def without_line_numbers(block: str) -> str | None:
    """The block without the ``12|`` that `read_file` shows before lines; None if it has none."""
    if not NUMBERED.match(block):
        return None
    lines = block.split("\n")
    numbered = [NUMBERED.match(line) for line in lines]
    if not lines[-1]:
        numbered.pop()
    if not numbered or not all(numbered):
        return None
    numbers = [int(found[1]) for found in numbered if found]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    ends = [found.end() for found in numbered if found] + [0]
    return "\n".join(line[end:] for line, end in zip(lines, ends, strict=False))


def _starts(
    lines: Sequence[str], keys: list[str], key: Callable[[str], str], begin: int
) -> tuple[int, ...]:
    keyed = list(map(key, lines))
    starts: list[int] = []
    at = begin - 1
    while True:
        try:
            at = keyed.index(keys[0], at + 1)
        except ValueError:
            return tuple(starts)
        if keyed[at : at + len(keys)] == keys:
            starts.append(at)


def _changed(old: Sequence[str], new: Sequence[str]) -> set[int]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    spans = (range(i1, i2) for tag, i1, i2, _, _ in matcher.get_opcodes() if tag != "equal")
    return {index for span in spans for index in span}


def _score(block: Sequence[str], keys: list[str]) -> float:
    ratios = [
        1.0 if fold(line) == key else _ratio(fold(line), key)
        for line, key in zip(block, keys, strict=True)
    ]
    return 0.0 if min(ratios) < LINE_SIMILARITY else sum(ratios) / len(ratios)


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one[:COMPARED_CHARS], other[:COMPARED_CHARS]).ratio()


def _indents(old: Sequence[str], there: Sequence[str]) -> dict[str, set[str]]:
    indents: dict[str, set[str]] = {}
    for line, found in zip(old, there, strict=True):
        if line.strip():
            indents.setdefault(indent(line), set()).add(indent(found))
    return indents


def _reindented(line: str, indents: dict[str, set[str]]) -> str | None:
    """The line with its indentation as the file has it; None if that is not clear."""
    own = indent(line)
    if not line.strip() or all(found == {known} for known, found in indents.items()):
        return line
    nearest = max((known for known in indents if own.startswith(known)), key=len, default=None)
    if nearest is None:
        return _dedented(line, indents)
    found = indents[nearest]
    if len(found) > 1:
        return None
    base = next(iter(found))
    deeper = own[len(nearest) :]
    if deeper and "\t" in base and "\t" not in own:
        deeper = _as_tabs(deeper, nearest, base)
    return base + deeper + line[len(own) :]


def _dedented(line: str, indents: dict[str, set[str]]) -> str | None:
    """For a line that is indented less than all of the old block: keep the distance."""
    known = min(indents, key=len)
    found = indents[known]
    base = next(iter(found))
    distance = len(known) - len(indent(line))
    if len(found) > 1 or distance > len(base) or not known.startswith(indent(line)):
        return None
    return base[: len(base) - distance] + line.lstrip(" \t")


def _as_tabs(deeper: str, known: str, base: str) -> str:
    width = len(known) // base.count("\t") if known else 4
    return "\t" * (len(deeper) // (width or 4)) or deeper
