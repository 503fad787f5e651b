"""The line below a running turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hermes_jupyter.calls import Usage
from hermes_jupyter.events import RetryPlanned, TurnFinished, TurnStarted
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.sanitize import escape, last_lines, one_line
from hermes_jupyter.views.widgets import Stage


@dataclass(slots=True)
class _Count:
    turn: TurnStarted | None = None
    step: int = 0
    started: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def model(self) -> str:
        return self.turn.model if self.turn else ""

    @property
    def steps(self) -> int:
        return self.turn.steps if self.turn else 0


class StatusLine:
    """The line below a turn: what it does now, and what it has used."""

    def __init__(self, stage: Stage) -> None:
        self.widget = stage.html("", "hermes-footer")
        self.is_running = False
        self._count = _Count()
        self._writes = False
        self._thought = ""
        self._ended = ""
        self._retry: tuple[RetryPlanned, float] | None = None

    def begin(self, turn: TurnStarted, now: float) -> None:
        self._count = _Count(turn=turn, started=now)
        self.is_running = True
        self.widget.add_class("hermes-running")

    def step(self, number: int) -> None:
        self._count.step, self._writes, self._thought = number, False, ""
        self._retry = None

    def write(self) -> None:
        self._writes, self._retry = True, None

    def wait(self, retry: RetryPlanned, now: float) -> None:
        """A model call is made again, some time from now."""
        self._retry = (retry, now + retry.seconds)

    def think(self, text: str) -> None:
        self._retry = None
        self._thought = (self._thought + text)[-1_000:]

    def count(self, usage: Usage) -> None:
        self._count.usage = self._count.usage + usage
        self._writes, self._thought, self._retry = False, "", None

    def add(self, usage: Usage) -> None:
        """What an agent has taken that works for this one."""
        self._count.usage = self._count.usage + usage

    def end(self, event: TurnFinished) -> None:
        self.is_running = False
        self.widget.remove_class("hermes-running")
        steps = words.steps_done(event.steps)
        model = event.model or self._count.model
        numbers = words.footer(
            model, steps, event.usage, event.seconds, started=self._count.turn,
            changed=event.changed,
        )  # fmt: skip
        ended = "" if event.status == "done" else words.ended(event)
        self._draw(f'<span class="hermes-ended">{escape(ended)}</span>' if ended else "", numbers)

    def refresh(self, now: float, *, running: Sequence[str], asks: bool) -> None:
        if not self.is_running:
            return
        count = self._count
        steps = f"step {count.step} of {count.steps}" if count.step else ""
        seconds = float(int(now - count.started))
        model = "" if asks else count.model  # a narrow cell has room for what waits
        numbers = words.footer(model, steps, count.usage, seconds, started=count.turn)
        doing = escape(self._doing(running, asks, now))
        self._draw(f'<span class="hermes-doing">{doing}</span>', numbers)

    def _doing(self, running: Sequence[str], asks: bool, now: float) -> str:
        if asks:
            return "Waiting for your answer"
        if self._retry is not None:
            planned, moment = self._retry
            left = float(max(0, round(moment - now)))
            return one_line(words.retry(replace(planned, seconds=left)), 200)
        if len(running) == 1:
            return one_line(f"Running {running[0]}", 60)
        if running:
            return f"Running {len(running)} tools"
        if self._writes:
            return "Writing"
        if not self._count.steps:  # a call by hand: no model thinks
            return "Starting"
        thought = last_lines(redact(self._thought))
        return f"Thinking: {one_line(thought[0], 120)}" if thought else "Thinking"

    def _draw(self, first: str, numbers: str) -> None:
        self.widget.value = (
            f'<div class="hermes-status">{first}'
            f'<span class="hermes-numbers">{escape(numbers)}</span></div>'
        )
