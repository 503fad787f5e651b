"""Parts of the output of a job as a model reads them: by lines, or from a byte on."""

from __future__ import annotations

from dataclasses import dataclass

from tools.environments.jobs import Job, plain

MOST_BYTES = 40_000
"""Of a page by bytes."""
ALL_BYTES = 4_000_000
"""More than any place keeps of one job."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a log."""

    text: str
    first: int
    """Number of the first line shown, counted from 0."""
    shown: int
    total: int
    forgotten: int
    """Lines from the start that are no longer kept."""
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Output between two bytes."""

    text: str
    start: int
    """The byte that was asked for, or the oldest one that is kept."""
    next: int
    """Where to go on."""
    total: int


def page(job: Job, offset: int | None, limit: int) -> Page:
    """``limit`` lines from line ``offset`` on (0 is the first ever); the last ones if None."""
    kept = job.read(0, ALL_BYTES)
    lines = plain(kept.data).split("\n")
    if not lines[-1]:
        lines.pop()
    forgotten = kept.lines_before
    start = max(0, len(lines) - limit if offset is None else offset - forgotten)
    part = lines[start : start + limit]
    total = forgotten + len(lines)
    return Page("\n".join(part), forgotten + start, len(part), total, forgotten, kept.total)


def stretch(job: Job, cursor: int, limit: int) -> Stretch:
    """At most ``limit`` lines from a byte on; of what is printed now, an unfinished line too."""
    output = job.read(cursor, MOST_BYTES)
    data = output.data
    breaks = [at for at, byte in enumerate(data) if byte == ord("\n")]
    if len(breaks) > limit:
        data = data[: breaks[limit - 1] + 1]
    elif output.end < output.total and breaks:  # the page is full: end it with a line
        data = data[: breaks[-1] + 1]
    else:
        data = _without_half_a_letter(data)
    start = output.start
    return Stretch(plain(data), start, start + len(data), output.total)


def _without_half_a_letter(data: bytes) -> bytes:
    """The bytes without the start of a UTF-8 sequence whose rest is still to come."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0b1100_0000:
            length = 2 if byte < 0b1110_0000 else 3 if byte < 0b1111_0000 else 4
            return data[:-back] if back < length else data
        if byte < 0b1000_0000:
            break
    return data
