"""Background processes: started, watched, written to and ended by their id."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.environments.containment import Start, start_freely
from tools.environments.process_tree import end_session
from tools.plain_text import PlainText

KEPT_CHARS = 1_000_000
MOST_TRACKED = 64
SECONDS_REMEMBERED = 1_800
SECONDS_TO_TIDY_UP = 1.0
SECONDS_TO_WRITE = 5.0
PIECE = 65_536

Status = Literal["running", "exited"]


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


class Log:
    """The lines a process has printed, oldest ones forgotten when there are too many."""

    def __init__(self, limit: int = KEPT_CHARS) -> None:
        self._limit = limit
        self._text = ""
        self._forgotten = 0
        self._lock = threading.Lock()  # guards the two above

    def add(self, text: str) -> None:
        with self._lock:
            self._text += text
            if len(self._text) > 2 * self._limit:  # cut seldom, for each cut copies
                cut = self._text.find("\n", len(self._text) - self._limit) + 1
                cut = cut or len(self._text) - self._limit
                self._forgotten += self._text.count("\n", 0, cut)
                self._text = self._text[cut:]

    def tail(self, chars: int) -> str:
        with self._lock:
            return self._text[-chars:]

    def page(self, offset: int | None, limit: int) -> Page:
        """``limit`` lines from line ``offset`` on (0 is the first ever); the last ones if None."""
        with self._lock:
            lines, forgotten = self._text.splitlines(), self._forgotten
        start = max(0, len(lines) - limit if offset is None else offset - forgotten)
        part = lines[start : start + limit]
        total = forgotten + len(lines)
        return Page("\n".join(part), forgotten + start, len(part), total, forgotten)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a process."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    inherited: Sequence[int] = ()
    """Descriptors it gets besides the usual three."""
    start: Start = start_freely


class BackgroundProcess:
    """A command that runs beside the shell, in a session of its own, with pipes of its own."""

    def __init__(self, command: str, launch: Launch) -> None:
        self.id = f"proc_{uuid.uuid4().hex[:12]}"
        self.command = command
        self.cwd = launch.cwd
        self.started_at = time.time()
        self.log = Log()
        self.killed = False
        self.unfinished = ""
        """What was written to it since the last line break."""
        self._ended_at: float | None = None
        self._process = launch.start(
            launch.argv,
            cwd=launch.cwd,
            env=dict(launch.env),
            pass_fds=launch.inherited,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        self._writing = threading.Lock()  # guards the writing end, which another thread may close
        self._reader = threading.Thread(target=self._read, name=f"hermes-{self.id}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> Status:
        if self._process.poll() is None:
            return "running"
        if self._ended_at is None:
            self._ended_at = time.time()
        return "exited"

    @property
    def exit_code(self) -> int | None:
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    @property
    def ended_at(self) -> float | None:
        """When its end was noticed."""
        return self._ended_at if self.status == "exited" else None

    @property
    def uptime(self) -> float:
        return (self.ended_at or time.time()) - self.started_at

    def wait(self, seconds: float, is_cancelled: Callable[[], bool]) -> bool:
        """Wait for the end; False if it has not come in time or the wait was cancelled."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not is_cancelled():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(min(left, 0.05))
                break
        if self.status == "running":
            return False
        self._reader.join(0.2)  # a child of it may hold the pipe for longer
        return True

    def write(self, text: str) -> int:
        """Send text to its standard input; the number of bytes.

        Raises
        ------
        OSError
            If it has closed its input or ended, or does not read what it is sent.
        """
        payload = text.encode("utf-8", "surrogateescape")
        with self._writing:
            pipe = self._process.stdin
            if pipe is None or pipe.closed:
                raise BrokenPipeError("its standard input is closed")
            _write_all(pipe.fileno(), payload)
        return len(payload)

    def close_input(self) -> None:
        with self._writing:
            if self._process.stdin is not None:
                self._process.stdin.close()

    def kill(self) -> None:
        """End it and everything it has started."""
        if self.status == "running":
            self.killed = True
        elif not self._reader.is_alive():
            return  # nothing of it is left, its number may belong to somebody else by now
        end_session(self.pid, grace=SECONDS_TO_TIDY_UP)
        self._process.wait()
        self.close_input()
        self._reader.join(1.0)

    def _read(self) -> None:
        plain = PlainText()
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while piece := os.read(pipe.fileno(), PIECE):
                self.log.add(plain.feed(piece))
        self.log.add(plain.feed(b"", final=True))
        self._process.wait()
        self.close_input()
        self._ended_at = self._ended_at or time.time()


def _write_all(descriptor: int, payload: bytes) -> None:
    """Write to a pipe, but do not wait for ever for a process that does not read."""
    os.set_blocking(descriptor, False)
    deadline = time.monotonic() + SECONDS_TO_WRITE
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_WRITE)
        while payload:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"it does not read its input; {len(payload)} bytes not written")
            payload = payload[os.write(descriptor, payload[:PIECE]) :]


class ProcessTable:
    """The background processes of one environment, by id. Safe to use from any thread."""

    def __init__(self) -> None:
        self._processes: dict[str, BackgroundProcess] = {}
        self._lock = threading.Lock()  # guards the dict
        self._finalizer = weakref.finalize(self, _kill_all, self._processes, os.getpid())

    def add(self, process: BackgroundProcess) -> None:
        with self._lock:
            self._forget_old_ones()
            self._processes[process.id] = process

    def get(self, process_id: str) -> BackgroundProcess | None:
        with self._lock:
            return self._processes.get(process_id)

    def all(self) -> list[BackgroundProcess]:
        """Running and recently ended ones, oldest first."""
        with self._lock:
            self._forget_old_ones()
            return list(self._processes.values())

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            _kill_all(self._processes, os.getpid())

    def _forget_old_ones(self) -> None:
        """Those that ended half an hour ago, and the longest ended ones if there are too many."""
        ended = sorted(
            (process.ended_at, process.id)
            for process in self._processes.values()
            if process.ended_at is not None
        )
        surplus = len(self._processes) - MOST_TRACKED + 1
        oldest = time.time() - SECONDS_REMEMBERED
        for index, (ended_at, process_id) in enumerate(ended):
            if ended_at is not None and (index < surplus or ended_at < oldest):
                del self._processes[process_id]


def _kill_all(processes: dict[str, BackgroundProcess], owner: int) -> None:
    if os.getpid() == owner:
        for process in processes.values():
            process.kill()
        processes.clear()
