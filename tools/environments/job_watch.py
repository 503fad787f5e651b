"""Looks at the jobs of which something is to be told: their end, and lines that match.

How far it has come with a job is written into the folder of the job after the event is handed
over. So an event may be found twice after a crash, with the same id, but never not at all.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.environments import job_events
from tools.environments.job_events import EventSink
from tools.environments.job_output import write_whole
from tools.environments.jobs import Job, JobError, plain

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_EVENTS = 15.0
"""Of one job, for matches. What matches meanwhile is counted, and told then."""
MOST_CROWDED = 3
"""After so many events in a row that had to wait, a job is watched no more."""
MOST_EVENTS, EVENTS_SECONDS, MUTED_SECONDS = 15, 10.0, 30.0
"""Matches of all jobs: if there were so many in so short a time, all wait."""
PIECE = 262_144
LONGEST_LINE = 65_536


@dataclass(slots=True)
class Progress:
    """How far a job was looked at."""

    cursor: int = 0
    told_at: float = 0.0
    """When its last match was told."""
    crowded: int = 0
    waiting: int = 0
    """Matches that wait to be told."""
    last: tuple[int, str] | None = None
    """Where the last one of these is, and its line."""
    handing: bool = False
    """They are being told right now; if that was cut off, it is done again, the same way."""
    unwatched: bool = False
    done: bool = False
    """There is nothing more to tell."""


@dataclass(slots=True)
class _Watched:
    job: Job
    folder: Path
    progress: Progress
    due: float = 0.0

    def save(self) -> None:
        write_whole(str(self.folder), "watch", json.dumps(asdict(self.progress)))


class Watch:
    """One thread for the jobs of a table, while there are any to be watched."""

    def __init__(self, sink: EventSink | None) -> None:
        self._sink = sink
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()  # guards what is watched, and the thread
        self._muted_until = 0.0
        self._told: deque[float] = deque(maxlen=MOST_EVENTS)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, job: Job, folder: Path) -> None:
        """Watch a job, from where this was left if it was watched before."""
        options = job.record.options
        if self._sink is None or not (options.notify_on_complete or options.watch_patterns):
            return
        progress = _read(folder)
        with self._lock:
            if progress.done or self._stop.is_set():
                return
            self._watched[job.id] = _Watched(job, folder, progress)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_run, args=(self,), name="hermes-jobs", daemon=True
                )
                self._thread.start()

    def forget(self, job: Job) -> None:
        with self._lock:
            self._watched.pop(job.id, None)

    def is_done(self, job: Job) -> bool:
        """Has all been told of it?"""
        with self._lock:
            return job.id not in self._watched

    def seen(self, job: Job) -> None:
        """Whoever would be notified of its end knows it."""
        if self._sink is not None and job.record.options.notify_on_complete:
            self._sink.withdraw(job_events.end_id(job))

    def close(self) -> None:
        self._stop.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(2.0)

    def look(self) -> bool:
        """Look at those whose time has come; False if there is nothing more to watch."""
        with self._lock:
            watched = list(self._watched.values())
        for each in watched:  # without the lock: a place may be slow to answer
            if time.monotonic() >= each.due:
                each.due = time.monotonic() + each.job.seconds_between_looks
                self._look_safely(each)
        with self._lock:
            for each in watched:
                if each.progress.done:
                    self._watched.pop(each.job.id, None)
            if not self._watched:
                self._thread = None
            return bool(self._watched)

    def _look_safely(self, each: _Watched) -> None:
        try:
            self._look_at(each)
        except (JobError, OSError):
            logger.warning("the job %s cannot be watched now", each.job.id, exc_info=True)

    def pause(self) -> bool:
        """Wait for the next look; True if there shall be none."""
        return self._stop.wait(SECONDS_BETWEEN_LOOKS)

    def _look_at(self, each: _Watched) -> None:
        job, progress = each.job, each.progress
        before = asdict(progress)
        end = job.end  # before its output, so that no line of it is missed
        options = job.record.options
        if progress.handing:
            self._tell(each)
        if options.watch_patterns and not progress.unwatched:
            self._read_lines(job, progress, ended=end is not None)
            if self._is_time(progress, ended=end is not None):
                self._tell(each)
        if end is not None:
            if options.notify_on_complete or progress.unwatched:
                self._hand_over(job_events.ended(job, end))
            progress.done = True
        if asdict(progress) != before:
            each.save()

    def _read_lines(self, job: Job, progress: Progress, *, ended: bool) -> None:
        while True:
            output = job.read(progress.cursor, PIECE)
            data = output.data
            is_rest = output.end >= output.total
            if not (is_rest and ended) and len(data) < LONGEST_LINE + data.rfind(b"\n") + 1:
                data = data[: data.rfind(b"\n") + 1]  # the last line is not complete yet
            at = output.start
            for line in data.splitlines(keepends=True):
                text = plain(line).rstrip("\r\n")
                if any(pattern in text for pattern in job.record.options.watch_patterns):
                    progress.waiting += 1
                    progress.last = (at, text[: job_events.LINE_CHARS])
                at += len(line)
            progress.cursor = at
            if is_rest or not data:
                return

    def _is_time(self, progress: Progress, *, ended: bool) -> bool:
        """Shall what matches be told now?"""
        now = time.time()
        waits = now - progress.told_at < SECONDS_BETWEEN_EVENTS
        if progress.last is None:
            if not waits:
                progress.crowded = 0
            return False
        return ended or (not waits and self._may_tell(now))

    def _tell(self, each: _Watched) -> None:
        progress = each.progress
        assert progress.last is not None
        progress.handing = True
        each.save()
        offset, line = progress.last
        self._hand_over(job_events.matched(each.job, offset, line, progress.waiting - 1))
        now = time.time()
        self._told.append(now)
        was_crowded = progress.waiting > 1 and progress.told_at > 0
        progress.crowded = progress.crowded + 1 if was_crowded else 0
        progress.told_at, progress.waiting, progress.last = now, 0, None
        progress.handing = False
        if progress.crowded >= MOST_CROWDED:
            progress.unwatched = True
            self._hand_over(job_events.unwatched(each.job))

    def _may_tell(self, now: float) -> bool:
        if now < self._muted_until:
            return False
        if len(self._told) == MOST_EVENTS and now - self._told[0] < EVENTS_SECONDS:
            self._muted_until = now + MUTED_SECONDS
            self._told.clear()
            return False
        return True

    def _hand_over(self, event: job_events.JobEvent) -> None:
        assert self._sink is not None
        self._sink.add(event)


def _run(watch: Watch) -> None:
    while watch.look() and not watch.pause():
        continue


def _read(folder: Path) -> Progress:
    try:
        read = json.loads((folder / "watch").read_text(encoding="utf-8"))
        progress = Progress(**read)
    except (OSError, ValueError, TypeError):
        return Progress()
    progress.last = tuple(progress.last) if progress.last else None  # type: ignore[assignment]
    return progress
