"""The children of a call while they work: a line for each, with what it does now below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.calls import Child, ToolCall, Usage
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    Event,
    ModelCalled,
    ReasoningStreamed,
    RetryPlanned,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputStreamed,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Desk, Emoji
from hermes_jupyter.views.entries import Entries
from hermes_jupyter.views.lane_details import LaneDetails
from hermes_jupyter.views.sanitize import escape, last_lines, one_line
from hermes_jupyter.views.widgets import Stage

CALM_SECONDS = 0.25
"""Several lines that change all the time cannot be read."""
MOST_LANES = 12
"""Of more children the first that have ended are only counted."""


class Lanes:
    """Of one call. ``number`` of children will work in all."""

    def __init__(self, stage: Stage, number: int, desk: Desk, emoji: Emoji) -> None:
        self._stage, self._number, self._desk, self._emoji = stage, number, desk, emoji
        self._lanes: dict[str, Lane] = {}
        self._ended = 0
        self._header = stage.html()
        self.widget = stage.column([self._header], "hermes-lanes")
        self._draw()

    def __call__(self, event: Event, now: float) -> None:
        match event:
            case ChildStarted(child=child):
                self._add(Lane(self._stage, child, self._desk, self._emoji, now))
            case ChildTold(child=name, event=told) if name in self._lanes:
                self._lanes[name].hear(told, now)
            case ChildFinished(child=child):
                if child.id not in self._lanes:  # it was ended before it began
                    self._add(Lane(self._stage, child, self._desk, self._emoji, now))
                self._lanes[child.id].finish(event)
                self._ended += 1
                self._draw()

    def has(self, child: str) -> bool:
        """Is it one of these children?"""
        return child in self._lanes

    def ask(self, path: Sequence[str], card: Any) -> None:
        """Show a question where the child works that asks it."""
        lane = self._lanes.get(path[0])
        if lane is not None:
            lane.ask(path[1:], card)
        else:
            self.widget.children = (*self.widget.children, card)

    def refresh(self, now: float) -> None:
        for lane in self._lanes.values():
            lane.refresh(now)

    def _add(self, lane: Lane) -> None:
        self._lanes[lane.child.id] = lane
        shown = sorted(self._lanes.values(), key=lambda each: each.child.number)
        ended = [each for each in shown if each.has_ended]
        hidden = set(map(id, ended[: max(0, len(shown) - MOST_LANES)]))
        boxes = [each.box for each in shown if id(each) not in hidden]
        self.widget.children = (self._header, *boxes)

    def _draw(self) -> None:
        if self._number < 2:
            return
        said = f"{self._ended} of {self._number} done"
        bar = (
            f'<progress max="{self._number}" value="{self._ended}" aria-label="{said}"></progress>'
        )
        is_done = self._ended >= self._number
        self._header.value = (
            f'<div class="hermes-progress"><span>{words.count(self._number, "agent")}</span>'
            f"{'' if is_done else bar}<span>{'all done' if is_done else said}</span></div>"
        )


class Lane:
    """One child: a line, what it does now, its questions, and on demand what it has done."""

    def __init__(self, stage: Stage, child: Child, desk: Desk, emoji: Emoji, now: float) -> None:
        self._stage, self.child, self._desk, self._emoji = stage, child, desk, emoji
        self._began = now
        self._entries = Entries()
        self._step, self._usage = 0, Usage()
        self._running: dict[str, ToolCall] = {}
        self._asks: set[str] = set()
        self._drawn = float("-inf")
        self._doing = "Starting"
        self._output = ""
        self._nested: dict[str, Lanes] = {}
        self._ended: ChildFinished | None = None
        self._head, self._live = stage.html(), stage.html()
        name = one_line(child.name, 60)
        self._details = LaneDetails(stage, self._entries, emoji, name)
        self._stop = stage.button("Stop", f"Stop {name}", self._pressed_stop, "hermes-flat")
        self._row = stage.row([self._head, self._details.button, self._stop], "hermes-child-row")
        self.box = stage.column([self._row, self._live, self._details.box], "hermes-child")
        self._draw(now)
        self._drawn = float("-inf")  # it has only begun: what it does first is shown at once

    @property
    def has_ended(self) -> bool:
        return self._ended is not None

    def hear(self, event: Event, now: float) -> None:
        self._entries(event)
        match event:
            case StepStarted(number=number):
                self._step, self._doing, self._output = number, "Thinking", ""
            case ReasoningStreamed():
                self._doing = "Thinking"
            case TextStreamed(text=text):
                self._doing, self._output = "Writing", (self._output + text)[-2_000:]
            case RetryPlanned():
                self._doing = words.retry(event)
            case ModelCalled(usage=usage):
                self._usage += usage
            case ToolCallStarted(call=call):
                self._running[call.id], self._output = call, ""
            case ToolOutputStreamed(text=text):
                self._output = (self._output + text)[-2_000:]
            case ToolCallFinished(result=result):
                self._running.pop(result.call.id, None)
                self._output = ""
            case ApprovalRequested(request=request):
                self._asks.add(request.id)
            case ApprovalResolved(request=request):
                self._asks.discard(request.id)
            case ChildrenPlanned() | ChildStarted() | ChildTold() | ChildFinished():
                self._hear_children(event, now)

    def ask(self, path: Sequence[str], card: Any) -> None:
        nested = [lanes for lanes in self._nested.values() if path and lanes.has(path[0])]
        if nested:
            nested[0].ask(path, card)
        else:
            self.box.children = (*self.box.children, card)

    def finish(self, event: ChildFinished) -> None:
        self._ended = event
        self._row.children = (self._head, self._details.button)
        self.box.children = tuple(each for each in self.box.children if each is not self._live)
        self._stage.discard(self._live, self._stop)
        sign, _, said = words.child_state(event).partition(" ")
        state = "ok" if event.status == "completed" else "error"
        state = "interrupted" if event.status == "interrupted" else state
        self._head.value = self._line(state, sign, said)
        self._details.end()

    def refresh(self, now: float) -> None:
        """Show what it does now, and what it has done, if a person wants to see that."""
        if self._ended is None and now - self._drawn >= CALM_SECONDS:
            self._draw(now)
        self._details.refresh()
        for lanes in self._nested.values():
            lanes.refresh(now)

    def _hear_children(self, event: Event, now: float) -> None:
        match event:
            case ChildrenPlanned(call_id=call_id, number=number):
                lanes = Lanes(self._stage, number, self._desk, self._emoji)
                self._nested[call_id] = lanes
                self.box.children = (*self.box.children, lanes.widget)
            case ChildStarted(call_id=call_id) | ChildFinished(call_id=call_id):
                if there := self._nested.get(call_id):
                    there(event, now)
            case _:
                for lanes in self._nested.values():
                    lanes(event, now)

    def _draw(self, now: float) -> None:
        self._drawn = now
        step = f"step {self._step}" if self._step and self.child.steps else ""
        numbers = words.child_numbers(0, self._usage, float(int(now - self._began)))
        state = "asking" if self._asks else "running"
        said = " · ".join(filter(None, ["asks you" if self._asks else "", step, *numbers]))
        self._head.value = self._line(state, "", said)
        self._live.value = f'<div class="hermes-live">{escape(self._activity())}</div>'

    def _activity(self) -> str:
        """What it does now, on one line."""
        if self._asks:
            return "Waits for your answer"
        calls = [*self._running.values()]
        if len(calls) > 1:
            return f"Running {len(calls)} tools"
        doing = f"{calls[0].name}  {words.short_args(calls[0])}" if calls else self._doing
        lines = last_lines(redact(self._output))
        return one_line(" · ".join([doing, *lines]), 200)

    def _line(self, state: str, sign: str, said: str) -> str:
        name, goal = escape(one_line(redact(self.child.name), 60)), escape(self.child.goal)
        return (
            f'<div class="hermes-child-line hermes-is-{state}" title="{goal}">'
            f'<span class="hermes-sign">{sign}</span><span class="hermes-name">{name}</span>'
            f'<span class="hermes-state">{escape(said)}</span></div>'
        )

    def _pressed_stop(self) -> None:
        self._desk.stop(self.child.id)


def usage_in(event: Event) -> Usage | None:
    """What a model call took, if the event of a child, or of a child of it, tells of one."""
    while isinstance(event, ChildTold):
        event = event.event
    return event.usage if isinstance(event, ModelCalled) else None
