"""A model that writes a thousand tokens a second for a minute, through a real kernel."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import zmq

from hermes_jupyter.testing.stub_server import Exchange, StubServer
from tests.benchmarks import kernel
from tests.benchmarks.rows import Row, number, spread
from tests.kernel.front import Front

SECONDS = 60
TOKENS = 1_000
"""A second."""
SLICES = 50
"""In which they come, a second."""
PARAGRAPH = (
    "The **third quarter** was better than the second in all four regions, and most so in the "
    "north, where the new depot cut the time to deliver from five days to two. Returns fell by "
    "a tenth; what is left of them is nearly all *shoes* that did not fit.\n\n"
)
LIST = "".join(f"- region {n}: sold {n * 37} of {n * 50}, `rate_{n}` is up\n" for n in range(6))
CODE = (
    "```python\nfor region, part in sales.groupby('region'):\n    print(region, len(part))\n```\n\n"
)
TEXT = f"## What changed\n\n{PARAGRAPH * 3}{LIST}\n{CODE}"
RECORD = "update_display_data"
"""What takes the place of the widgets when the turn has ended, in four formats."""
UPDATES = ("comm_msg", "comm_open")
TOGETHER = 0.03
"""Seconds within which messages are one update to an eye."""


def tokens() -> list[str]:
    """The text in pieces as models send them: four or five characters."""
    pieces = []
    at = 0
    while at < len(TEXT):
        size = 4 + at % 2
        pieces.append(TEXT[at : at + size])
        at += size
    return pieces


class Stream(StubServer):
    """Writes for so many seconds."""

    def __init__(self, seconds: float, rate: int = TOKENS) -> None:
        self._seconds, self._rate = seconds, rate
        self.text_bytes = 0
        self.ended = 0.0
        super().__init__(self._play)

    def _play(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.send_json({"object": "list", "data": [{"id": "stream", "object": "model"}]})
            return
        pieces, said = tokens(), 0
        exchange.begin_stream()
        began = time.monotonic()
        for turn in range(int(self._seconds * SLICES)):
            time.sleep(max(0.0, began + turn / SLICES - time.monotonic()))
            while said < (turn + 1) * self._rate / SLICES:
                piece = pieces[said % len(pieces)]
                self.text_bytes += len(piece.encode())
                exchange.send_event({"choices": [{"index": 0, "delta": {"content": piece}}]})
                said += 1
        exchange.send_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.ended = time.monotonic()
        exchange.send_event("[DONE]")
        exchange.end_stream()


@dataclass
class Tap:
    """Counts what the kernel publishes, byte by byte, as it goes to a front end."""

    port: int
    times: list[float] = field(default_factory=list)
    """Of messages that change what is shown."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of all messages, by their kind."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Tap:
        self._context: Any = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.connect(f"tcp://127.0.0.1:{self.port}")
        self._socket.subscribe(b"")
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5)
        self._socket.close(0)
        self._context.term()

    def _listen(self) -> None:
        while not self._stop.is_set():
            if not self._socket.poll(100):
                continue
            frames = self._socket.recv_multipart()
            kind = json.loads(frames[3])["msg_type"]
            self.sizes[kind] = self.sizes.get(kind, 0) + sum(map(len, frames))
            if kind in UPDATES:
                self.times.append(time.monotonic())


def rows() -> Iterator[Row]:
    for version in kernel.versions():
        what = f"{TOKENS:,} tokens a second for {SECONDS} s (ipykernel {version})"
        try:
            with kernel.started(version) as (front, _), Stream(SECONDS) as server:
                tap, seconds = streamed(front, server)
                text = server.text_bytes
        except FileNotFoundError as error:
            yield Row(what=f"{what}: bytes on the wire / bytes of text", target=3,
                      detail=str(error))  # fmt: skip
            continue
        record = tap.sizes.pop(RECORD, 0)
        streamed_bytes = sum(tap.sizes.values())
        told = ", ".join(f"{kind} {number(size / 1e3)}" for kind, size in tap.sizes.items())
        yield Row(
            what=f"{what}: bytes on the wire / bytes of text",
            value=streamed_bytes / text,
            target=3,
            detail=f"{number(text / 1e3)} kB of text; {told} kB; then its record: "
            f"{number(record / 1e3)} kB",
        )
        yield Row(
            what=f"{what}: updates in any second",
            value=busiest(updates(tap.times)),
            target=10,
            detail=f"{len(tap.times)} messages",
        )
        yield Row(
            what=f"{what}: the turn ends after the last token",
            value=seconds,
            unit="s",
            target=1,
        )


def streamed(front: Front, server: Stream) -> tuple[Tap, float]:
    """What was published of a turn that streams, and how long it ended after its last token."""
    front.run(f"import os; os.environ['OPENAI_BASE_URL'] = {server.url!r}")
    with Tap(front.manager.iopub_port) as tap:
        request = front.execute("%%agent\ntell me all")
        front.show_widgets()
        status = front.status(request, 2 * SECONDS + 60)
        seconds = time.monotonic() - server.ended
    if status != "ok":
        raise RuntimeError(f"the turn failed: {front.tail()}")
    return tap, seconds


def updates(times: list[float]) -> list[float]:
    """When something changed to the eye: messages that belong together count once."""
    return [at for at, before in zip(times, [0.0, *times], strict=False) if at - before > TOGETHER]


def busiest(times: list[float]) -> float:
    """The most updates in the middle of the stream within a second, at the 99th percentile."""
    inner = times[len(times) // 10 : -len(times) // 10]
    counts = [
        sum(1 for other in inner[place:] if other < begin + 1) for place, begin in enumerate(inner)
    ]
    return spread(counts).p99 if counts else 0.0
