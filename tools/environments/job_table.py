"""The background jobs of one environment: known by id, limited in number, watched for events."""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tools.environments.births import birth_of
from tools.environments.job_events import EventSink
from tools.environments.job_output import write_whole
from tools.environments.job_watch import Watch
from tools.environments.jobs import Job, JobError, JobOptions, JobRecord
from tools.environments.keeper import is_wanted

logger = logging.getLogger(__name__)

MOST_RUNNING = 64
MOST_TRACKED = 64
"""Beside those that run."""
SECONDS_REMEMBERED = 1_800
DAY = 86_400.0

Find = Callable[[JobRecord, Path], Job]
"""Makes a job of what was written down of it, and of its folder."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOwner:
    """For whom jobs run."""

    key: str
    """Names the kernel, also after it was started again."""
    session: str = "main"
    connection_file: str = ""
    """As long as this file is there, a kernel that has ended may be started again."""
    survives: Callable[[], bool] = _never
    """Asked when this process ends: shall the jobs go on, since another one will care for them?"""


def this_process(session: str = "main") -> JobOwner:
    """An owner whose jobs end with it."""
    return JobOwner(key=f"{os.getpid()}-{birth_of(os.getpid())}", session=session)


class JobTable:
    """Safe to use from any thread.

    Parameters
    ----------
    folder
        Where the jobs of all owners have their folders; None for a temporary one of its own.
    owner
        For whom they run; None for this process.
    events
        Hears of what somebody has asked to be told. It may be called in any thread.
    """

    def __init__(
        self,
        folder: Path | None = None,
        owner: JobOwner | None = None,
        events: EventSink | None = None,
    ) -> None:
        self._given, self._folder = folder, folder
        self.owner = owner or this_process()
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()  # guards the dict and the folder
        self._watch = Watch(events)
        self._end = weakref.finalize(
            self, _end, self._jobs, folder, self._watch, self.owner.survives, os.getpid()
        )
        # At exit before all finalizers: then the ways to other places are still open.
        atexit.register(self._end)

    def prepare(
        self, command: str, cwd: str, place: str, options: JobOptions, *, outlives: bool = True
    ) -> JobRecord:
        """A record for a new job, written down; its pid and birth are not known yet.

        ``outlives`` says whether it may go on while its kernel is started again.

        Raises
        ------
        JobError
            If there are too many, or nothing can be written.
        """
        running = sum(job.status == "running" for job in self.all())
        if running >= MOST_RUNNING:
            raise JobError(f"{running} background processes run already; end some of them first")
        record = JobRecord(
            id=f"proc_{secrets.token_hex(6)}",
            command=command,
            cwd=cwd,
            place=place,
            owner=self.owner.key,
            session=self.owner.session,
            started_at=time.time(),
            pid=0,
            birth="",
            options=options,
        )
        folder = self.folder_of(record)
        folder.mkdir(mode=0o700)
        _write_owner(folder, self.owner if outlives else replace(self.owner, connection_file=""))
        _write_record(folder, record)
        return record

    def folder_of(self, record: JobRecord) -> Path:
        """The folder of a job on this machine, wherever it runs."""
        with self._lock:
            return self._opened() / record.id

    def add(self, job: Job) -> None:
        """Keep a job that was started for a record of `prepare`."""
        _write_record(self.folder_of(job.record), job.record)
        self._keep(job)

    def abandon(self, record: JobRecord) -> None:
        """It could not be started."""
        shutil.rmtree(self.folder_of(record), ignore_errors=True)

    def adopt(self, place: str, find: Find) -> list[Job]:
        """Find the jobs again that an earlier process of this owner has left in a place."""
        found = []
        for folder, record in _records(self._given):
            if (record.owner, record.session) != (self.owner.key, self.owner.session):
                continue
            if record.place == place and record.id not in self._jobs:
                _write_owner(folder, self.owner)
                found.append(find(record, folder))
                self._keep(found[-1])
        return found

    def get(self, job_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        """Running and recently ended ones, oldest first."""
        with self._lock:
            jobs = sorted(self._jobs.values(), key=lambda job: job.record.started_at)
        forgotten = _forgettable(jobs, self._watch.is_done)
        for job in forgotten:
            self.drop(job)
        return [job for job in jobs if job not in forgotten]

    def drop(self, job: Job) -> None:
        """Forget a job that has ended, and what is kept of it."""
        with self._lock:
            self._jobs.pop(job.id, None)
        self._watch.forget(job)
        try:
            job.forget()
        except JobError:
            logger.warning("what is kept of a job cannot be removed", exc_info=True)
        shutil.rmtree(self.folder_of(job.record), ignore_errors=True)

    def seen(self, job: Job) -> None:
        """Its end has been told to whoever would be notified of it."""
        self._watch.seen(job)

    def close(self) -> None:
        """End all of them, and forget them."""
        atexit.unregister(self._end)
        self._watch.close()
        with self._lock:
            _end_all(self._jobs, self._folder)
            folder, self._folder = self._folder, self._given
        if folder is not None and self._given is None:
            shutil.rmtree(folder, ignore_errors=True)

    def _keep(self, job: Job) -> None:
        with self._lock:
            self._jobs[job.id] = job
        self._watch.add(job, self.folder_of(job.record))

    def _opened(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="hermes-jobs-"))
            weakref.finalize(self, _remove, self._folder, os.getpid())
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder


def _forgettable(jobs: list[Job], is_told: Callable[[Job], bool]) -> set[Job]:
    """Those that ended half an hour ago, and the longest ended ones if there are too many."""
    ended = sorted(
        ((job.end.ended_at, job) for job in jobs if job.end and is_told(job)),
        key=lambda pair: pair[0],
    )
    surplus = len(ended) - MOST_TRACKED
    oldest = time.time() - SECONDS_REMEMBERED
    return {job for at, (ended_at, job) in enumerate(ended) if at < surplus or ended_at < oldest}


def _records(parent: Path | None) -> Iterator[tuple[Path, JobRecord]]:
    """What is written down of jobs; leavings of kernels that are gone are removed on the way."""
    if parent is None or not parent.is_dir():
        return
    for folder in sorted(parent.iterdir()):
        try:
            text = (folder / "job.json").read_text(encoding="utf-8")
            record = JobRecord.from_json(json.loads(text))
        except (OSError, ValueError, TypeError, KeyError):
            record = None
        if not is_wanted(str(folder)) and _is_old(folder):
            shutil.rmtree(folder, ignore_errors=True)
        elif record is not None:
            yield folder, record


def _is_old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > DAY
    except OSError:
        return False


def _write_record(folder: Path, record: JobRecord) -> None:
    try:
        write_whole(str(folder), "job.json", json.dumps(record.as_json()))
    except OSError as error:
        raise JobError(f"the process cannot be written down: {error}") from error


def _write_owner(folder: Path, owner: JobOwner) -> None:
    me = os.getpid()
    text = f"{me} {birth_of(me)}\n{owner.connection_file}\n"
    write_whole(str(folder), "owner", text)


def _end(
    jobs: dict[str, Job],
    folder: Path | None,
    watch: Watch,
    survives: Callable[[], bool],
    process: int,
) -> None:
    """Last will, also at the exit of the interpreter; not in a forked child."""
    if os.getpid() != process:
        return
    watch.close()
    if not survives():
        _end_all(jobs, folder)


def _end_all(jobs: dict[str, Job], folder: Path | None) -> None:
    """At once: each may take its time."""
    threads = [
        threading.Thread(target=_end_one, args=(job, folder), daemon=True) for job in jobs.values()
    ]
    for thread in threads:
        try:
            thread.start()
        except RuntimeError:  # Python 3.12 starts no thread any more when it ends
            thread.run()
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    jobs.clear()


def _end_one(job: Job, folder: Path | None) -> None:
    try:
        job.kill()
        job.forget()
    except JobError:
        logger.warning("the background process %s cannot be ended", job.id, exc_info=True)
    if folder is not None:
        shutil.rmtree(folder / job.id, ignore_errors=True)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
