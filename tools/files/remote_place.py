"""The files of a container or another host, reached over its `Host`.

A few processes there answer questions and stay (`tools.files.line`): a call costs one trip. Where
Python is, they run our own modules; elsewhere a shell does what it can. Searching and reading
lines happen there. A write is sent as a whole before the first byte goes into a file there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from typing import Any

from tools.environments.host import Host
from tools.files.findings import Clock, Findings, Query, findings_of
from tools.files.line import Line, LineLost, LineSilent, Stop, Stopped, never
from tools.files.lines import Page
from tools.files.place import Entry, FileStatus
from tools.files.problems import Problem, shown
from tools.files.reading import Reading
from tools.files.serving import Server
from tools.files.shell_place import ShellPlace
from tools.files.wire import raise_told

MOST_IDLE = 4
TRUSTED_SECONDS = 1.0
"""A line that was silent for longer is tried before a write is sent over it."""
SECONDS_LATE = 5.0
INTERRUPTED = "stopped because the turn was interrupted"


class RemotePlace:
    """Files on a host.

    Parameters
    ----------
    name
        What tells this host from all others, such as ``ssh:me@server``; the same as long as its
        files are the same.
    """

    def __init__(self, host: Host, name: str, *, most_bytes: int = 64 << 20) -> None:
        if not name:
            raise ValueError("a place that is not this machine needs a name")
        self.name, self.most_bytes = name, most_bytes
        self._host = host
        self._lock = threading.Lock()  # guards the two below
        self._idle: list[Line] = []
        self._closed = False

    def close(self) -> None:
        """End the processes there."""
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for line in idle:
            line.close()

    def home(self) -> str:
        return self._facts[1]

    def temporary(self) -> str:
        return self._facts[2]

    def expand(self, path: str) -> str:
        if not path.startswith("~"):
            return path
        if path == "~" or path.startswith("~/"):
            return self._facts[0] + path[1:]
        return str(self._value("expand", path=path))

    def real(self, path: str) -> str:
        return str(self._value("real", paths=[path])[0])

    def stat(self, path: str) -> FileStatus | None:
        found = self._value("stat", path=path)
        return found and FileStatus(*found)

    def iterdir(self, path: str) -> list[Entry]:
        return [Entry(*each) for each in self._value("iterdir", path=path)]

    def read_bytes(self, path: str) -> bytes:
        return self._ask({"do": "read_bytes", "path": path, "most": self.most_bytes})[1]

    def read_lines(self, path: str, first: int, count: int, stopped: Callable[[], bool]) -> Reading:
        asked = {"do": "read_lines", "path": path, "first": first, "count": count}
        try:
            value, head = self._ask(asked, stop=lambda: "interrupted" if stopped() else "")
        except Stopped:
            raise Problem(f"Reading {shown(path)} was {INTERRUPTED}") from None
        page = value["page"] and Page(**{**value["page"], "lines": tuple(value["page"]["lines"])})
        return Reading(head, page, value["is_notebook"])

    def write_bytes_atomic(self, path: str, content: bytes, mode: int | None = None) -> None:
        if len(content) > self.most_bytes:
            raise Problem(f"{shown(path)} would have {len(content):,} bytes, too many to be sent")
        self._ask({"do": "write", "path": path, "mode": mode}, content, changes=True)

    def make_folders(self, path: str) -> list[str]:
        made, _ = self._ask({"do": "make_folders", "path": path}, changes=True)
        return list(made)

    def remove(self, path: str) -> None:
        self._ask({"do": "remove", "path": path}, changes=True)

    def remove_folder(self, path: str) -> None:
        self._ask({"do": "remove_folder", "path": path}, changes=True)

    def search_names(self, query: Query, clock: Clock) -> Findings:
        return self._search({"do": "search_names", "query": asdict(query)}, clock)

    def search_contents(self, query: Query, flags: int, clock: Clock) -> Findings:
        asked = {"do": "search_contents", "query": asdict(query), "flags": flags}
        return self._search(asked, clock)

    def _search(self, asked: dict[str, Any], clock: Clock) -> Findings:
        seconds = clock.deadline - time.monotonic()
        late = Clock(clock.deadline + SECONDS_LATE, clock.cancelled)
        try:
            value, _ = self._ask({**asked, "seconds": seconds}, stop=late.why_stopped)
        except Stopped as stopped:
            return Findings(stopped=str(stopped))
        return findings_of(value)

    @cached_property
    def _facts(self) -> tuple[str, str, str]:
        home, real_home, temporary = self._value("facts")
        return home, real_home, temporary

    def _value(self, operation: str, **asked: Any) -> Any:
        return self._ask({"do": operation, **asked})[0]

    def _ask(
        self,
        asked: dict[str, Any],
        body: bytes = b"",
        *,
        stop: Stop = never,
        changes: bool = False,
    ) -> tuple[Any, bytes]:
        """The value and the bytes of an answer. A question that changes nothing is asked twice.

        Raises
        ------
        OSError, Problem
            What the place says; `LineLost` if it does not answer.
        Stopped
        """
        try:
            with self._line(fresh=changes) as line:
                return self._answered(line, asked, body, stop)
        except LineLost:
            if changes:
                raise
        with self._line(fresh=True) as line:  # the place may have been started anew
            return self._answered(line, asked, body, stop)

    def _answered(
        self, line: Line, asked: dict[str, Any], body: bytes, stop: Stop
    ) -> tuple[Any, bytes]:
        if why := stop():
            raise Stopped(why)
        if line.language == "python":
            message, content = line.ask(asked, body, stop=stop)
        else:
            there = ShellPlace(line, self._host, stop)
            message, content = Server(there, threading.Event()).answer({**asked}, body)
        raise_told(message)
        return message["value"], content

    @contextmanager
    def _line(self, *, fresh: bool) -> Iterator[Line]:
        """A line that nobody else uses meanwhile; ``fresh`` if it is known to work."""
        line = self._taken(fresh)
        try:
            yield line
        except (LineLost, LineSilent, Stopped):
            line.close()
            raise
        except (OSError, Problem):
            self._give_back(line)
            raise
        except BaseException:
            line.close()  # nobody knows what of the answer is still to come
            raise
        self._give_back(line)

    def _taken(self, fresh: bool) -> Line:
        while True:
            with self._lock:
                if self._closed:
                    raise LineLost("this place is closed")
                line = self._idle.pop() if self._idle else None
            if line is None:
                return Line(self._host)
            if line.is_alive and (not fresh or _works(line)):
                return line
            line.close()

    def _give_back(self, line: Line) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(line)
                return
        line.close()


def _works(line: Line) -> bool:
    now = time.monotonic()
    if now - line.used_at < TRUSTED_SECONDS:
        return True
    late = Clock(now + SECONDS_LATE)
    try:
        if line.language == "python":
            line.ask({"do": "real", "paths": []}, stop=late.why_stopped)
        else:
            line.run(":", stop=late.why_stopped)
    except (ConnectionError, Stopped):
        return False
    return True
