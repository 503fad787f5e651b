"""How the libraries did, side by side."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from tests.tasks.task import KINDS
from tests.tasks.tries import Try


def table(results: Mapping[str, Sequence[Try]]) -> str:
    """A row for each kind and one for all; of each library the successes and seconds per task."""
    rows = [["", *results]]
    there = {each.task.kind for tries in results.values() for each in tries}
    for kind in (kind for kind in KINDS if kind in there):
        rows.append(
            [kind, *(_cell([t for t in r if t.task.kind == kind]) for r in results.values())]
        )
    rows.append(["all", *map(_cell, results.values())])
    rows.append(["median", *(f"{_median(tries):.1f} s" for tries in results.values())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
             for row in rows]  # fmt: skip
    return "\n".join(lines)


def _cell(tries: Sequence[Try]) -> str:
    if not tries:
        return "-"
    done = sum(not each.faults for each in tries)
    seconds = sum(each.seconds for each in tries) / len(tries)
    return f"{done} of {len(tries)}, {seconds:.1f} s"


def _median(tries: Sequence[Try]) -> float:
    return statistics.median(each.seconds for each in tries) if tries else 0.0


def line(library: str, each: Try, *, secret: bool = False) -> str:
    """How one task went. Of the held-out ones nobody is told what was wrong."""
    told = f"{library}: {each.task.name:12} {each.seconds:5.1f} s"
    if secret:
        return told
    calls = " ".join(each.calls) or "no tools"
    if not each.faults:
        return f"{told}  done  ({calls})"
    said = " ".join(each.answer.split())[:160]
    return f"{told}  {'; '.join(each.faults)}  ({calls}): {said!r}"
