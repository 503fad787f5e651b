"""Turns in the background, and the processes that turns have started: numbered, told, stopped."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.calls import Place
from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
    RetryPlanned,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputStreamed,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.session import Session
from hermes_jupyter.views import words
from hermes_jupyter.views.sanitize import last_lines, one_line
from tools.environments.jobs import Job

MOST_ENDED = 10
"""Turns that are told of after their end."""
COMMAND_CHARS = 60


class FollowedTurn:
    """What one turn in the background does now. Hears on the agent loop; read in any thread."""

    def __init__(self, number: int, session: Session, place: Place) -> None:
        self.number, self.session, self.place = number, session, place
        self.finished: TurnFinished | None = None
        self.ended_at: float | None = None
        self._began = time.monotonic()
        self._steps, self._step = 0, 0
        self._asks: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._printed = ""
        self._retry = ""

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(steps=steps):
                self._steps = steps
            case StepStarted(number=number):
                self._step, self._retry = number, ""
            case RetryPlanned():
                self._retry = one_line(words.retry(event), 120)
            case ApprovalRequested(request=request) if not request.path:
                name = one_line(request.call.name, 60)
                self._asks[request.id] = f"{name} {one_line(redact(request.shown), 80)}"
            case QuestionAsked(question=question):
                self._asks[question.id] = one_line(question.text, 80)
            case ApprovalResolved(request=request):
                self._asks.pop(request.id, None)
            case QuestionAnswered(question=question):
                self._asks.pop(question.id, None)
            case ToolCallStarted(call=call):
                self._runs[call.id], self._printed = one_line(call.name, 60), ""
            case ToolOutputStreamed(text=text):
                self._printed = (self._printed + text)[-1_000:]
            case ToolCallFinished(result=result):
                self._runs.pop(result.call.id, None)
            case TurnFinished():
                self.finished = event

    def end(self) -> None:
        self.ended_at = time.monotonic()

    @property
    def where(self) -> str:
        """ "cell [3]"."""
        return f"cell [{self.place.number}]" if self.place.number > 0 else "a cell"

    @property
    def steps(self) -> str:
        if self.finished is not None:
            return words.steps_done(self.finished.steps)
        return f"step {self._step} of {self._steps}" if self._step else ""

    @property
    def age(self) -> str:
        """Since its start; of one that has ended, since its end."""
        now = time.monotonic()
        if self.ended_at is not None:
            return f"{words.seconds_text(int(now - self.ended_at))} ago"
        return words.seconds_text(int(now - self._began))

    @property
    def state(self) -> str:
        """What it does, or waits for."""
        if self.finished is not None:
            said = one_line(redact(self.finished.text), 80)
            return words.ended(self.finished) if self.finished.status != "done" else f"done: {said}"
        if self.ended_at is not None:
            return "failed"
        asked = list(self._asks.values())
        if asked:
            more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
            return f"waits for your answer: {asked[0]}{more}"
        running = list(self._runs.values())
        if len(running) == 1:
            printed = last_lines(redact(self._printed))
            return f"runs {running[0]}" + (f": {one_line(printed[0], 60)}" if printed else "")
        return f"runs {', '.join(running)}" if running else self._retry or "thinks"


@dataclass(frozen=True, slots=True)
class NumberedProcess:
    number: int
    job: Job
    session: str


class Background:
    """Of one kernel. A number means the same thing for as long as the kernel lives.

    Parameters
    ----------
    sessions
        The open conversations.
    """

    def __init__(self, sessions: Callable[[], list[Session]]) -> None:
        self._sessions = sessions
        self._numbers = itertools.count(1)
        self._turns: dict[int, FollowedTurn] = {}
        self._of_jobs: dict[str, int] = {}

    def follow(self, session: Session, place: Place) -> FollowedTurn:
        """A turn is about to begin in the background: what hears its events."""
        turn = FollowedTurn(next(self._numbers), session, place)
        self._turns[turn.number] = turn
        ended = [each for each in self._turns.values() if each.ended_at is not None]
        for old in ended[:-MOST_ENDED]:
            del self._turns[old.number]
        return turn

    def turns(self) -> list[FollowedTurn]:
        """Those that run, and the last ones that have ended."""
        return [*self._turns.values()]

    def running(self) -> list[FollowedTurn]:
        return [turn for turn in self.turns() if turn.ended_at is None]

    def turn_of(self, session: Session) -> FollowedTurn | None:
        """The one of this conversation that runs."""
        return next((turn for turn in self.running() if turn.session is session), None)

    def must_be_free(self, session: Session) -> None:
        """Raise a TurnError if a turn of this conversation runs, and say where."""
        turn = self.turn_of(session)
        if turn is not None and session.busy:
            raise TurnError(
                f"session {session.name!r} is busy with the turn of {turn.where}, which runs in "
                f"the background (job {turn.number}); wait for its end, stop it with "
                f"%hermes jobs stop {turn.number}, or use another conversation: --session NAME"
            )
        session.must_be_free()

    def processes(self) -> list[NumberedProcess]:
        """Background processes of the open conversations that run, wherever that is."""
        found = []
        for session, job in self._jobs():
            if job.id not in self._of_jobs:
                self._of_jobs[job.id] = next(self._numbers)
            found.append(NumberedProcess(self._of_jobs[job.id], job, session.name))
        return found

    def stop(self, number: int) -> str:
        """Stop what has this number; one line for the person.

        Raises
        ------
        TurnError
            If nothing with this number runs.
        JobError
            If the process cannot be ended.
        """
        turn = self._turns.get(number)
        if turn is not None and turn.ended_at is None:
            turn.session.stop()
            return f"Stopping the turn of {turn.where}."
        for process in self.processes():
            if process.number == number:
                process.job.kill()
                return f"Ended {process.job.id}: {one_line(process.job.record.command, 60)}"
        raise TurnError(f"no background job {number} runs; %hermes jobs lists those that do")

    def told(self) -> str:
        """All of it as a table, with what can be done; lines that end in a line break."""
        rows: list[tuple[str, ...]] = [
            (str(turn.number), "turn", turn.where, turn.steps, turn.age, turn.state)
            for turn in self.turns()
        ]
        rows += [_row(process) for process in self.processes()]
        if not rows:
            return "Nothing runs in the background. %%agent --background starts a turn there.\n"
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, *self._remedies()]) + "\n"

    def _remedies(self) -> Iterator[str]:
        running = self.running()
        if running or self.processes():
            yield "Stop one: %hermes jobs stop NUMBER. All turns at once: %hermes stop."
        if any(turn.state.startswith("waits for your answer") for turn in running):
            yield "Answer below its cell; %hermes attach shows the question here."

    def _jobs(self) -> Iterator[tuple[Session, Job]]:
        for session in self._sessions():
            # Those of other places are kept there, too.
            for job in session.terminals.local.processes.all():
                if job.status == "running":
                    yield session, job


def _row(process: NumberedProcess) -> tuple[str, ...]:
    record: Any = process.job.record
    age = words.seconds_text(int(time.time() - record.started_at))
    place = "" if record.place == "local" else one_line(record.place, 40)
    command = one_line(redact(record.command), COMMAND_CHARS)
    return str(process.number), "process", place or process.job.id, "", age, f"runs {command}"
