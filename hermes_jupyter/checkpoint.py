"""What one turn changes, noted so that it can be undone: files, and what else there is."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from hermes_jupyter.calls import TurnStatus
from hermes_jupyter.store.checkpoints.recorder import About, FileRecorder
from hermes_jupyter.store.checkpoints.store import Store
from hermes_jupyter.undoable import Item, Told, Undoable
from tools.async_bridge import in_tool_thread

logger = logging.getLogger(__name__)

SECONDS_AT_END = 2.0
"""Longest wait of a turn for its checkpoint. It is finished in the background then."""
SECONDS_AT_INTERRUPT = 0.15


class TurnCheckpoint:
    """The checkpoint of a turn: made when its first call may change something.

    Tools get it as ``checkpoint`` and tell it which files they change (`Recorder`); the road tells
    it of calls that may change anything.
    """

    def __init__(
        self,
        store: Store,
        about: About,
        undoables: Sequence[Undoable],
        warn: Callable[[str], object],
    ) -> None:
        self._files = FileRecorder(store, about, warn)
        self._turn = about.turn
        self._undoables = tuple(undoables)
        self._begun = False

    def before(self, paths: Sequence[str]) -> None:
        """See `Recorder`."""
        self._begun = True
        self._files.before(paths)

    def after(self, paths: Sequence[str]) -> None:
        """See `Recorder`."""
        self._files.after(paths)

    def elsewhere(self, place: str) -> None:
        """See `Recorder`."""
        self._files.elsewhere(place)

    def changed(self, kind: str, change: object) -> None:
        """A tool has changed something of another kind than a file, and says what.

        It is kept at once, so that a kernel that is killed leaves it to the next.
        """
        for each in self._undoables:
            if each.kind == kind and isinstance(each, Told):
                self._begun = True
                try:
                    self._files.set_part(kind, _body(each.note(self._turn, change)))
                except Exception:  # as below
                    logger.exception("a change of a %s cannot be noted", kind)

    def about_to_run(self, tool: str, place: str = "") -> None:
        """A tool is about to run that may change anything, on another machine if it has a name.

        Looks through the workspace before the first one, so call it in a tool thread.
        """
        self._begun = True
        if place:
            self._files.elsewhere(place)
        self._files.look()
        for each in self._undoables:
            try:
                each.begin(self._turn, tool)
            except Exception:  # objects of the user may raise anything
                logger.exception("the %ss before a call cannot be noted", each.kind)

    def prepare(self) -> None:
        """Such a tool may run soon: a person is asked. Then its look at the workspace is short."""
        self._files.prepare()

    async def end(self, status: TurnStatus) -> Mapping[str, int]:
        """The turn is over; how much of each kind it changed, if that is known soon."""
        if not self._begun:
            return {}
        patience = SECONDS_AT_INTERRUPT if status == "interrupted" else SECONDS_AT_END
        work = asyncio.ensure_future(in_tool_thread(self._end))
        try:
            done, _ = await asyncio.wait([work], timeout=patience)
        except asyncio.CancelledError:  # by somebody in a hurry: the turn is over anyway
            done = set()
        if not done:
            work.add_done_callback(_tell_failure)
            return {}
        return work.result()

    def _end(self) -> Mapping[str, int]:
        counts = {}
        for each in self._undoables:
            items = _items_of(each, self._turn)
            if items:
                counts[each.kind] = len(items)
            if items or isinstance(each, Told):
                self._files.set_part(each.kind, _body(items))
        turn = self._files.end()
        return {"file": turn.files, **counts} if turn is not None and turn.files else counts


def _body(items: Sequence[Item]) -> str:
    return json.dumps([asdict(item) for item in items]) if items else ""


def _items_of(undoable: Undoable, turn: str) -> list[Item]:
    try:
        return undoable.end(turn)
    except Exception:  # as above
        logger.exception("the %ss after a turn cannot be noted", undoable.kind)
        return []


def _tell_failure(work: asyncio.Future[Mapping[str, int]]) -> None:
    if not work.cancelled() and (error := work.exception()) is not None:
        logger.error("a checkpoint could not be finished", exc_info=error)
