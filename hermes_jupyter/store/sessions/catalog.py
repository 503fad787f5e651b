"""All conversations of a user: begun, found, reopened, copied, renamed, deleted, searched."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import Event
from hermes_jupyter.store.sessions import index, pictures, reading, recovery
from hermes_jupyter.store.sessions.database import Database, now
from hermes_jupyter.store.sessions.endings import Ending, ending_of
from hermes_jupyter.store.sessions.holds import Holds
from hermes_jupyter.store.sessions.journal import About, Journal, new_id, restored_state
from hermes_jupyter.store.sessions.masking import masked
from hermes_jupyter.store.sessions.reading import Entry
from hermes_jupyter.store.sessions.schema import SHIFT, bounds
from hermes_jupyter.store.sessions.transcript import Transcript
from tools.background_threads import BackgroundThreads

LEAST_ID_CHARS = 6
DELETED_AT_ONCE = 500
_COLUMNS = (
    "number, id, name, title, notebook, folder, model, parent, is_child, created, updated,"
    " messages, state, running"
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A conversation that is on disk."""

    number: int
    id: str
    name: str
    title: str
    """Its first prompt, on one line."""
    notebook: str
    folder: str
    model: str
    parent: str
    """The id of the one that it is a copy of, or whose agent it worked for."""
    is_child: bool
    """Did its agent work for the parent's?"""
    created: float
    updated: float
    messages: int
    state: dict[str, Any]
    running: bool
    """Does a turn of it run, or has a kernel died while one did?"""


@dataclass(frozen=True, slots=True)
class Reopened:
    """A conversation that this process goes on with."""

    about: Stored
    journal: Journal
    transcript: Transcript
    was_cut: bool
    """Had a kernel died during its last turn?"""
    ending: Ending


class Sessions:
    """The conversations in ``<home>/jupyter/state.db``. Safe to use from any thread."""

    def __init__(self, home: Path, database: Database | None = None) -> None:
        folder = home / "jupyter"
        self.database = database or Database(folder / "state.db")
        self._holds = Holds(folder / "state.holds")
        self._background = BackgroundThreads(time.monotonic, patience=600.0, limit=1)

    @property
    def path(self) -> Path:
        return self.database.path

    def begin(self, about: About) -> Journal:
        """A new conversation; it is on disk from its first turn on."""
        return Journal(self.database, self._holds, about)

    def reopen(self, identity: str) -> Reopened:
        """Go on with a conversation; a turn that a dead kernel left open is closed first.

        Raises
        ------
        StoreError
            If there is none of this id, or another kernel has it open.
        """
        about = self.get(identity)
        if not self._holds.take(about.number):
            raise StoreError(
                f"session {about.name!r} ({about.id}) is open in another kernel; end it there, or "
                f"go on with a copy: %hermes fork {about.id}"
            )
        try:
            return self._reopened(self.get(identity))
        except BaseException:
            self._holds.give_up(about.number)
            raise

    def _reopened(self, about: Stored) -> Reopened:
        with self.database.read() as connection:
            missing = recovery.needed(connection, about.number) if about.running else []
            last = connection.execute(
                "SELECT max(id) FROM entries WHERE id BETWEEN ? AND ?", bounds(about.number)
            ).fetchone()[0]
        journal = Journal(
            self.database,
            self._holds,
            About(about.name, about.notebook, about.folder, about.parent, about.is_child),
            identity=about.id,
            number=about.number,
            next_place=(last or about.number << SHIFT) - (about.number << SHIFT) + 1,
        )
        journal.state = lambda: about.state
        journal.complete(missing)
        if journal.failed:
            raise StoreError(f"session {about.id} cannot be repaired; see the log")
        with self.database.read() as connection:
            stored = reading.transcript(connection, about.number)
            ending = ending_of(connection, about.number)
        messages = Transcript(journal, stored)
        if missing:
            journal.count = messages.count_said
            journal.note_count()
        return Reopened(about, journal, messages, bool(missing), ending)

    def listing(self, words: str = "", limit: int = 50, offset: int = 0) -> list[Stored]:
        """The conversations that were used last, newest first; with words in title or name.

        Those of children are left out: see `children`.
        """
        like = f"%{_escaped(words)}%"
        return self._select(
            "WHERE NOT is_child AND (title LIKE ? ESCAPE '\\' OR name LIKE ? ESCAPE '\\'"
            " OR notebook LIKE ? ESCAPE '\\')"
            " ORDER BY updated DESC, number DESC LIMIT ? OFFSET ?",
            (like, like, like, limit, offset),
        )

    def children(self, about: Stored) -> list[Stored]:
        """The conversations of agents that have worked for this one's, oldest first."""
        return self._select("WHERE parent = ? AND is_child ORDER BY number", (about.id,))

    def count(self) -> int:
        """How many conversations there are."""
        with self.database.read() as connection:
            return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])

    def of_notebook(self, path: str, name: str) -> list[Stored]:
        """The conversations of this name that belong to a notebook, newest first."""
        return self._select(
            "WHERE notebook = ? AND name = ? AND NOT is_child ORDER BY updated DESC LIMIT 20",
            (masked(path), masked(name)),
        )

    def get(self, identity: str) -> Stored:
        """The conversation with exactly this id.

        Raises
        ------
        StoreError
            If there is none.
        """
        found = self._select("WHERE id = ?", (identity,))
        if not found:
            raise StoreError(f"there is no session {identity!r}; %hermes sessions lists them")
        return found[0]

    def look_up(self, identity: str) -> Stored | None:
        """The same; None if there is none."""
        found = self._select("WHERE id = ?", (identity,))
        return found[0] if found else None

    def by_number(self, number: int) -> Stored:
        """The conversation of which entries were found."""
        return self._select("WHERE number = ?", (number,))[0]

    def find(self, wanted: str) -> Stored:
        """The conversation with this id, beginning or end of an id, or name (the last used one).

        Raises
        ------
        StoreError
            If there is none, or the part of an id is one of several.
        """
        exact = self._select("WHERE id = ?", (wanted,))
        named = self._select(
            "WHERE name = ? ORDER BY is_child, updated DESC LIMIT 1", (masked(wanted),)
        )
        if exact or named:
            return (exact or named)[0]
        if len(wanted) >= LEAST_ID_CHARS:
            part = _escaped(wanted)
            like = self._select(
                "WHERE id LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\' LIMIT 3",
                (f"{part}%", f"%{part}"),
            )
            if len(like) == 1:
                return like[0]
            if like:
                raise StoreError(f"{wanted!r} may mean {' or '.join(each.id for each in like)}")
        raise StoreError(f"there is no session {wanted!r}; %hermes sessions lists them")

    def is_open_elsewhere(self, about: Stored) -> bool:
        """Has another kernel it open? Do not ask about one that is open here."""
        return not self._holds.is_free(about.number)

    def rename(self, identity: str, name: str) -> None:
        with self.database.write() as connection:
            connection.execute(
                "UPDATE sessions SET name = ? WHERE id = ?", (masked(name), identity)
            )

    def move(self, identity: str, notebook: str) -> None:
        """Say to which notebook it belongs."""
        with self.database.write() as connection:
            connection.execute(
                "UPDATE sessions SET notebook = ? WHERE id = ?", (masked(notebook), identity)
            )

    def fork(self, about: Stored, *, name: str = "", notebook: str = "") -> Stored:
        """Copy a conversation; both go on from the same past."""
        identity, at = new_id(), now()
        with self.database.write() as connection:
            cursor = connection.execute(
                "INSERT INTO sessions (id, name, title, notebook, folder, model, parent, created,"
                " updated, messages, state, running, stale)"
                " SELECT ?, ?, title, ?, folder, model, id, ?, ?, messages, state, running, 1"
                " FROM sessions WHERE number = ?",
                (identity, masked(name or about.name), masked(notebook), at, at, about.number),
            )
            shift = (int(cursor.lastrowid or 0) - about.number) << SHIFT
            connection.execute(
                "INSERT INTO entries (id, kind, at, text, body, source, place, gone)"
                " SELECT id + ?, kind, at, text, body, source + ?, place, gone"
                " FROM entries WHERE id BETWEEN ? AND ?",
                (shift, shift, *bounds(about.number)),
            )
            connection.execute(
                "INSERT INTO partials SELECT ?, part, kind, call, text FROM partials"
                " WHERE session = ?",
                (cursor.lastrowid, about.number),
            )
            pictures.copy_uses(connection, about.number, int(cursor.lastrowid or 0))
        return self.get(identity)

    def delete(self, about: Stored) -> None:
        """Remove a conversation for good, and those of its children.

        Raises
        ------
        StoreError
            If it is open in another kernel.
        """
        if not self._holds.take(about.number):
            raise StoreError(f"session {about.id} is open, here or in another kernel")
        try:
            for child in self.children(about):
                self.delete(child)
            self._remove(about.number)
        finally:
            self._holds.give_up(about.number)

    def _remove(self, number: int) -> None:
        first, last = bounds(number)
        more = True
        while more:  # in pieces: other kernels write in between
            with self.database.write() as connection:
                index.forget(connection, first, last, DELETED_AT_ONCE)
                gone = connection.execute(
                    "DELETE FROM entries WHERE id IN"
                    " (SELECT id FROM entries WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?)",
                    (first, last, DELETED_AT_ONCE),
                ).rowcount
                more = gone == DELETED_AT_ONCE
                if not more:
                    connection.execute("DELETE FROM partials WHERE session = ?", (number,))
                    pictures.forget(connection, number)
                    connection.execute("DELETE FROM sessions WHERE number = ?", (number,))

    def entries(self, about: Stored) -> list[Entry]:
        """All that is stored of a conversation, as it happened."""
        with self.database.read() as connection:
            return [*reading.entries(connection, about.number)]

    def turns_of(self, identity: str) -> list[str]:
        """The ids of a conversation's turns, in their order; calls by hand are none."""
        about = self.look_up(identity)
        if about is None:
            return []
        with self.database.read() as connection:
            found = connection.execute(
                "SELECT json_extract(body, '$.turn') FROM entries WHERE id BETWEEN ? AND ?"
                " AND kind = 'TurnStarted' AND json_extract(body, '$.steps') > 0 ORDER BY id",
                bounds(about.number),
            )
            return [str(turn) for (turn,) in found]

    def history(self, about: Stored) -> list[tuple[Entry, Event]]:
        """What happened in a conversation."""
        with self.database.read() as connection:
            return [*reading.history(reading.entries(connection, about.number))]

    def tidy(self) -> None:
        """What can wait until a turn has ended: the indexes, and the file itself."""
        index.catch_up(self.database)
        with suppress(StoreError):  # closed meanwhile, or not to be used: then nothing is added
            pictures.make_room(self.database)
        self.database.checkpoint()

    def tidy_soon(self) -> None:
        """The same in the background."""
        self._background.add(self.tidy)

    def close(self) -> None:
        self._holds.close()
        self.database.close()

    def _select(self, where: str, values: Sequence[Any]) -> list[Stored]:
        with self.database.read() as connection:
            return [_stored(row) for row in connection.execute(_select(where), values)]


def _select(where: str) -> str:
    return f"SELECT {_COLUMNS} FROM sessions {where}"


def _stored(row: tuple[Any, ...]) -> Stored:
    found = Stored(*row)
    return replace(
        found,
        is_child=bool(found.is_child),
        state=restored_state(row[-2]),
        running=bool(found.running),
    )


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in text)
