"""The card that asks whether a call may run, with all that may be answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Decision, Ruling
from hermes_jupyter.events import ApprovalResolved
from hermes_jupyter.views.approval_html import (
    editing_html,
    expired_html,
    lines_seen,
    request_html,
    resolved_html,
)
from hermes_jupyter.views.base import Desk
from hermes_jupyter.views.sanitize import escape, one_line, reveal
from hermes_jupyter.views.typed import EXACT_SECONDS, TEXT_SECONDS, has_arrived
from hermes_jupyter.views.widgets import Stage

ROWS = (2, 20)
"""Lines of the field for an edit, at least and at most."""
LATE_SECONDS = 2.0
"""So long after an answer another one is heard, and told to be too late."""
RULE_CHARS = 40
"""A longer rule is not on its button; the card shows it."""
NOT_ARRIVED = "What you typed may not have arrived. Look at it once more, then run it."
NOTHING = "There is nothing to run."


class ApprovalCard:
    """The question whether a call may run. Nothing is chosen beforehand.

    Clicks arrive in any thread; everything else happens on the loop that made the card.
    """

    def __init__(
        self, stage: Stage, request: ApprovalRequest, desk: Desk, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._stage, self._request, self._desk, self._loop = stage, request, desk, loop
        self._html = stage.html(request_html(request))
        self._note = stage.field(
            "and say why: the model reads it", "Deny with a note to the model", "hermes-field"
        )
        # Enter is heard before the text that it completes.
        self._note.on_msg(lambda _widget, content, _buffers: self._entered(content))
        self._allowing = stage.row(self._choices(), "hermes-buttons")
        deny = stage.button(
            "Deny", f"Do not run this call of {self._name}", self._deny, "hermes-deny"
        )
        self._denying = stage.row([deny, self._note], "hermes-buttons")
        self._asked: tuple[Any, ...] = (self._html, self._allowing, self._denying)
        self._edit: _Edit | None = None
        self._sending: asyncio.Task[None] | None = None
        self._focusing: asyncio.Task[None] | None = None
        self._given: Decision | None = None
        self._outcome: ApprovalResolved | None = None
        self._late = False
        self._rearmed = 0
        self.box = stage.column(self._asked, "hermes-card")

    @property
    def _name(self) -> str:
        return one_line(self._request.call.name, 60)

    def rearm(self) -> None:
        """Ignore clicks for a moment: what is above changes, and this card moves."""
        self.box.remove_class(f"hermes-moved-{self._rearmed % 2}")
        self._rearmed += 1
        self.box.add_class(f"hermes-moved-{self._rearmed % 2}")

    def resolve(self, event: ApprovalResolved) -> None:
        """Become a line that says who decided what."""
        self._outcome = event
        self._become(resolved_html(event, late=self._late))

    def _become(self, html: str) -> None:
        if self._focusing is not None:
            self._focusing.cancel()
        self.box.children = (self._html,)
        for name in ("hermes-card", "hermes-moved-0", "hermes-moved-1"):
            self.box.remove_class(name)
        self._html.value = html
        self._loop.call_later(LATE_SECONDS, self._discard)

    def _discard(self) -> None:
        """Close what is no longer shown: a click that was on its way has been heard by now."""
        if self._stage.closed:
            return
        for row in (self._allowing, self._denying):
            self._stage.discard(*row.children, row)
        if self._edit is not None:
            self._edit.discard()

    # Answers

    def _choices(self) -> list[Any]:
        request, button = self._request, self._stage.button
        grant, rule = one_line(request.grant, 200), one_line(reveal(request.rule), 300)
        once = f"Allow this one call of {self._name}"
        session = f"Allow for this session: {grant}"
        choices = [
            button("Allow once", once, self._allow("once"), "hermes-allow"),
            button("Allow this session", session, self._allow("session"), "hermes-allow"),
        ]
        if rule:
            always = f"Write this rule, and never ask about it again: {rule}"
            label = f"Always: {rule}" if len(rule) <= RULE_CHARS else "Always, by this rule"
            choices.append(button(label, always, self._allow("always"), "hermes-allow"))
        if request.editable:
            edit = f"Change the {one_line(request.editable, 60)} before it runs"
            choices.append(button("Edit", edit, self._on_loop(self._begin_edit)))
        return choices

    def _allow(self, decision: Decision) -> Callable[[], None]:
        return lambda: self._answer(Ruling(decision=decision))

    def _deny(self) -> None:
        self._answer(Ruling(decision="deny", note=str(self._note.value).strip()))

    def _entered(self, content: dict[str, Any]) -> None:
        if content.get("event") == "submit":
            self._loop.call_soon_threadsafe(self._send, self._deny_with_note())

    async def _deny_with_note(self) -> None:
        await has_arrived(self._stage, self.box, TEXT_SECONDS)  # if not, "no" still is no
        self._deny()

    def _answer(self, ruling: Ruling) -> None:
        request = self._request
        if self._desk.answer(request.id, ruling, by="widget", digest=request.digest):
            self._given = ruling.decision
        elif ruling.decision != self._given:  # a double click says the same once more
            self._loop.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        """An answer that came too late, or to something that has changed since."""
        if self._stage.closed or self._late:
            return
        self._late = True
        if self._outcome is not None:
            self._html.value = resolved_html(self._outcome, late=True)
        else:
            self._become(expired_html(self._request))

    # Edit then run

    def _begin_edit(self) -> None:
        if self._outcome is not None or self._late or self._stage.closed:
            return
        if self._edit is None:
            run, cancel = self._on_loop(self._run_edited), self._on_loop(self._cancel_edit)
            self._edit = _Edit(self._stage, self._request, run, cancel)
        self._edit.say("")
        self._html.value = editing_html(self._request)
        self.box.children = (self._html, *self._edit.parts)
        self._focus(self._edit.field)

    def _cancel_edit(self) -> None:
        if self._sending is None and self._outcome is None and not self._late:
            self._html.value = request_html(self._request)
            self.box.children = self._asked
            self._focus(self._allowing.children[-1])  # what was clicked before is gone

    def _run_edited(self) -> None:
        self._send(self._send_edited())

    async def _send_edited(self) -> None:
        edit = self._edit
        if edit is None:
            return
        if not await has_arrived(self._stage, self.box, EXACT_SECONDS):
            edit.say(NOT_ARRIVED)
        elif not edit.text.strip():
            edit.say(NOTHING)
        else:
            self._answer(edit.ruling())

    def _focus(self, widget: Any) -> None:
        """Put the focus where the person goes on, or the keyboard would have lost its place."""

        async def when_it_is_drawn() -> None:
            if await has_arrived(self._stage, self.box, TEXT_SECONDS):
                widget.focus()

        if self._focusing is not None:
            self._focusing.cancel()
        self._focusing = self._loop.create_task(when_it_is_drawn())

    # Threads

    def _send(self, answering: Coroutine[Any, Any, None]) -> None:
        """Answer once what was typed is here; one at a time."""
        if self._sending is not None or self._outcome is not None or self._stage.closed:
            answering.close()
            return
        self._sending = self._loop.create_task(answering)
        self._sending.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending = None
        if not task.cancelled() and (error := task.exception()):
            raise error  # for the loop to report

    def _on_loop(self, job: Callable[[], None]) -> Callable[[], Any]:
        return lambda: self._loop.call_soon_threadsafe(job)


class _Edit:
    """The field for an edit, and its buttons."""

    def __init__(
        self,
        stage: Stage,
        request: ApprovalRequest,
        run: Callable[[], None],
        cancel: Callable[[], None],
    ) -> None:
        self._stage = stage
        self._asked = str(request.call.args.get(request.editable, ""))
        # Nothing may hide in the field: what has no ink is spelled out, and would run as spelled.
        self._offered = reveal(self._asked)
        least, most = ROWS
        rows = min(max(least, lines_seen(self._offered)), most)
        name = one_line(request.editable, 60)
        self.field = stage.text_area(self._offered, rows, f"Edit {name}", "hermes-edit")
        self._said = stage.html("", "hermes-said")
        buttons = (
            stage.button("Run edited", f"Run it with this {name}", run, "hermes-allow"),
            stage.button("Cancel", "Back to the question", cancel),
        )
        row = stage.row([*buttons, self._said], "hermes-buttons")
        self.parts = (self.field, row)
        self._all = (self.field, *buttons, self._said, row)

    @property
    def text(self) -> str:
        return str(self.field.value)

    def ruling(self) -> Ruling:
        unchanged = self.text == self._offered == self._asked
        return Ruling(decision="once", edited=None if unchanged else self.text)

    def say(self, text: str) -> None:
        said = f'<span class="hermes-quiet" role="status">{escape(text)}</span>'
        self._said.value = said if text else ""

    def discard(self) -> None:
        self._stage.discard(*self._all)
