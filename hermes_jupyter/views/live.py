"""A running turn as widgets: text as it streams, a card per call, buttons that ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    Event,
    MessageSaid,
    NoticeGiven,
    QuestionAnswered,
    QuestionAsked,
    ReasoningStreamed,
    ReplayCompared,
    RetryPlanned,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputStreamed,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.approval_card import ApprovalCard
from hermes_jupyter.views.base import CellOutput, Desk, Emoji, Talk, no_emoji
from hermes_jupyter.views.cards import Batch, CallCard, QuestionCard
from hermes_jupyter.views.lanes import Lanes, usage_in
from hermes_jupyter.views.pace import Pace
from hermes_jupyter.views.probe import KnownClients, Probe
from hermes_jupyter.views.sanitize import escape, listing, one_line
from hermes_jupyter.views.status import StatusLine
from hermes_jupyter.views.streaming import TextSegment
from hermes_jupyter.views.style import CSS
from hermes_jupyter.views.talking import TalkLine
from hermes_jupyter.views.thoughts import thoughts_html
from hermes_jupyter.views.widgets import Stage, view_of

RELOADED = (
    "The page was reloaded while this ran, so the notebook file does not hold it. "
    "Run <code>%hermes last</code> in a cell to keep it."
)

LIVE = {"hermes": {"live": True}}
"""Of an output that only the kernel keeps: when it has ended, a page can tell."""


class WidgetView:
    """A view; construct it in the cell's thread, then feed it on the agent's loop.

    Parameters
    ----------
    display_id
        Under which the root widget is displayed, and replaced by `final`.
    talk
        What a person may do with the turn; None: nothing.
    """

    def __init__(
        self,
        cell: CellOutput,
        desk: Desk,
        display_id: str,
        *,
        emoji: Emoji = no_emoji,
        talk: Talk | None = None,
    ) -> None:
        self._cell, self._desk, self._display_id, self._emoji = cell, desk, display_id, emoji
        self._talk = talk
        self._stage = Stage(cell)
        self._body = self._stage.column((), "hermes-body")
        self._status = StatusLine(self._stage)
        style = self._stage.html(f"<style>{CSS}</style>", "hermes-style")
        parts = [style, self._body, self._status.widget]
        self._root = self._stage.column(parts, "hermes-turn")
        self._text: TextSegment | None = None
        self._thoughts = ""
        self._cards: dict[str, CallCard] = {}
        self._batches: dict[str, Batch] = {}
        self._lanes: dict[str, Lanes] = {}
        self._questions: dict[str, ApprovalCard | QuestionCard] = {}
        self._notices: dict[str, Any] = {}
        self._refresh_planned = False
        self._pace = Pace()
        self.show_again(None)

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """Display the turn below its cell, or below another request (after a reload)."""
        if not self._stage.closed:
            bundle = view_of(self._root)
            self._cell.display(bundle, metadata=LIVE, display_id=self._display_id, parent=parent)

    async def alive(
        self,
        within: float,
        clients: KnownClients,
        second_look: Callable[[], Awaitable[float]] | None = None,
    ) -> bool:
        """Whether the cell's front end draws this view. Call on the agent's loop.

        ``second_look`` waits until another look makes sense, and tells how long to look then.
        """
        known = clients.shows_widgets(self._cell.client)
        if known is not None:
            return known
        player = self._stage.hidden_player()
        probe = Probe(player)
        self._add(player)
        shows = await probe.alive(within)
        if not shows and not probe.is_refused and second_look is not None:
            shows = await probe.alive(await second_look())
        clients.learn(self._cell.client, shows=shows)
        if probe.is_refused:
            self._stage.close()
            return False
        self._body.children = tuple(child for child in self._body.children if child is not player)
        self._stage.discard(player)
        return shows

    @property
    def is_closed(self) -> bool:
        """It shows nothing any more."""
        return self._stage.closed

    def final(self, bundle: dict[str, Any]) -> None:
        """Replace the widgets by what stays. The update goes first, so nothing flickers."""
        self._cell.display(bundle, display_id=self._display_id, update=True)
        stays = self._cell.page_is_new or self._cell.page_is_all
        if stays and "text/html" in bundle:
            self._leave(bundle["text/html"])
        else:
            self._stage.close()

    def _leave(self, record: str) -> None:
        """Show the record in the widget: this page cannot be told to replace its output."""
        said = "" if self._cell.page_is_all else f'<div class="hermes-notice">{RELOADED}</div>'
        note = self._stage.html(said)
        kept = self._stage.html(record)
        self._root.children = (self._root.children[0], kept, note)
        self._stage.close(self._root, *self._root.children)

    def __call__(self, event: Event) -> None:
        if self._stage.closed:
            return
        match event:
            case TextStreamed(text=text):
                self._stream(text)
            case ReasoningStreamed(text=text):
                self._status.think(text)
                self._thoughts += text
            case RetryPlanned():
                self._status.wait(event, self._now())
            case ToolOutputStreamed(call=call, text=text) if not call.by:
                self._card(call).hear(text)
            case StepStarted() | StepFinished() | TurnStarted() | TurnFinished():
                self._follow_turn(event)
            case BatchStarted() | ToolCallStarted() | ToolCallFinished():
                self._follow_calls(event)
            case ChildrenPlanned() | ChildStarted() | ChildTold() | ChildFinished():
                self._follow_children(event)
            case ApprovalRequested(request=request):
                self._ask(request)
            case ApprovalResolved():
                self._resolve(event)
            case QuestionAsked(question=question):
                self._ask_question(question)
            case QuestionAnswered(question=question, answer=answer, by=by):
                asked = self._questions.pop(question.id, None)
                if isinstance(asked, QuestionCard):
                    asked.resolve(answer, by)
            case MessageSaid(text=text):
                said = f'<div class="hermes-spoken"><b>{words.YOU}</b> {escape(redact(text))}</div>'
                self._add(self._stage.html(said))
            case ReplayCompared(differences=differences):
                self._compare(differences)
            case NoticeGiven():
                self._notice(event)
        self._refresh_soon()

    # The turn and its text

    def _follow_turn(self, event: Event) -> None:
        match event:
            case TurnStarted(steps=steps):
                self._status.begin(event, self._now())
                if self._talk is not None and steps:  # else a call by hand: nobody listens
                    line = TalkLine(self._stage, self._talk, asyncio.get_running_loop())
                    self._root.children = (*self._root.children, line.box)
                self._tick()
            case StepStarted(number=number):
                if self._text is not None:
                    self._text.withdraw()  # of a model call that broke and is made again
                self._text, self._thoughts = None, ""
                self._status.step(number)
            case StepFinished(text=text, usage=usage):
                self._fold_thoughts()
                if text.strip() and self._text is None:
                    self._stream(text)
                if self._text is not None:
                    self._text.refresh()
                self._text = None
                self._status.count(usage)
            case TurnFinished():
                self._refresh()
                self._status.end(event)

    def _fold_thoughts(self) -> None:
        """What the model thought before it spoke, folded."""
        if self._thoughts.strip():
            self._add(self._stage.html(thoughts_html(self._thoughts)))
        self._thoughts = ""

    def _stream(self, text: str) -> None:
        if self._text is None:
            self._fold_thoughts()
            self._text = TextSegment(self._stage, self._body)
        self._text.feed(text)
        self._pace.heard(text)
        self._status.write()

    # Calls

    def _follow_calls(self, event: Event) -> None:
        match event:
            case BatchStarted(calls=calls):
                self._add_batch(calls)
            case ToolCallStarted(call=call) if call.by:
                self._card(call).hear(f"{words.about(call, self._emoji)}\n")
            case ToolCallStarted(call=call):
                self._card(call).start(self._now())
            case ToolCallFinished(result=result) if not result.call.by:
                self._card(result.call).finish(result)
                if batch := self._batches.get(result.call.id):
                    batch.finish_one()

    def _follow_children(self, event: Event) -> None:
        match event:
            case ChildrenPlanned(call_id=call_id, number=number):
                lanes = Lanes(self._stage, number, self._desk, self._emoji)
                self._lanes[call_id] = lanes
                if call_id in self._cards:
                    self._cards[call_id].show_lanes(lanes)
            case ChildStarted(call_id=call_id) | ChildFinished(call_id=call_id):
                if there := self._lanes.get(call_id):
                    there(event, self._now())
            case ChildTold(child=child, event=told):
                for lanes in self._lanes.values():
                    if lanes.has(child):
                        lanes(event, self._now())
                if usage := usage_in(told):
                    self._status.add(usage)

    def _add_batch(self, calls: Sequence[ToolCall]) -> None:
        cards = [CallCard(self._stage, call, self._emoji) for call in calls]
        self._cards.update((card.call.id, card) for card in cards)
        if len(cards) == 1:
            self._add(cards[0].lane)
            return
        batch = Batch(self._stage, cards)
        self._batches.update((call.id, batch) for call in calls)
        self._add(batch.widget)

    def _card(self, call: ToolCall) -> CallCard:
        """Its card; a call of a script is shown in that of the script."""
        if call.by in self._cards:
            return self._cards[call.by]
        if call.id not in self._cards:
            self._add_batch((call,))
        return self._cards[call.id]

    # Questions to the person, and notices

    def _ask(self, request: ApprovalRequest) -> None:
        self._rearm()
        card = ApprovalCard(self._stage, request, self._desk, asyncio.get_running_loop())
        self._questions[request.id] = card
        if request.path:
            self._ask_in_lane(request, card)
        else:
            self._card(request.call).ask(card.box)

    def _ask_in_lane(self, request: ApprovalRequest, card: ApprovalCard) -> None:
        for lanes in self._lanes.values():
            if lanes.has(request.path[0]):
                lanes.ask(request.path, card.box)
                return
        self._add(card.box)

    def _resolve(self, event: ApprovalResolved) -> None:
        card = self._questions.pop(event.request.id, None)
        if isinstance(card, ApprovalCard):
            self._rearm()
            card.resolve(event)
            if not event.request.path:
                called = self._card(event.request.call)
                called.go_on() if event.request.call.by else called.wait()

    def _rearm(self) -> None:
        """Cards that wait are about to move, maybe below a pointer that is clicking."""
        for card in self._questions.values():
            if isinstance(card, ApprovalCard):
                card.rearm()

    def _ask_question(self, question: Question) -> None:
        self._rearm()
        loop = asyncio.get_running_loop()
        card = QuestionCard(self._stage, question, self._desk, loop)
        self._questions[question.id] = card
        self._add(card.box)

    def _notice(self, event: NoticeGiven) -> None:
        sign = '<span class="hermes-sign">⚠</span> ' if event.level == "warning" else ""
        said = sign + escape(one_line(redact(event.text), 500))
        value = f'<div class="hermes-notice hermes-{event.level}">{said}</div>'
        widget = self._notices.get(event.key) if event.key else None
        if not event.text:
            value = ""
        if widget is not None:
            widget.value = value
            return
        widget = self._stage.html(value)
        self._notices[event.key] = widget
        self._add(widget)

    def _compare(self, differences: Sequence[str]) -> None:
        said = redact("\n\n".join(differences))
        head = f'<div class="hermes-notice">⚠ {escape(words.compared(len(differences)))}</div>'
        self._add(self._stage.html(head + listing(said)))

    # Drawing

    def _add(self, widget: Any) -> None:
        self._body.children = (*self._body.children, widget)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _refresh_soon(self) -> None:
        if not self._refresh_planned:
            self._refresh_planned = True
            delay = self._pace.delay(self._now())
            asyncio.get_running_loop().call_later(delay, self._refresh_planned_one)

    def _refresh_planned_one(self) -> None:
        self._refresh_planned = False
        self._refresh()

    def _refresh(self) -> None:
        if self._stage.closed:
            return
        self._refresh_text()
        self._refresh_lines()

    def _refresh_text(self) -> None:
        if self._text is not None:
            size = self._text.refresh(whole=not self._pace.is_quick)
            self._pace.sent(size, self._now())
            if self._text.is_stale:
                self._refresh_soon()

    def _refresh_lines(self) -> None:
        """What runs, for how long, and what it prints."""
        for card in self._cards.values():
            card.refresh(self._now())
        running = [card.call.name for card in self._cards.values() if card.is_running]
        self._status.refresh(self._now(), running=running, asks=bool(self._questions))

    def _tick(self) -> None:
        """Let the seconds go on while nothing else happens."""
        if not self._stage.closed and self._status.is_running:
            self._refresh_lines()
            asyncio.get_running_loop().call_later(1.0, self._tick)
