"""A listener that keeps a turn so that it can be made again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hermes_jupyter.calls import Place
from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import (
    ApprovalRequested,
    Event,
    NoticeGiven,
    OutputDisplayed,
    QuestionAsked,
    ReasoningStreamed,
    ReplayCompared,
    RetryPlanned,
    TextStreamed,
    ToolOutputStreamed,
    TurnFinished,
    TurnRecorded,
    TurnStarted,
)
from hermes_jupyter.recording.displays import Displays
from hermes_jupyter.recording.encoding import inner_of
from hermes_jupyter.recording.parcel import parcel
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import Sidecars
from hermes_jupyter.recording.values import Recording

logger = logging.getLogger(__name__)

PASSING = (
    ApprovalRequested,
    OutputDisplayed,
    QuestionAsked,
    ReasoningStreamed,
    RetryPlanned,
    TextStreamed,
    ToolOutputStreamed,
    TurnRecorded,
    ReplayCompared,
)
"""What is only shown while a turn runs, or says nothing of it."""
ENDED = ("done", "stopped")
"""How a turn ends that is worth keeping."""


@dataclass(kw_only=True)
class Recorder:
    """Hears a turn before its views do, and says where its recording lies.

    Parameters
    ----------
    emit
        The turn's own. What the recorder tells comes before the end of the turn for all who
        hear it later.
    """

    prompt_sha256: str
    line: str
    place: Place
    shelf: Shelf
    sidecars: Sidecars
    travels: bool
    """Does the recording go with the notebook?"""
    stays: bool
    """May the cell show this turn again when it runs once more?"""
    begun: Callable[[str], None]
    """Told the id of the turn when it begins."""
    emit: Callable[[Event], None] = field(default=lambda event: None)
    _events: list[Event] = field(default_factory=list)
    _displays: Displays = field(default_factory=Displays)

    def __call__(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self.begun(event.turn)
        told = inner_of(event) or event
        if isinstance(event, OutputDisplayed):
            self._events.append(self._displays.recorded(event))
        elif not isinstance(told, PASSING) and not _is_progress(told):
            self._events.append(event)
        if isinstance(event, TurnFinished) and event.status in ENDED:
            self._keep(event)

    def _keep(self, finished: TurnFinished) -> None:
        started = self._events[0]
        if not isinstance(started, TurnStarted):
            return
        recording = Recording(
            turn=started.turn,
            session_id=started.session_id,
            prompt_sha256=self.prompt_sha256,
            line=self.line,
            cell=self.place.cell,
            at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            travels=self.travels,
            events=(replace(started, replayed="", recorded_at=""), *self._events[1:]),
        )
        if not (self.travels or (self.stays and recording.cell)):
            return
        try:
            self.shelf.put(recording)
        except StoreError as error:
            logger.warning("a turn cannot be kept", exc_info=True)
            self.emit(NoticeGiven(text=str(error), level="warning"))
        if self.travels:
            for event in parcel(recording, self.sidecars):
                self.emit(event)


def _is_progress(event: Event) -> bool:
    return isinstance(event, NoticeGiven) and event.level == "info"
