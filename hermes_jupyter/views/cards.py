"""What a person sees of a call and of a question while a turn runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from hermes_jupyter.calls import Question, ToolCall, ToolResult
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Desk, Emoji
from hermes_jupyter.views.limits import excerpt
from hermes_jupyter.views.markdown import to_html
from hermes_jupyter.views.sanitize import escape, last_lines, listing, one_line, reveal
from hermes_jupyter.views.typed import TEXT_SECONDS, has_arrived
from hermes_jupyter.views.widgets import Stage

MAX_SHOWN = 20_000
"""Characters of arguments and results in a live card."""
_STATES = {"waiting": "waiting", "asking": "asks you", "running": "running"}


class Lanes(Protocol):
    """The children of a call; see `hermes_jupyter.views.lanes`."""

    widget: Any

    def refresh(self, now: float) -> None: ...


class CallCard:
    """One line for a call, its arguments and result folded below, and a lane for questions."""

    def __init__(self, stage: Stage, call: ToolCall, emoji: Emoji) -> None:
        self._stage, self.call, self._emoji = stage, call, emoji
        self._state = "waiting"
        self._html = stage.html()
        self._live: Any = None
        self._output = ""
        self._started = 0.0
        self._stale = False
        self.lanes: Lanes | None = None
        """Of its children, once it has some."""
        self.lane = stage.column([self._html], "hermes-lane")
        self._draw("")

    @property
    def is_running(self) -> bool:
        return self._state == "running"

    def ask(self, card: Any) -> None:
        self._state = "asking"
        self.lane.children = (*self.lane.children, card)
        self._draw("")

    def show_lanes(self, lanes: Lanes) -> None:
        """Its children work below it. What it prints itself is about them, and not shown."""
        self.lanes = lanes
        self.lane.children = (*self.lane.children, lanes.widget)

    def wait(self) -> None:
        self._state = "waiting"
        self._draw("")

    def go_on(self) -> None:
        """It ran all the time while the person was asked."""
        self._state = "running"
        self._draw("")

    def start(self, now: float) -> None:
        self._state, self._started = "running", now
        self._draw("")

    def hear(self, text: str) -> None:
        """Output of the running call; shown by the next `refresh`."""
        self._output = (self._output + text)[-4_000:]
        self._stale = True

    def refresh(self, now: float) -> None:
        """Show the last line of output, and how long the call has been running."""
        if self.lanes is not None:
            self.lanes.refresh(now)
            return
        lines = last_lines(redact(self._output))
        seconds = now - self._started
        if not self.is_running or not (self._stale or seconds >= 2):
            return
        self._stale = False
        if self._live is None:
            self._live = self._stage.html()
            self.lane.children = (*self.lane.children, self._live)
        parts = [f"{seconds:.0f} s"] if seconds >= 2 else []
        parts += [escape(one_line(line, 300)) for line in lines]
        self._live.value = f'<div class="hermes-live">{" · ".join(parts)}</div>'

    def finish(self, result: ToolResult) -> None:
        self._state = result.status
        if self._live is not None:
            self.lane.children = tuple(c for c in self.lane.children if c is not self._live)
            self._stage.discard(self._live)
            self._live = None
        ending = words.ending(result.status, result.seconds, result.exit_code)
        self._draw(words.readable_result(result.text), ending, result.details)

    def _draw(self, answer: str, ending: str = "", details: str = "") -> None:
        said = "" if self.lanes is not None else answer  # the children have said it
        self._html.value = call_html(self.call, self._state, said, ending, self._emoji, details)


def call_html(
    call: ToolCall, state: str, answer: str, ending: str, emoji: Emoji, details: str = ""
) -> str:
    """A line for a call, and below it, folded, its arguments and its answer."""
    sign, _, word = ending.partition(" ") if ending else ("", "", _STATES[state])
    args = "" if words.is_said(call) else excerpt(reveal(words.readable(call.args)), MAX_SHOWN)
    more = listing(excerpt(details, MAX_SHOWN))
    more = more and f"<details><summary>{words.DETAILS}</summary>{more}</details>"
    return (
        f'<details class="hermes-call hermes-is-{state}"><summary>'
        f"<span>{escape(emoji(call.name))}</span>"
        f'<span class="hermes-name">{escape(one_line(call.name, 60))}</span>'
        f'<span class="hermes-short">{escape(words.short_args(call, 200))}</span>'
        f'<span class="hermes-state"><span class="hermes-sign">{sign}</span> {word}</span>'
        f"</summary>{listing(args)}{listing(excerpt(answer, MAX_SHOWN))}{more}</details>"
    )


class Batch:
    """Calls that run side by side, below a line that says how far they are."""

    def __init__(self, stage: Stage, cards: Sequence[CallCard]) -> None:
        self._all, self._done = len(cards), 0
        self._header = stage.html()
        self.widget = stage.column([self._header, *(card.lane for card in cards)], "hermes-batch")
        self._draw()

    def finish_one(self) -> None:
        self._done += 1
        self._draw()

    def _draw(self) -> None:
        said = f"{self._done} of {self._all} done"
        bar = f'<progress max="{self._all}" value="{self._done}" aria-label="{said}"></progress>'
        is_done = self._done >= self._all
        self._header.value = (
            f'<div class="hermes-progress"><span>{self._all} calls side by side</span>'
            f"{'' if is_done else bar}<span>{'all done' if is_done else said}</span></div>"
        )


class QuestionCard:
    """A question of the model: a button for each choice, and a field for any other answer."""

    def __init__(
        self, stage: Stage, question: Question, desk: Desk, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._stage, self._question, self._desk, self._loop = stage, question, desk, loop
        asked = to_html(excerpt(question.text, 4_000))
        self._html = stage.html(f'<div class="hermes-text" role="alert">{asked}</div>')
        choices = [self._choice(choice) for choice in question.choices]
        choices += [self._refusal()] if question.secret else []
        wanted = "Another answer" if question.choices else "Your answer"
        self._field = (
            stage.password("Your password", "hermes-field")
            if question.secret
            else stage.field(wanted, wanted, "hermes-field")
        )
        # Enter is heard before the text that it completes.
        self._field.on_msg(lambda _widget, content, _buffers: self._entered(content))
        send = stage.button("Send", "Send the text as the answer", self._sent)
        rows = [stage.row(choices, "hermes-choices")] if choices else []
        rows.append(stage.row([self._field, send], "hermes-buttons"))
        self._sending: asyncio.Task[None] | None = None
        self._parts = (*rows, *choices, self._field, send)
        self.box = stage.column([self._html, *rows], "hermes-card", "hermes-question")

    def resolve(self, answer: str | None, by: str) -> None:
        asked = to_html(excerpt(self._question.text, 1_000))
        replied = escape(words.replied(answer, by))
        self.box.children = (self._html,)
        self.box.remove_class("hermes-card")
        self._html.value = (
            f'<div class="hermes-notice">{asked} <span role="status">↳ {replied}</span></div>'
        )
        self._stage.discard(*self._parts)

    def _choice(self, choice: str) -> Any:
        def pressed() -> None:
            self._desk.reply(self._question.id, choice, by="widget")

        return self._stage.button(one_line(choice, 100), one_line(choice, 500), pressed)

    def _refusal(self) -> Any:
        def pressed() -> None:
            self._desk.reply(self._question.id, None, by="widget")

        return self._stage.button("No password", "Go on without a password", pressed)

    def _entered(self, content: dict[str, Any]) -> None:
        if content.get("event") == "submit":
            self._sent()

    def _sent(self) -> None:
        self._loop.call_soon_threadsafe(self._send)

    def _send(self) -> None:
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._reply())

    async def _reply(self) -> None:
        await has_arrived(self._stage, self.box, TEXT_SECONDS)
        text = str(self._field.value)
        if self._question.secret:
            self._field.value = ""  # it is held no longer than needed
        else:
            text = text.strip()
        if text:
            self._desk.reply(self._question.id, text, by="widget")
