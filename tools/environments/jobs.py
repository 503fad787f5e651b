"""Background jobs: what is known of one, and what can be done with it wherever it runs.

`local_jobs` and `remote_jobs` start them, `job_table` keeps those of an environment and watches
them. A job outlives the process that started it, and is found again by its record.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.plain_text import PlainText

SECONDS_BETWEEN_LOOKS = 0.03
MOST_BYTES_PER_CHAR = 4
LONGEST_LINE = 65_536
"""Bytes; a page ends at a line break unless a line is longer."""

Status = Literal["running", "exited"]
Reason = Literal["exited", "killed", "expired", "orphaned", "lost"]
"""Why it ended: by itself, on demand, for its age, without its kernel, or nobody knows."""


class JobError(OSError):
    """A job cannot be started, reached or written to. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """How a job is started and what of it is told."""

    pty: bool = False
    """It runs in a terminal of its own."""
    notify_on_complete: bool = False
    watch_patterns: tuple[str, ...] = ()
    """Texts; a line of output that holds one of them is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """What is written down when a job starts, so that it can be found again."""

    id: str
    command: str
    cwd: str
    place: str
    """Where it runs: "local", or what an environment says of its host, the same in each kernel."""
    owner: str
    """The kernel, by a name that it keeps when it is started again."""
    session: str
    started_at: float
    pid: int
    """Leader of the session of its processes, in the place where it runs."""
    birth: str
    """When this process was started, in the words of that place: pids are used again."""
    options: JobOptions = field(default_factory=JobOptions)

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "options"}
        options = {name: getattr(self.options, name) for name in JobOptions.__slots__}
        return {**fields, "options": options}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> JobRecord:
        """Raise a TypeError or KeyError if it is none."""
        options = dict(read["options"])
        options["watch_patterns"] = tuple(options["watch_patterns"])
        return cls(**{**read, "options": JobOptions(**options)})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """How a job ended."""

    exit_code: int | None
    """None if nobody knows; 128 + N if signal N ended it."""
    ended_at: float
    reason: Reason = "exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A part of what a job has printed, standard output and error as they came."""

    data: bytes
    start: int
    """Offset of the first byte of ``data`` from the first byte ever printed."""
    total: int
    """Bytes printed so far; exact, also when not all are kept."""
    first: int = 0
    """Offset of the oldest byte that is kept."""
    lines_before: int = 0
    """Line breaks before ``first``."""

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class Job(ABC):
    """One background job. Its methods may be called from any thread."""

    seconds_between_looks = 0.2
    """How often it is worth while to look for news, if nobody waits for them."""

    def __init__(self, record: JobRecord) -> None:
        self.record = record
        self.unfinished = ""
        """What was written to it since the last line break."""
        self._end: JobEnd | None = None

    @abstractmethod
    def look(self) -> JobEnd | None:
        """How it ended; None while it runs. Looks at the place where it runs.

        Raises
        ------
        JobError
            If that cannot be reached now.
        """

    @abstractmethod
    def read(self, offset: int, limit: int) -> Output:
        """At most ``limit`` bytes of its output.

        Parameters
        ----------
        offset
            Where to begin; the oldest byte that is kept if that is younger. A negative one counts
            from the end.

        Raises
        ------
        JobError
        """

    @abstractmethod
    def write(self, data: bytes) -> int:
        """Send to its standard input or terminal; the number of bytes.

        Raises
        ------
        JobError
            If it has ended or closed its input, or does not read what it is sent.
        """

    @abstractmethod
    def close_input(self) -> None:
        """End its standard input; in a terminal, send the character that stands for the end."""

    @abstractmethod
    def kill(self) -> None:
        """End it and everything it has started: TERM, and KILL for what is left a little later.

        Raises
        ------
        JobError
            If its place cannot be reached.
        """

    @abstractmethod
    def forget(self) -> None:
        """Remove what is kept of a job that has ended."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def command(self) -> str:
        return self.record.command

    @property
    def cwd(self) -> str:
        return self.record.cwd

    @property
    def pid(self) -> int:
        return self.record.pid

    @property
    def end(self) -> JobEnd | None:
        """How it ended; None while it runs, or while its place cannot be reached."""
        if self._end is None:
            try:
                self._end = self.look()
            except JobError:
                return None
        return self._end

    @property
    def status(self) -> Status:
        return "running" if self.end is None else "exited"

    @property
    def exit_code(self) -> int | None:
        end = self.end
        return end.exit_code if end else None

    @property
    def uptime(self) -> float:
        end = self.end
        return (end.ended_at if end else time.time()) - self.record.started_at

    def wait(self, seconds: float, is_cancelled: Callable[[], bool]) -> bool:
        """Wait for the end; False if it has not come in time or the wait was cancelled."""
        deadline = time.monotonic() + seconds
        while self.end is None:
            left = deadline - time.monotonic()
            if left <= 0 or is_cancelled():
                return False
            self._pause(min(left, SECONDS_BETWEEN_LOOKS))
        return True

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def tail(self, chars: int) -> str:
        """The last characters of its output, as plain text."""
        data = self.read(-chars * MOST_BYTES_PER_CHAR, chars * MOST_BYTES_PER_CHAR).data
        return plain(data)[-chars:] if chars else ""


def plain(data: bytes) -> str:
    """Output as a model reads it: no escapes, line breaks as everywhere."""
    text = PlainText().feed(data, final=True)
    return text.replace("\r\n", "\n")
