"""One measured figure, and the table of all of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("what", "target", "measured", "", "theirs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure with its target, and what others need for the same."""

    what: str
    value: float | None = None
    """The figure that the target speaks of; None if it could not be measured."""
    unit: str = ""
    target: float | None = None
    """The most that was promised."""
    detail: str = ""
    """More about the samples, or why there are none."""
    theirs: str = ""

    @property
    def met(self) -> bool | None:
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target

    def cells(self) -> tuple[str, ...]:
        target = "" if self.target is None else f"<= {number(self.target)} {self.unit}"
        if self.value is None:
            return self.what, target.strip(), f"not measured: {self.detail}", "", self.theirs
        detail = f"  ({self.detail})" if self.detail else ""
        measured = f"{number(self.value)} {self.unit}".strip() + detail
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return self.what, target.strip(), measured, verdict, self.theirs


@dataclass(frozen=True, slots=True)
class Spread:
    """How the samples of one figure lie."""

    median: float
    p99: float
    largest: float
    count: int

    def detail(self, unit: str) -> str:
        median, p99, largest = map(number, (self.median, self.p99, self.largest))
        return f"median {median}, p99 {p99}, max {largest} {unit}, n={self.count}"


def spread(samples: Sequence[float], scale: float = 1.0) -> Spread:
    """Median, 99th percentile and maximum, each times ``scale``."""
    scaled = sorted(sample * scale for sample in samples)
    place = math.ceil(0.99 * len(scaled)) - 1
    return Spread(statistics.median(scaled), scaled[place], scaled[-1], len(scaled))


def number(value: float) -> str:
    """Three digits that count, never an exponent."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(rows: Sequence[Row]) -> str:
    """The rows below their headings, in columns."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    aligned = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    heading, *body = aligned
    return "\n".join([heading, "-" * len(heading), *body])
