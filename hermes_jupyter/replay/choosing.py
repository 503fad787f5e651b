"""Whether a prompt is asked, answered from a recording, or keeps the answer that it has."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_jupyter.canonical import prompt_sha256
from hermes_jupyter.errors import RecordingError, StoreError
from hermes_jupyter.events import Listener
from hermes_jupyter.kernel.shell import first_folder
from hermes_jupyter.recording.finding import Finder, Wanted, Where, earlier_of
from hermes_jupyter.recording.recorder import Recorder
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import Sidecars
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.replay.turn import How, Replay, ReplayTurn, UnfoundTurn
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.text import mended
from hermes_jupyter.turn import Turn
from hermes_jupyter.turn_values import TurnOptions
from tools.async_bridge import in_tool_thread

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes


logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Chooser:
    """Makes the turns of one kernel.

    An earlier answer stays if the same cell asks the same with the same options, a person is
    there, and the answer was one: the turn had come to its end. Headless runs have no cell whose
    answer a person looks at, so nothing stays there.
    """

    _hermes: Hermes
    _finder: Finder = field(default_factory=Finder)
    _asked_anew: set[str] = field(default_factory=set)
    """Turns whose cell has another answer now, or whose answer rests on such a turn."""

    async def turn(
        self,
        prompt: str,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> Turn:
        """The turn of a prompt."""
        settings = options.over(self._hermes.settings)
        wanted = Wanted(
            prompt=mended(prompt),
            prompt_sha256=options.asked_sha256 or prompt_sha256(mended(prompt)),
            line=options.line,
            place=options.place,
        )
        if not session.turns:
            session.turns = await in_tool_thread(lambda: self._turns_of(session))
        try:
            replay = await self._replay(wanted, session, options, settings)
        except RecordingError as error:
            return UnfoundTurn(error, self._hermes, session, options, listeners, context)
        if replay is None:
            return self._asked(wanted, session, options, listeners, context)
        if not replay.is_told:
            session.turns.append(replay.recording.turn)
        return ReplayTurn(replay, self._hermes, session, options, listeners, context)

    def _turns_of(self, session: Session) -> list[str]:
        try:
            return self._hermes.conversations.stored.turns_of(session.id)
        except StoreError:  # the turn will say so, and goes on in memory
            logger.warning("the turns of a conversation cannot be read", exc_info=True)
            return []

    async def _replay(
        self, wanted: Wanted, session: Session, options: TurnOptions, settings: Settings
    ) -> Replay | None:
        """How the turn is made again; None if it is asked. Raises a RecordingError."""
        shelf = Shelf(settings.home, settings.notebook)
        if settings.replay:
            where = Where(
                chosen=settings.recordings,
                notebook=settings.notebook,
                folder=_here(),
                shelf=shelf,
                began=first_folder(),
            )
            found = await in_tool_thread(lambda: self._finder.find(wanted, where))
            how: How = "tools" if settings.replay == "tools" else "record"
            return self._made_again(found, how, session, settings)
        if not wanted.place.cell:
            return None
        earlier = await in_tool_thread(lambda: earlier_of(wanted, shelf, settings.notebook))
        if earlier is None:
            return None
        if options.keep and self._stays(earlier, wanted, settings):
            return self._made_again(earlier, "kept", session, settings)
        self._asked_anew.add(earlier.turn)
        return None

    def _stays(self, earlier: Recording, wanted: Wanted, settings: Settings) -> bool:
        """Is the earlier answer of this cell still the answer?"""
        asked = (earlier.prompt_sha256, earlier.line)
        if asked != (wanted.prompt_sha256, wanted.line) or earlier.finished.status != "done":
            return False
        if settings.keep_answers == "never" or not wanted.place.attended:
            return False
        return settings.keep_answers == "prompt" or not self._is_stale(earlier)

    def _is_stale(self, recording: Recording) -> bool:
        """Was something asked anew that came before it?"""
        return recording.started.after in self._asked_anew

    def _made_again(
        self, recording: Recording, how: How, session: Session, settings: Settings
    ) -> Replay:
        is_stale = how == "kept" and self._is_stale(recording)
        if is_stale:
            self._asked_anew.add(recording.turn)
        return Replay(
            recording=recording,
            how=how,
            sidecars=_sidecars(settings),
            travels=recording.travels or settings.record,
            is_told=recording.turn in session.turns,
            is_stale=is_stale,
        )

    def _asked(
        self,
        wanted: Wanted,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> Turn:
        settings = options.over(self._hermes.settings)
        recorder = Recorder(
            prompt_sha256=wanted.prompt_sha256,
            line=wanted.line,
            place=wanted.place,
            shelf=Shelf(settings.home, settings.notebook),
            sidecars=_sidecars(settings),
            travels=settings.record,
            stays=settings.keep_answers != "never",
            begun=session.turns.append,
        )
        # Before the views: they show at the end of the turn where its recording lies.
        turn = Turn(self._hermes, session, options, [recorder, *listeners], context)
        recorder.emit = turn.emit
        return turn


def _sidecars(settings: Settings) -> Sidecars:
    """Beside the notebook, as far as that is known."""
    return Sidecars(Path(settings.notebook).parent if settings.notebook else _beside())


def _beside() -> Path:
    return first_folder() or _here()


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder is gone
        return Path.home()
