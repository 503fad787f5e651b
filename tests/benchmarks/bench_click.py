"""From a click on the wire to the Python callback, while the cell is busy."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from tests.benchmarks import counting, kernel
from tests.benchmarks.rows import Row, spread
from tests.kernel.front import Front

CLICKS = 200
SECONDS_BETWEEN = 0.005
"""As a person clicks: the kernel waits again before the next one comes."""


def rows() -> Iterator[Row]:
    for number in kernel.versions():
        what = f"click -> callback in a busy cell, p99 (ipykernel {number})"
        try:
            with kernel.started(number) as (front, _):
                delays = spread(delays_of_clicks(front), 1e3)
        except FileNotFoundError as error:
            yield Row(what=what, unit="ms", target=10, detail=str(error))
            continue
        yield Row(
            what=what,
            value=delays.p99,
            unit="ms",
            target=10,
            detail=delays.detail("ms"),
            theirs="ipywidgets alone: after the cell has ended",
        )


def delays_of_clicks(front: Front) -> list[float]:
    """Seconds from sending each click to its callback, by the clock that processes share."""
    request = front.execute(counting.cell(CLICKS))
    front.until_text("ready")
    button = front.until_widget("ButtonModel", description=counting.LABEL)
    sent = []
    for _ in range(CLICKS):
        time.sleep(SECONDS_BETWEEN)
        sent.append(time.monotonic())
        front.until_idle(front.click(button))
    if front.status(request) != "ok":
        raise RuntimeError(f"the cell failed: {front.tail()}")
    heard = json.loads(front.text(request).split("heard", 1)[1])
    return [there - here for here, there in zip(sent, heard, strict=True)]
