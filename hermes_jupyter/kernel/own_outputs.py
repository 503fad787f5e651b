"""What cells have put out: read from the kernel's own output channel, as a front end does.

ipykernel keeps nothing of it. The channel is public and the same on all versions; a thread reads
it and keeps the newest messages as they came, to be parsed only when somebody asks.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

MAX_CELLS = 60
MAX_BYTES = 200_000
"""Of the output of one cell: the first half and the last are kept."""
MAX_MESSAGE = MAX_BYTES // 8
MAX_PICTURE = 1_500_000
"""Characters of an image in base64 that is kept whole, apart from its message."""
MAX_PICTURES = 16_000_000
"""Of the images of all cells; the oldest go."""
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
APART = "\0"
HEAD = 400
"""Characters of an image that stay in its message: they tell its size."""
SECONDS_TO_ARRIVE = 0.5
KINDS = (b"stream", b"display_data", b"execute_result", b"error", b"clear_output")
DELIMITER = b"<IDS|MSG>"
PARENT, CONTENT = 3, 5
"""Places behind the delimiter: signature, header, parent, metadata, content."""


@dataclass(slots=True)
class _Kept:
    """The messages of one request."""

    first: list[tuple[str, bytes]] = field(default_factory=list)
    last: deque[tuple[str, bytes]] = field(default_factory=deque)
    sizes: list[int] = field(default_factory=lambda: [0, 0])
    lost: bool = False
    ended: bool = False

    def add(self, kind: str, content: bytes) -> None:
        if len(content) > MAX_MESSAGE:
            content = _cut(content)
        if self.sizes[0] + len(content) <= MAX_BYTES // 2 and not self.last:
            self.first.append((kind, content))
            self.sizes[0] += len(content)
            return
        self.last.append((kind, content))
        self.sizes[1] += len(content)
        while self.last and self.sizes[1] > MAX_BYTES // 2:
            self.sizes[1] -= len(self.last.popleft()[1])
            self.lost = True


class _Pictures:
    """The newest images of cells, by the beginning of their text and a number."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._number = 0
        self._size = 0

    def taken_out(self, content: bytes) -> bytes:
        """The message with the beginnings of its images, and where the rest is."""
        told = json.loads(content)
        for data, kind, text in _images_in(told):
            if HEAD < len(text) <= MAX_PICTURE:
                data[kind] = f"{text[:HEAD]}{APART}{self._keep(text)}"
        return json.dumps(told).encode()

    def put_back(self, output: dict[str, Any]) -> dict[str, Any]:
        """The output with its images, as far as they are kept."""
        for data, kind, text in _images_in(output):
            head, found, name = text.partition(APART)
            if found:
                data[kind] = self._kept.get(name, head)
        return output

    def _keep(self, text: str) -> str:
        self._number += 1
        self._kept[str(self._number)] = text
        self._size += len(text)
        while self._size > MAX_PICTURES:
            self._size -= len(self._kept.popitem(last=False)[1])
        return str(self._number)


class OwnOutputs:
    """Listens from now on, until it is closed. Usable from any thread.

    Parameters
    ----------
    kernel
        The running ipykernel.
    """

    def __init__(self, kernel: Any) -> None:
        import zmq  # ipykernel has it

        self._heard = threading.Condition()  # guards what is kept
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._pictures = _Pictures()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.linger = 0
        self._socket.connect(_address(kernel.parent))
        self._socket.subscribe(b"")
        self._stop = threading.Event()
        name = "hermes-own-outputs"
        self._thread = threading.Thread(target=self._listen, name=name, daemon=True)
        self._thread.start()

    def of(self, request: str) -> list[dict[str, Any]]:
        """The outputs of a request that has ended, as a notebook file has them.

        What is on its way is waited for, for half a second.
        """
        with self._heard:
            self._heard.wait_for(lambda: self._has_ended(request), SECONDS_TO_ARRIVE)
            kept = self._kept.get(request)
            if kept is None:
                return []
            messages = [*kept.first, *([("lost", b"{}")] if kept.lost else []), *kept.last]
            return [*map(self._pictures.put_back, _outputs(messages))]

    def close(self) -> None:
        """Stop listening."""
        self._stop.set()
        self._thread.join(1.0)

    def _has_ended(self, request: str) -> bool:
        kept = self._kept.get(request)
        return kept is not None and kept.ended

    def _listen(self) -> None:
        import zmq

        try:
            while not self._stop.is_set():
                if self._socket.poll(200):
                    self._hear(self._socket.recv_multipart(zmq.NOBLOCK, copy=True))
        finally:
            self._socket.close()
            self._context.term()

    def _hear(self, frames: list[bytes]) -> None:
        try:
            at = frames.index(DELIMITER)
            header, parent = (json.loads(frames[at + place]) for place in (PARENT - 1, PARENT))
            kind, request = header["msg_type"], parent["msg_id"]
            content = frames[at + CONTENT]
        except (ValueError, LookupError, TypeError):
            return  # of a kind that does not concern us
        with self._heard:
            if kind == "status":
                self._ended(request, content)
            elif kind.encode() in KINDS:
                if len(content) > MAX_MESSAGE and kind != "stream":
                    content = self._pictures.taken_out(content)
                self._of(request).add(kind, content)

    def _ended(self, request: str, content: bytes) -> None:
        if b'"idle"' in content:
            if (kept := self._kept.get(request)) is not None:
                kept.ended = True
            self._heard.notify_all()
        elif request not in self._kept:
            self._of(request)

    def _of(self, request: str) -> _Kept:
        if request not in self._kept:
            self._kept[request] = _Kept()
            while len(self._kept) > MAX_CELLS:
                self._kept.popitem(last=False)
        return self._kept[request]


def _images_in(told: dict[str, Any]) -> list[tuple[dict[str, Any], str, str]]:
    """Where images stand in a message: the bundle, their kind, their text."""
    data = told.get("data")
    if not isinstance(data, dict):
        return []
    return [(data, kind, data[kind]) for kind in PICTURES if isinstance(data.get(kind), str)]


def _cut(content: bytes) -> bytes:
    """A message with its long texts cut: of what was printed both ends, of data the beginning."""
    told = json.loads(content)
    room = MAX_MESSAGE // 4
    if len(text := str(told.get("text", ""))) > 2 * room:
        told["text"] = f"{text[:room]}\n[…]\n{text[-room:]}"
    for texts in (told, told.get("data")):
        for key, value in texts.items() if isinstance(texts, dict) else ():
            if key != "text" and len(json.dumps(value)) > room:
                texts[key] = str(value)[:room] if isinstance(value, str) else ""
    return json.dumps(told).encode()


def _address(app: Any) -> str:
    """Where a front end of this machine would listen."""
    if app.transport == "ipc":
        return f"ipc://{app.ip}-{app.iopub_port}"
    host = "127.0.0.1" if app.ip in ("", "*", "0.0.0.0", "localhost") else app.ip
    return f"{app.transport}://{host}:{app.iopub_port}"


def _outputs(messages: list[tuple[str, bytes]]) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    clear = False
    for kind, raw in messages:
        content = json.loads(raw)
        if kind == "clear_output":
            clear = bool(content.get("wait"))
            if not clear:
                outputs.clear()
            continue
        if clear:
            outputs.clear()
            clear = False
        if kind == "lost":
            content, kind = {"name": "stdout", "text": "\n[…]\n"}, "stream"
        before = outputs[-1] if outputs else {}
        if kind == "stream" and before.get("name") == content["name"]:
            before["text"] += content["text"]
        else:
            outputs.append({"output_type": kind, **content})
    return outputs
