"""Which view a turn gets: widgets where a page draws them, text for a person, else a record.

The ladder of asking is the same: a card, else ``input()``, else nobody, which means no.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from hermes_jupyter.events import (
    ApprovalRequested,
    Event,
    QuestionAsked,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.base import CellOutput, Desk, Emoji, Talk
from hermes_jupyter.views.ladder import Ladder
from hermes_jupyter.views.live import WidgetView
from hermes_jupyter.views.record import MIME, Record
from hermes_jupyter.views.streams import StandardStreams
from hermes_jupyter.views.text import TextView

PROBE_SECONDS = 3.0
SECOND_LOOK_SECONDS = 1.5
"""For a front end whose answer may have waited behind a cell of the user."""
UPDATE_SECONDS = 1.0


class TurnView(Protocol):
    """A view of one turn, from its start to what stays of it."""

    def __call__(self, event: Event) -> None: ...

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """Show the running turn below another request."""
        ...


class Console:
    """Text on standard output, and ``input()`` in the cell's thread.

    With ``asks=False`` it only shows: the person is asked elsewhere.
    """

    def __init__(
        self, cell: CellOutput, desk: Desk, record: Record, emoji: Emoji, *, asks: bool = True
    ) -> None:
        self._cell, self._record = cell, record
        streams = StandardStreams(cell)
        self._text = TextView(
            streams.write,
            streams.ask if asks else None,
            desk=desk,
            prefills=streams.prefills,
            ask_secret=streams.ask_secret,
            emoji=emoji,
        )

    def __call__(self, event: Event) -> None:
        self._text(event)
        if isinstance(event, TurnFinished):
            self._cell.display(_unseen(self._record))

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """What was printed is printed."""


class Notebook:
    """Widgets; text after all if no page answers that it draws them."""

    def __init__(
        self,
        cell: CellOutput,
        desk: Desk,
        record: Record,
        emoji: Emoji,
        *,
        ladder: Ladder | None,
        talk: Talk | None,
    ) -> None:
        self._cell, self._desk, self._record, self._emoji = cell, desk, record, emoji
        self._ladder = ladder
        display_id = f"hermes-{secrets.token_hex(8)}"
        self._widgets = WidgetView(cell, desk, display_id, emoji=emoji, talk=talk)
        self._told: list[Event] | None = [] if ladder is not None else None
        self._text: Console | None = None
        self._probing: asyncio.Task[None] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, TurnStarted) and self._ladder is not None:
            self._probing = asyncio.get_running_loop().create_task(self._probe(self._ladder))
        if self._told is not None:
            self._told.append(event)
        if not self._widgets.is_closed:
            self._widgets(event)
        if self._text is not None:
            self._text(event)
        if isinstance(event, TurnFinished):
            self._finish()

    def show_again(self, parent: dict[str, Any] | None) -> None:
        self._widgets.show_again(parent)

    async def _probe(self, ladder: Ladder) -> None:
        draws = await self._widgets.alive(PROBE_SECONDS, ladder.clients, self._second_look())
        told, self._told = self._told or [], None
        if not draws:
            asks = ladder.below(self._cell).name == "input"
            self._text = Console(self._cell, self._desk, self._record, self._emoji, asks=asks)
            for event in told:
                self._text(event)

    def _second_look(self) -> Callable[[], Awaitable[float]] | None:
        """Of a turn in the background: what a page answers may wait behind a cell of the user."""
        if not self._cell.is_background:
            return None

        async def when_free() -> float:
            await self._cell.in_cell_thread(lambda: None)
            return SECOND_LOOK_SECONDS

        return when_free

    def _finish(self) -> None:
        if self._probing is not None:
            self._probing.cancel()
        seen = self._text is not None
        self._widgets.final(_unseen(self._record) if seen else self._record.bundle())


class Headless:
    """Nobody looks on: the record grows in the notebook, and every question is answered no."""

    def __init__(self, cell: CellOutput, desk: Desk, record: Record) -> None:
        self._cell, self._desk, self._record = cell, desk, record
        self._display_id = f"hermes-{secrets.token_hex(8)}"
        self._updated = 0.0

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._show(update=False)
            case ApprovalRequested(request=request):
                self._desk.answer(request.id, "deny", by="policy", digest=request.digest)
            case QuestionAsked(question=question):
                self._desk.reply(question.id, None, by="policy")
            case TurnFinished():
                self._show(update=True)
            case _ if time.monotonic() - self._updated > UPDATE_SECONDS:
                self._show(update=True)

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """There is no page to show it on."""

    def _show(self, *, update: bool) -> None:
        self._updated = time.monotonic()
        self._cell.display(self._record.bundle(), display_id=self._display_id, update=update)


def open_view(
    cell: CellOutput,
    desk: Desk,
    record: Record,
    *,
    ladder: Ladder,
    emoji: Emoji,
    talk: Talk | None = None,
) -> TurnView:
    """The view for a cell; call it in the cell's thread.

    Parameters
    ----------
    talk
        What a person may do with the turn while it runs.
    """
    rung = ladder.rung(cell)
    if rung.name == "policy":
        return Headless(cell, desk, record)
    if rung.name != "widget":
        return Console(cell, desk, record, emoji, asks=rung.name == "input")
    probed = None if rung.is_sure else ladder
    try:
        return Notebook(cell, desk, record, emoji, ladder=probed, talk=talk)
    except ImportError:  # ipywidgets is broken; %hermes doctor says so
        return Console(cell, desk, record, emoji)


def _unseen(record: Record) -> dict[str, Any]:
    """The record for programs; a person has read the turn as text already."""
    return {"text/plain": "", MIME: record.bundle()[MIME]}
