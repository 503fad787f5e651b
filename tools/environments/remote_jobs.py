"""Background jobs in a place that is reached through a `Host`: another machine, a container.

A job there needs nothing but a POSIX sh. It belongs to nobody here: its folder in that place holds
its output, its number and its end, so that any later kernel can go on with it.
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tools.environments.host import Host, HostError
from tools.environments.jobs import (
    Job,
    JobEnd,
    JobError,
    JobRecord,
    Output,
    Reason,
)

SCRIPT = Path(__file__).with_name("remote_job.sh").read_text(encoding="utf-8")
KEPT_BYTES = 1_000_000
SECONDS_TO_START = 30.0
SECONDS_TO_TIDY_UP = 2
SECONDS_TO_WRITE = 5.0
SECONDS_BETWEEN_LOOKS = 0.5
MOST_BYTES = 4_000_000
"""Fetched at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOrder:
    """What to start in a place."""

    command: str
    cwd: str
    env: Mapping[str, str]
    state: str = ""
    """Path there of a file that bash sources first; it is copied, so it may change afterwards."""


def start_job(host: Host, order: RemoteOrder, record: JobRecord) -> RemoteJob:
    """Start a command in a session of its own, with ``record`` but for its pid and birth.

    Raises
    ------
    JobError
        If the place cannot be reached, or nothing can be started there.
    """
    lines = [
        prepared(order, record),
        f'hermes_job_start "$d" {shlex.quote(order.cwd)} {KEPT_BYTES}',
    ]
    answer = ask(host, "\n".join(lines), SECONDS_TO_START).split()
    if len(answer) != 2:
        raise JobError("the command could not be started in its place")
    pid, birth = answer
    return RemoteJob(host, replace(record, pid=int(pid), birth=birth.decode()))


class RemoteJob(Job):
    """A job in the place of ``host``."""

    seconds_between_looks = 2.0

    def __init__(self, host: Host, record: JobRecord) -> None:
        super().__init__(record)
        self._host = host
        self._looked_at = -math.inf

    def look(self) -> JobEnd | None:
        if time.monotonic() - self._looked_at < SECONDS_BETWEEN_LOOKS:
            return None  # it ran a moment ago; each look is a way there and back
        return self._looked(0, 0)[0]

    def read(self, offset: int, limit: int) -> Output:
        return self._looked(offset, min(limit, MOST_BYTES))[1]

    def write(self, data: bytes) -> int:
        octal = "".join(f"\\{byte:03o}" for byte in data)
        tenths = int(SECONDS_TO_WRITE * 10)
        said = self._ask(f"hermes_job_write {self._folder} '{octal}' {tenths}")
        if said.strip() == b"written":
            return len(data)
        if said.strip() == b"stuck":
            raise JobError(f"it does not read its input; {len(data)} bytes not written")
        raise JobError("its standard input is closed")

    def close_input(self) -> None:
        self._ask(f"hermes_job_close {self._folder}")

    def kill(self) -> None:
        self._ask(f"hermes_job_kill {self._folder} {SECONDS_TO_TIDY_UP}")
        self._looked_at = -math.inf

    def forget(self) -> None:
        self._ask(f"rm -rf -- {self._folder}")

    def _pause(self, seconds: float) -> None:
        time.sleep(max(seconds, SECONDS_BETWEEN_LOOKS))

    @property
    def _folder(self) -> str:
        return folder_of(self.id)

    def _looked(self, offset: int, limit: int) -> tuple[JobEnd | None, Output]:
        command = f"[ ! -e {self._folder}/killed ] || echo killed\n"
        said = self._ask(f"{command}hermes_job_look {self._folder} {offset} {limit}")
        killed = said.startswith(b"killed\n")
        state, _, rest = said.removeprefix(b"killed\n").partition(b"\n")
        numbers, _, data = rest.partition(b"\n")
        if state == b"gone":
            return _end("lost", killed=killed), Output(data=b"", start=0, total=0)
        try:
            first, lines, total, start = map(int, numbers.split())
        except ValueError:
            raise JobError(f"the place answered with {said[:200]!r}") from None
        self._looked_at = time.monotonic()
        output = Output(data=data, start=start, total=total, first=first, lines_before=lines)
        return _end(state.decode(), killed=killed), output

    def _ask(self, call: str) -> bytes:
        return ask(self._host, call, SECONDS_TO_START)


def _end(state: str, *, killed: bool) -> JobEnd | None:
    name, *numbers = state.split()
    if name == "running":
        return None
    if name != "exit" or len(numbers) != 2:
        return JobEnd(exit_code=None, ended_at=time.time(), reason="lost")
    reason: Reason = "killed" if killed else "exited"
    return JobEnd(exit_code=int(numbers[0]), ended_at=float(numbers[1]), reason=reason)


def folder_of(job: str) -> str:
    """In words of the shell there."""
    return f'"${{HOME:-/tmp}}/.hermes/jobs/{job}"'


def prepared(order: RemoteOrder, record: JobRecord) -> str:
    """Shell that makes the folder of a job, named by ``d`` from then on."""
    state = shlex.quote(order.state)
    lines = [
        f"d={folder_of(record.id)}",
        'mkdir -p "$d" || exit 1',
        f'printf %s {shlex.quote(_run_file(order))} >"$d/run" || exit 1',
        *([f'if [ -r {state} ]; then cp {state} "$d/state"; fi'] if order.state else []),
    ]
    return "\n".join(lines)


def _run_file(order: RemoteOrder) -> str:
    """What its shell runs: variables, state, and the command once aliases are known."""
    return "\n".join(
        [
            *(f"export {name}={shlex.quote(value)}" for name, value in order.env.items()),
            '[ ! -r "${0%/run}/state" ] || . "${0%/run}/state" 2>/dev/null',
            'rm -f "${0%/run}/state"',
            f"cd {shlex.quote(order.cwd)}",
            "set +e; ! command -v shopt >/dev/null || shopt -s expand_aliases",
            f"eval {shlex.quote(order.command)}",
        ]
    )


def ask(host: Host, call: str, seconds: float) -> bytes:
    """Run a piece of shell there, after our functions; what it printed.

    Raises
    ------
    JobError
    """
    try:
        done = host.run(
            ["sh"], stdin=f"{SCRIPT}\n{call}\n".encode(errors="surrogateescape"), timeout=seconds
        )
    except HostError as error:
        raise JobError(str(error)) from error
    if done.exit_code:
        raise JobError(done.err.decode("utf-8", "replace").strip() or f"exit code {done.exit_code}")
    return done.out
