"""A command in a terminal of its own that a call waits for: a job, followed to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tools.environments.base import INTERRUPTED, TIMED_OUT, CommandResult, Environment
from tools.environments.jobs import Job, JobOptions
from tools.environments.output import OutputCollector

BESIDE = (
    "It ran in a terminal of its own, beside the shell, whose folder and variables are as before."
)
PIECE = 262_144
SECONDS_BETWEEN_LOOKS = 0.02
RETURN = b"\r"


def run_in_terminal(
    environment: Environment,
    command: str,
    *,
    timeout: float | None = None,
    cwd: str | None = None,
    on_output: Callable[[str], None] | None = None,
    cancelled: threading.Event | None = None,
) -> CommandResult:
    """Run a command in a terminal and wait for its end; the same limits as `Environment.execute`.

    Raises
    ------
    JobError
        If there are no terminals in the place of the environment.
    ValueError, RuntimeError
        As of `Environment.spawn`.
    """
    job = environment.spawn(command, cwd=cwd, options=JobOptions(pty=True))
    try:
        return _followed(job, OutputCollector(on_output), timeout, cancelled)
    finally:  # also of a KeyboardInterrupt
        job.kill()
        environment.processes.drop(job)


def _followed(
    job: Job, output: OutputCollector, timeout: float | None, cancelled: threading.Event | None
) -> CommandResult:
    deadline = None if timeout is None else time.monotonic() + timeout
    cursor = 0
    while True:
        end = job.end  # before its output, so that no byte of it is missed
        cursor = _pass_on(job, cursor, output)
        if end is not None:
            code = -1 if end.exit_code is None else end.exit_code
            return CommandResult(output.finish(), code, note=BESIDE)
        is_cancelled = cancelled is not None and cancelled.is_set()
        if is_cancelled or (deadline is not None and time.monotonic() >= deadline):
            job.kill()
            _pass_on(job, cursor, output)
            return _halted(output, None if is_cancelled else timeout)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _halted(output: OutputCollector, timeout: float | None) -> CommandResult:
    if timeout is None:
        text = output.finish("[Command interrupted]")
        return CommandResult(text, INTERRUPTED, interrupted=True, note=BESIDE)
    text = output.finish(f"[Command timed out after {timeout:g}s]")
    return CommandResult(text, TIMED_OUT, timed_out=True, note=BESIDE)


def _pass_on(job: Job, cursor: int, output: OutputCollector) -> int:
    """Hand on what is new; where to go on."""
    while True:
        part = job.read(cursor, PIECE)
        # A terminal ends a line with two characters, which may come apart.
        data = part.data.removesuffix(RETURN)
        output.feed(data.replace(b"\r\n", b"\n"))
        cursor = part.start + len(data)
        if part.end >= part.total or not data:
            return cursor
