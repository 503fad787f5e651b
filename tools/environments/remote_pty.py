"""Background jobs with a terminal, in a place that is reached through a `Host`.

The place gives the terminal to a connection of ours, so such a job ends with this process. Its
output is kept here, its processes are known there.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import threading
import time
from dataclasses import replace
from pathlib import Path

from tools.environments.host import Channel, Host, HostError
from tools.environments.job_output import Ring, read_part
from tools.environments.jobs import Job, JobEnd, JobError, JobRecord, Output, Reason
from tools.environments.remote_jobs import (
    SCRIPT,
    SECONDS_TO_START,
    SECONDS_TO_TIDY_UP,
    RemoteOrder,
    ask,
    folder_of,
    prepared,
)

logger = logging.getLogger(__name__)

SECONDS_TO_WAIT = 0.5
SECONDS_TO_END = 5.0
END_OF_INPUT = b"\x04"
TERMINAL = "xterm-256color"
NONE = "no terminal can be had there"
BEGIN = """
cd "$d" || exit 1
if [ ! -t 0 ] || [ ! -t 1 ]; then : >none; exit 1; fi
hermes_note $$ pid
stty rows 30 cols 120 2>/dev/null
TERM={terminal}; export TERM
if command -v bash >/dev/null; then exec bash --noprofile --norc "$d/run"; else exec sh "$d/run"; fi
"""
NUMBERS = """
tries=0
until [ -s "$d/pid" ] || [ -e "$d/none" ] || [ $tries -gt 100 ]; do
    tries=$((tries + 1)); sleep 0.05 2>/dev/null || sleep 1
done
if [ -e "$d/none" ]; then rm -rf -- "$d"; echo none; else cat "$d/pid"; fi
"""


def start_pty_job(host: Host, order: RemoteOrder, record: JobRecord, folder: Path) -> RemotePtyJob:
    """Start a command in a terminal, with ``record`` but for its pid and birth.

    Parameters
    ----------
    folder
        The folder of the job on this machine, for its output.

    Raises
    ------
    JobError
        If the place has no terminals, or cannot be reached.
    """
    there = f"d={folder_of(record.id)}\n"
    ask(host, prepared(order, record), SECONDS_TO_START)
    begin = f"{SCRIPT}\n{there}{BEGIN.format(terminal=shlex.quote(TERMINAL))}"
    try:
        channel = host.open(["sh", "-c", begin], pty=True)
    except HostError as error:
        raise JobError(f"{NONE}: {error}") from error
    try:
        said = ask(host, there + NUMBERS, SECONDS_TO_START).decode().split()
    except JobError:
        channel.close()
        raise
    if len(said) != 2:
        channel.close()
        raise JobError(NONE if said == ["none"] else "the command could not be started there")
    pid, birth = said
    return RemotePtyJob(host, channel, replace(record, pid=int(pid), birth=birth), folder)


class RemotePtyJob(Job):
    """A job at the other end of a channel."""

    def __init__(self, host: Host, channel: Channel, record: JobRecord, folder: Path) -> None:
        super().__init__(record)
        self._host, self._channel, self._folder = host, channel, folder
        self._how: JobEnd | None = None
        self._killed = False
        self._reader = threading.Thread(target=self._keep, name=f"hermes-{self.id}", daemon=True)
        self._reader.start()

    def look(self) -> JobEnd | None:
        return self._how

    def read(self, offset: int, limit: int) -> Output:
        data, start, total, first, lines = read_part(str(self._folder), offset, limit)
        return Output(data=data, start=start, total=total, first=first, lines_before=lines)

    def write(self, data: bytes) -> int:
        if self._how is not None:
            raise JobError("it has ended")
        try:
            self._channel.write(data)
        except HostError as error:
            raise JobError(str(error)) from error
        return len(data)

    def close_input(self) -> None:
        self.write(END_OF_INPUT * (2 if self.unfinished else 1))

    def kill(self) -> None:
        if self._how is None:
            self._killed = True
            ask(self._host, f"hermes_job_kill {self._there} {SECONDS_TO_TIDY_UP}", SECONDS_TO_START)
        self._reader.join(SECONDS_TO_END)
        self._channel.close()

    def forget(self) -> None:
        ask(self._host, f"rm -rf -- {self._there}", SECONDS_TO_START)

    @property
    def _there(self) -> str:
        return folder_of(self.id)

    def _keep(self) -> None:
        """Write down what it prints, until it ends."""
        ring = Ring(str(self._folder))
        reason: Reason = "lost"
        try:
            while True:
                piece = self._channel.read(SECONDS_TO_WAIT)
                if piece is not None and piece.data:
                    ring.add(piece.data)
                elif self._channel.exit_code is not None:
                    reason = "killed" if self._killed else "exited"
                    break
        except HostError:
            logger.warning("the connection to %s is lost", self.id, exc_info=True)
        finally:
            ring.close()
            code = self._channel.exit_code
            self._how = JobEnd(exit_code=code, ended_at=time.time(), reason=reason)
            with contextlib.suppress(HostError):
                self._channel.close()
