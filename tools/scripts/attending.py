"""Attending a script: its calls, its output, its time; and its end, one way or another."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from tools.environments.host import HostError, Piece
from tools.environments.output import OutputCollector
from tools.scripts.boot import Frames, frame
from tools.scripts.calls import MOST_REFUSED, Calls
from tools.scripts.places import Started

SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_TO_FINISH = 3.0
"""For what a program does at its very end: closing files, functions of ``atexit``."""
SECONDS_FOR_THE_REST = 0.3
"""For output that is on its way when the script has ended."""
MOST_PRINTED = 64 << 20
"""Bytes; a script that prints more is ended."""

Status = Literal["success", "error", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended."""

    status: Status
    exit_code: int
    error: str
    seconds: float


class Attendant:
    """Attends one script, in one thread."""

    def __init__(
        self,
        started: Started,
        calls: Calls,
        output: OutputCollector,
        *,
        seconds: float,
        cancelled: threading.Event | None,
    ) -> None:
        self._started, self._calls, self._output = started, calls, output
        self._limit, self._cancelled = seconds, cancelled
        self._frames = Frames()
        self._began = time.monotonic()
        self._pid = 0
        self._printed = 0
        self._closed: set[str] = set()
        self._end: dict[str, Any] | None = None
        self._broken = ""

    def attend(self, job: bytes) -> Ended:
        """Give the process its script and see it through; nothing of it runs any more then.

        Raises
        ------
        HostError
            If the place where it runs is lost.
        """
        status, error = self._started_with(job), ""
        try:
            while not status and not self._is_over():
                self._take(self._started.channel.read(SECONDS_BETWEEN_LOOKS))
                status, error = self._verdict()
            if not status:
                self._let_go()
        finally:
            self._calls.end()
            self._started.kill(self._pid)
            self._started.channel.close()
        return self._ended(status, error)

    def _started_with(self, job: bytes) -> Status | Literal[""]:
        with contextlib.suppress(HostError):  # it has ended already, and has said why
            self._started.channel.write(job)
        return ""

    def _is_over(self) -> bool:
        gone = self._started.channel.exit_code is not None and {"out", "err"} <= self._closed
        return self._end is not None or gone

    def _verdict(self) -> tuple[Status | Literal[""], str]:
        """Why it must end now, if it must."""
        if self._cancelled is not None and self._cancelled.is_set():
            return "interrupted", "interrupted"
        if self._seconds > self._limit:
            return "timeout", f"the script ran for more than {self._limit:g} s and was ended"
        if self._broken:
            return "error", f"the script was ended: {self._broken}"
        if self._printed > MOST_PRINTED:
            return "error", f"the script was ended: it printed more than {MOST_PRINTED:,} bytes"
        if self._calls.refused > MOST_REFUSED:
            return "error", "the script was ended: it went on calling tools after refusals"
        return "", ""

    @property
    def _seconds(self) -> float:
        """Of its own time: while tools work for it, or a person is asked, it waits."""
        return time.monotonic() - self._began - self._calls.seconds_waited

    def _take(self, piece: Piece | None) -> None:
        if piece is None:
            self._output.tell()
        elif not piece.data:
            self._closed.add(piece.stream)
        elif piece.stream == "err":
            self._printed += len(piece.data)
            self._output.feed(piece.data)
        else:
            self._hear(piece.data)

    def _hear(self, data: bytes) -> None:
        try:
            for message in self._frames.feed(data):
                self._follow(message)
        except ValueError:
            self._broken = "it wrote to the way between it and the tools"

    def _follow(self, message: dict[str, Any]) -> None:
        match message:
            case {"call": number, "name": name, "args": args}:
                self._calls.begin(number, name, args)
            case {"ready": int(pid)}:
                self._pid = self._pid or pid
            case {"end": int(), "error": str()}:
                self._end = message
            case _:
                raise ValueError("an unknown message")

    def _let_go(self) -> None:
        """It has ended: let it finish in its own way, and read what is on its way."""
        self._started.look()
        with contextlib.suppress(HostError):
            self._started.channel.write(frame({"leave": True}))
        deadline = time.monotonic() + SECONDS_TO_FINISH
        while self._started.channel.exit_code is None and time.monotonic() < deadline:
            self._take(self._started.channel.read(0.01))
        deadline = time.monotonic() + SECONDS_FOR_THE_REST
        while "err" not in self._closed and time.monotonic() < deadline:
            self._take(self._started.channel.read(0.02))

    def _ended(self, status: Status | Literal[""], error: str) -> Ended:
        seconds = time.monotonic() - self._began
        if status:
            codes: dict[str, int] = {"timeout": 124, "interrupted": 130}
            return Ended(status, codes.get(status, 1), error, seconds)
        if self._end is not None:
            code, said = int(self._end["end"]), str(self._end["error"])
        else:
            code, said = self._started.channel.exit_code or 1, "the script's process was ended"
        if code and not said:
            said = f"the script ended with exit code {code}"
        return Ended("error" if code else "success", code, said, seconds)
