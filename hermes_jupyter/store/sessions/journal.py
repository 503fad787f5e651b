"""One conversation, as it is written: events before they are shown, messages as they are added.

A message whose text an event has said before refers to it. A conversation that cannot be written
goes on in memory; that is said once, and the next turn tries again.
"""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    ChildTold,
    Event,
    MessageSaid,
    NoticeGiven,
    OutputDisplayed,
    ReasoningStreamed,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputStreamed,
    TurnFinished,
    TurnRecorded,
    TurnStarted,
)
from hermes_jupyter.store.sessions import event_rows, message_rows, pictures
from hermes_jupyter.store.sessions.database import Database, now
from hermes_jupyter.store.sessions.event_rows import Row
from hermes_jupyter.store.sessions.holds import Holds
from hermes_jupyter.store.sessions.masking import dumped, masked, masked_value
from hermes_jupyter.store.sessions.message_rows import Message
from hermes_jupyter.store.sessions.partials import Partials
from hermes_jupyter.store.sessions.schema import SHIFT

logger = logging.getLogger(__name__)

TITLE_CHARS = 120
_INSERT = (
    "INSERT INTO entries (id, kind, at, text, body, source, place) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class About(NamedTuple):
    """What a session is, beside its entries."""

    name: str
    notebook: str = ""
    folder: str = ""
    parent: str = ""
    is_child: bool = False
    """Does its agent work for that of the parent? Else it is a copy of the parent."""


class Journal:
    """Writes one conversation. Nothing is on disk before its first turn.

    Parameters
    ----------
    number, next_place
        Of a session that is there already; 0 for a new one.
    state
        What is kept beside the conversation, such as the to-do list; asked after each call.
    """

    def __init__(
        self,
        database: Database,
        holds: Holds,
        about: About,
        *,
        identity: str = "",
        number: int = 0,
        next_place: int = 1,
    ) -> None:
        self.id = identity or new_id()
        self.about = about
        self.failed = False
        """Is there something that could not be written?"""
        self.state: Callable[[], Mapping[str, Any]] = dict
        self.count: Callable[[], int] = int
        """How many messages the conversation has."""
        self.warn: Callable[[str], None] = logger.warning
        self._database, self._holds = database, holds
        self._lock = threading.RLock()  # guards all below
        self._number, self._next = number, next_place
        self._partials = Partials(number)
        self._said: dict[str, tuple[int, str]] = {}
        """What the last events said, by role or by call: the row, and the bare text."""
        self._args: dict[str, Mapping[str, Any]] = {}
        self._state = ""

    @property
    def is_stored(self) -> bool:
        """Is there anything on disk?"""
        return bool(self._number)

    def hear(self, event: Event) -> None:
        """Write an event down. The first listener of a turn: what others show is on disk."""
        with self._lock:
            if isinstance(event, TurnStarted):
                self.failed = False
            if not self._says_nothing(event):
                self._try(lambda connection: self._write(connection, event))

    def complete(self, missing: Sequence[Event | Message]) -> None:
        """Add what a dead kernel has left out, all at once."""
        with self._lock:

            def work(connection: sqlite3.Connection) -> None:
                for each in missing:
                    if isinstance(each, Event):
                        self._write_whole(connection, each)
                    else:
                        self._add(connection, each, None)

            if missing:
                self._try(work)

    def note_count(self) -> None:
        """Write down how many messages there are now."""
        with self._lock:
            self._try(
                lambda connection: connection.execute(
                    "UPDATE sessions SET messages = ? WHERE number = ?",
                    (self.count(), self._number),
                )
            )

    def add(self, message: Message, place: float | None = None) -> int:
        """Add a message to the transcript; its row, or 0 if it could not be written."""
        with self._lock:
            rows: list[int] = []
            self._try(lambda connection: rows.append(self._add(connection, message, place)))
            return rows[0] if rows else 0

    def replace(
        self, gone: Sequence[int], why: str, added: Sequence[tuple[Message, float]]
    ) -> list[int]:
        """Put messages, each with its place, where others have been; rows of the new ones."""
        with self._lock:
            rows: list[int] = []

            def work(connection: sqlite3.Connection) -> None:
                connection.executemany(
                    "UPDATE entries SET gone = ? WHERE id = ?", [(why, row) for row in gone]
                )
                rows.extend(self._add(connection, message, place) for message, place in added)

            self._try(work)
            return rows or [0] * len(added)

    def picture(self, digest: str) -> pictures.Kept | None:
        """An image that the conversation has had, by the beginning of its digest."""
        if not self._number:
            return None
        with self._database.read() as connection:
            return pictures.named(connection, self._number, digest)

    def place_of(self, row: int) -> float:
        """Where a message stands that was just added at the end."""
        return float(row - (self._number << SHIFT))

    def close(self) -> None:
        """Let others go on with the session."""
        with self._lock:
            if self._number:
                self._holds.give_up(self._number)

    def _try(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """One transaction. What fails is said once, and ends the writing for this turn."""
        if self.failed:
            return
        was_stored = self._number
        try:
            with self._database.write() as connection:
                if not self._number:
                    self._create(connection)
                work(connection)
        except StoreError as error:
            if not was_stored:
                self.close()
                self._number = 0
            logger.warning("a conversation cannot be written", exc_info=True)
            self.failed = True
            self.warn(f"this conversation is not stored any more: {error}")

    def _create(self, connection: sqlite3.Connection) -> None:
        about, at = self.about, now()
        cursor = connection.execute(
            "INSERT INTO sessions (id, name, notebook, folder, parent, is_child, created, updated)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self.id, *map(masked, about[:4]), about.is_child, at, at),
        )
        number = int(cursor.lastrowid or 0)
        self._holds.take(number)
        self._number, self._partials = number, Partials(number)

    # Events

    def _says_nothing(self, event: Event) -> bool:
        """Is there nothing to write down?"""
        match event:
            case StepStarted():
                return not (self._partials.has("text") or self._partials.has("reasoning"))
            case NoticeGiven(level="info", key=key):
                return bool(key)  # progress, which the next line replaces
            case ChildTold():
                return True  # the child's own journal has it
            case ApprovalRequested(request=request) | ApprovalResolved(request=request):
                return bool(request.path)  # likewise
            case TurnRecorded():  # all of it is written already
                return True
            case OutputDisplayed():  # the notebook has it, and the recording of the turn
                return True
        return False

    def _write(self, connection: sqlite3.Connection, event: Event) -> None:
        match event:
            case TextStreamed(text=text):
                self._partials.add(connection, "text", text)
            case ReasoningStreamed(text=text):
                self._partials.add(connection, "reasoning", text)
            case ToolOutputStreamed(call=call, text=text):
                self._partials.add(connection, "output", text, call.id)
            case StepStarted():  # of a model call that broke and is made again
                self._partials.drop(connection, "text")
                self._partials.drop(connection, "reasoning")
            case StepFinished(text=text):
                self._settle(connection, "reasoning", "ReasoningStreamed")
                self._partials.drop(connection, "text")
                self._said["assistant"] = self._event(connection, event), text
            case ToolCallFinished(result=result):
                self._partials.drop(connection, "output", result.call.id)
                self._said[result.call.id] = self._event(connection, event), result.text
                self._keep_state(connection)
            case TurnStarted(prompt=prompt):
                self._begin(connection, event)
                self._said["user"] = self._event(connection, event), prompt
            case MessageSaid(text=text):
                self._said["user"] = self._event(connection, event), text
            case TurnFinished():
                self._settle(connection, "reasoning", "ReasoningStreamed")
                self._settle(connection, "text", "TextStreamed")
                self._event(connection, event)
                self._end(connection, event)
            case BatchStarted() | ToolCallStarted() | _:
                self._event(connection, event)

    def _write_whole(self, connection: sqlite3.Connection, event: Event) -> None:
        """The same for what was streamed, but is all there now."""
        if isinstance(event, TextStreamed | ReasoningStreamed):
            self._insert(connection, Row(type(event).__name__, masked(event.text), None))
        else:
            self._write(connection, event)

    def _event(self, connection: sqlite3.Connection, event: Event) -> int:
        return self._insert(connection, event_rows.row_of(event, self._args))

    def _settle(self, connection: sqlite3.Connection, kind: Any, event: str) -> None:
        """What was streamed becomes an entry."""
        if self._partials.has(kind):
            whole = self._partials.whole(connection, kind)
            self._insert(connection, Row(event, masked(whole), None))
            self._partials.drop(connection, kind)

    def _begin(self, connection: sqlite3.Connection, event: TurnStarted) -> None:
        self._said.clear()
        connection.execute(
            "UPDATE sessions SET updated = ?, running = 1, stale = 1,"
            " title = CASE title WHEN '' THEN ? ELSE title END WHERE number = ?",
            (now(), _title(event.prompt), self._number),
        )

    def _end(self, connection: sqlite3.Connection, event: TurnFinished) -> None:
        self._partials.drop_all(connection)
        self._keep_state(connection)
        connection.execute(
            "UPDATE sessions SET updated = ?, running = 0, stale = 1, messages = ?,"
            " model = coalesce(nullif(?, ''), model) WHERE number = ?",
            (now(), self.count(), event.model, self._number),
        )
        self._args.clear()

    def _keep_state(self, connection: sqlite3.Connection) -> None:
        state = self.state()
        told = dumped(state)
        if told != self._state:
            connection.execute(
                "UPDATE sessions SET state = ? WHERE number = ?",
                (dumped(masked_value(state)), self._number),
            )
            self._state = told

    # Messages

    def _add(self, connection: sqlite3.Connection, message: Message, place: float | None) -> int:
        content, images = pictures.taken_out(message.get("content"))
        pictures.keep(connection, self._number, images)
        row = message_rows.row_of({**message, "content": content} if images else message)
        source, said = self._said.get(str(message.get("tool_call_id", row.kind)), (None, None))
        if said and said == message.get("content"):
            return self._insert(connection, row._replace(text=None), source, place)
        self._args.update(message_rows.args_of(message))
        return self._insert(connection, row, None, place)

    def _insert(
        self,
        connection: sqlite3.Connection,
        row: Row,
        source: int | None = None,
        place: float | None = None,
    ) -> int:
        identity = (self._number << SHIFT) + self._next
        connection.execute(_INSERT, (identity, row.kind, now(), row.text, row.body, source, place))
        self._next += 1
        return identity


def _title(prompt: str) -> str:
    """The first line that says something."""
    lines = masked(prompt[: 20 * TITLE_CHARS]).splitlines()
    first = next((line for line in lines if any(map(str.isalnum, line))), "")
    return " ".join(first.split())[:TITLE_CHARS]


def new_id() -> str:
    """When it began, and what nobody can guess."""
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(5)}"


def restored_state(text: str) -> dict[str, Any]:
    """What `Journal.state` said last."""
    try:
        state = json.loads(text)
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}
