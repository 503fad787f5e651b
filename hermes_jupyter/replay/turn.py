"""A turn that is made again from its recording."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from hermes_jupyter.agent.batches import Interrupted, run_batch
from hermes_jupyter.agent.loop import Outcome
from hermes_jupyter.delivery import Delivery
from hermes_jupyter.errors import RecordingError
from hermes_jupyter.events import (
    BatchStarted,
    Event,
    Listener,
    ModelCalled,
    NoticeGiven,
    OutputDisplayed,
    ReplayCompared,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    TurnStarted,
)
from hermes_jupyter.recording.displays import for_a_page
from hermes_jupyter.recording.parcel import parcel
from hermes_jupyter.recording.sidecars import Sidecars
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.replay.comparing import difference
from hermes_jupyter.replay.messages import messages_of
from hermes_jupyter.road.run import Road
from hermes_jupyter.session import Session
from hermes_jupyter.turn import Turn
from hermes_jupyter.turn_values import TurnOptions, TurnResult

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes

How = Literal["record", "tools", "kept"]
OF_THE_MODEL = (StepStarted, StepFinished, ModelCalled)
"""What is as recorded when the tools run again; all else happens anew."""
ELSE_ASKED = "what was asked before this cell has changed since; --fresh asks anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How a turn is made again."""

    recording: Recording
    how: How
    sidecars: Sidecars
    travels: bool
    """Does its recording go with the notebook again?"""
    is_told: bool
    """Is the turn a part of this conversation already?"""
    is_stale: bool = False
    """Was something asked anew that came before it?"""


class UnfoundTurn(Turn):
    """A turn that cannot be made again: it ends at once, and only its views hear of it."""

    def __init__(
        self,
        error: RecordingError,
        hermes: Hermes,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> None:
        super().__init__(hermes, session, options, listeners, context)
        self._error = error
        self._delivery = Delivery(
            session.journal, listeners, hermes.hooks.take_problems, is_stored=False
        )

    async def work(self, prompt: str) -> Outcome:
        self.emit(self.started(prompt, model="", steps=self._budget.total))
        raise self._error


class ReplayTurn(Turn):
    """Says what was recorded. No model is asked; only ``tools`` calls a tool."""

    def __init__(
        self,
        replay: Replay,
        hermes: Hermes,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> None:
        super().__init__(hermes, session, options, listeners, context)
        self._replay = replay
        self._recording = replay.recording
        self._answered = {
            event.result.call.id: event.result
            for event in replay.recording.events
            if isinstance(event, ToolCallFinished)
        }
        self._differences: list[str] = []
        if replay.how != "tools":
            self._id = replay.recording.turn
            # What was decided then is no decision of now: neither audit log nor hooks hear of it.
            problems = hermes.hooks.take_problems
            self._delivery = Delivery(
                session.journal, listeners, problems, is_stored=not replay.is_told
            )

    async def work(self, prompt: str) -> Outcome:
        self.emit(self._begun(prompt))
        if self._replay.is_stale:
            self.emit(NoticeGiven(text=ELSE_ASKED, level="warning"))
        road = await self._own_road() if self._replay.how == "tools" else None
        for event in self._recording.events[1:-1]:
            if isinstance(event, BatchStarted) and road is not None:
                await self._run_again(event, road)
            elif road is None or isinstance(event, OF_THE_MODEL):
                self._say_again(event)
        if self._differences:
            self.emit(ReplayCompared(differences=tuple(self._differences)))
        if not self._replay.is_told:
            self._session.transcript.extend(messages_of(self._recording, prompt))
        finished = self._recording.finished
        return Outcome(text=finished.text, status=finished.status, reason=finished.reason)

    def _begun(self, prompt: str) -> TurnStarted:
        """The recorded beginning, in this conversation."""
        return replace(
            self._recording.started,
            session=self._session.name,
            session_id=self._session.id,
            turn=self._id,
            prompt=prompt,
            line=self._recording.line,
            cell=self._options.place.cell or self._recording.cell,
            replayed=self._replay.how,
            recorded_at=self._recording.at,
        )

    def _say_again(self, event: Event) -> None:
        if isinstance(event, StepFinished) and event.text.strip():
            self.emit(TextStreamed(text=event.text))
        if isinstance(event, OutputDisplayed):
            self._show_again(event)
            return
        self.emit(event)

    def _show_again(self, event: OutputDisplayed) -> None:
        """Below the cell, without what would act on the page: the recording may be anybody's."""
        display, kept = self._more.get("display"), for_a_page(event)
        if display is not None and kept.data:
            display(dict(kept.data), metadata=dict(kept.metadata))

    def _count(self, *_: Any, **__: Any) -> None:
        """Nothing is used."""

    async def _own_road(self) -> Road:
        await self._reach_terminal()
        return self.road(await self._tools())

    async def _run_again(self, batch: BatchStarted, road: Road) -> None:
        """Run recorded calls, through the same gate as ever, and compare."""
        try:
            results = await run_batch(batch.calls, road.run, self.emit)
        except Interrupted:
            raise asyncio.CancelledError from None
        for now in results:
            recorded = self._answered.get(now.call.id)
            if recorded is not None and (said := difference(recorded, now)):
                self._differences.append(said)

    async def _finish(self, outcome: Outcome) -> TurnResult:
        """The recorded end; or the true one, if the replay itself did not come to its end."""
        recorded = self._recording.finished
        if (outcome.status, outcome.text) != (recorded.status, recorded.text):
            return await super()._finish(outcome)
        if self._replay.travels:
            for event in parcel(self._recording, self._replay.sidecars):
                self.emit(event)
        changed = await self._changed(recorded.status)
        self.emit(replace(recorded, changed=changed) if changed else recorded)
        if not self._replay.is_told:
            self._hermes.conversations.stored.tidy_soon()
        return TurnResult(
            text=recorded.text,
            status=recorded.status,
            reason=recorded.reason,
            session=self._session.name,
            turn=self._recording.turn,
            steps=recorded.steps,
            seconds=recorded.seconds,
            usage=recorded.usage,
            refused=self._refusals.lines if self._replay.how == "tools" else recorded.refused,
            differences=tuple(self._differences),
        )
