"""What is told of background jobs to those who have asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from tools.environments.jobs import Job, JobEnd

TOLD_CHARS = 2_000
LINE_CHARS = 500
COMMAND_CHARS = 200

Kind = Literal["ended", "matched", "unwatched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """Something that a job did. The same happening has the same id, whoever notices it."""

    id: str
    job: str
    command: str
    kind: Kind
    text: str
    """What happened, in one line, for the model and the person."""
    output: str = ""
    """What it has printed: not to be trusted."""


class EventSink(Protocol):
    """Where events go. Its methods may be called from any thread."""

    def add(self, event: JobEvent) -> None:
        """Take an event; one whose id is known already changes nothing."""

    def withdraw(self, event_id: str) -> None:
        """What it says is known by now: it shall not be told, also if it comes later."""


def end_id(job: Job) -> str:
    return f"{job.id}:end"


def ended(job: Job, end: JobEnd) -> JobEvent:
    """The event of its end."""
    return JobEvent(
        id=end_id(job),
        job=job.id,
        command=job.command[:COMMAND_CHARS],
        kind="ended",
        text=f"Background process {job.id} {_how(end)} after {_seconds(job, end)}.",
        output=job.tail(TOLD_CHARS),
    )


def matched(job: Job, offset: int, line: str, more: int) -> JobEvent:
    """A line of its output, at this offset, matches; so do ``more`` others since the last event."""
    others = f" {more} more lines matched since the last notice." if more else ""
    return JobEvent(
        id=f"{job.id}:{offset}",
        job=job.id,
        command=job.command[:COMMAND_CHARS],
        kind="matched",
        text=f"Background process {job.id} printed a line that matches a watch pattern.{others}",
        output=line[:LINE_CHARS],
    )


def unwatched(job: Job) -> JobEvent:
    """Its output matches so often that it is watched no more."""
    return JobEvent(
        id=f"{job.id}:unwatched",
        job=job.id,
        command=job.command[:COMMAND_CHARS],
        kind="unwatched",
        text=(
            f"Background process {job.id} prints so many lines that match its watch patterns that "
            "it is watched no more. You will be told when it ends."
        ),
    )


def _how(end: JobEnd) -> str:
    code = "" if end.exit_code is None else f" (exit code {end.exit_code})"
    return {
        "exited": f"ended with exit code {end.exit_code}",
        "killed": f"was killed{code}",
        "expired": f"was ended for its age{code}",
        "orphaned": f"was ended, as its kernel was gone{code}",
        "lost": "is gone, nobody knows how it ended",
    }[end.reason]


def _seconds(job: Job, end: JobEnd) -> str:
    return f"{max(0.0, end.ended_at - job.record.started_at):.1f} s"
