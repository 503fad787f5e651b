"""From Interrupt to the end of the cell, in the three states in which a turn mostly is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation
from tests.benchmarks import kernel
from tests.benchmarks.rows import Row, spread
from tests.kernel.front import Front

RUNS = 7
MODEL = (
    conversation("delete", (call("terminal", command="rm old.log"),), "never"),
    conversation("sleep", (call("terminal", command="touch begun; sleep 30"),), "never"),
    conversation("talk", "word " * 2_000, delay=0.01),
)
Begun = Callable[[Front, Path, str, int], None]


def rows() -> Iterator[Row]:
    for number in kernel.versions():
        try:
            with kernel.started(number, *MODEL) as (front, folder):
                for what, prompt, begun in STATES:
                    seconds = [
                        interrupt(front, folder, prompt, begun, run) for run in range(1, RUNS + 1)
                    ]
                    ended = spread(seconds, 1e3)
                    yield Row(
                        what=f"interrupt {what}, slowest (ipykernel {number})",
                        value=ended.largest,
                        unit="ms",
                        target=300,
                        detail=f"median {ended.median:.0f} ms, n={RUNS}",
                    )
        except FileNotFoundError as error:
            yield Row(what=f"interrupt (ipykernel {number})", target=300, detail=str(error))


def interrupt(front: Front, folder: Path, prompt: str, begun: Begun, run: int) -> float:
    """Start a turn, wait until it is in its state, interrupt it: seconds until the reply."""
    request = front.execute(f"%%agent\n{prompt}")
    begun(front, folder, request, run)
    began = time.monotonic()
    front.interrupt()
    front.reply(request)
    seconds = time.monotonic() - began
    front.until_idle(request)
    return seconds


def waits_for_a_click(front: Front, _folder: Path, _request: str, run: int) -> None:
    if run == 1:  # later the kernel knows that this page shows widgets
        front.show_widgets()
    front.button("Deny", nth=run)


def runs_a_command(_front: Front, folder: Path, _request: str, _run: int) -> None:
    begun = folder / "begun"
    end = time.monotonic() + 20
    while not begun.exists():  # a command has no event for "I run": its file is the event
        if time.monotonic() > end:
            raise TimeoutError("the command did not begin")
        time.sleep(0.01)
    begun.unlink()


def streams(front: Front, _folder: Path, request: str, _run: int) -> None:
    def seen() -> bool:
        return any(
            "word word" in str(message["content"]["data"])
            for message in front.of(request)
            if message["msg_type"] == "comm_msg"
        )

    front.until(seen, "streamed text")


STATES: tuple[tuple[str, str, Begun], ...] = (
    ("while it waits for a click", "delete", waits_for_a_click),
    ("during a terminal command", "sleep", runs_a_command),
    ("while text streams", "talk", streams),
)
