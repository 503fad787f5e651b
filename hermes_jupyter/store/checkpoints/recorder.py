"""Notes what the calls of one turn do to files. It never fails: a turn goes on without it."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes_jupyter.store.checkpoints import looking, rows
from hermes_jupyter.store.checkpoints.states import ABSENT, State, lstat, sign_of, state_at
from hermes_jupyter.store.checkpoints.store import MOST_EXACT_BYTES, Store

logger = logging.getLogger(__name__)

INCOMPLETE = "not all that it changed is known"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Whose turn it is."""

    turn: str
    session: str
    title: str


class FileRecorder:
    """The files of one turn. Its methods may be called from any thread.

    Parameters
    ----------
    warn
        Told once if something cannot be kept.
    """

    def __init__(self, store: Store, about: About, warn: Callable[[str], object]) -> None:
        self._store = store
        self._about = about
        self._warn = warn
        self._lock = threading.Lock()  # guards all of the next
        self._number: int | None = None
        self._looked = False
        self._notes: list[str] = []
        self._is_over = False

    @property
    def number(self) -> int | None:
        """Of the turn; None as long as nothing was noted."""
        return self._number

    def before(self, paths: Sequence[str]) -> None:
        """These files are about to be changed, made or removed, with the folders they need."""
        names = [os.fsencode(path) for path in paths]
        self._guarded(lambda: self._claim(names))

    def after(self, paths: Sequence[str]) -> None:
        """These files were changed, so that they are not taken for changed by a command."""
        names = [os.fsencode(path) for path in paths]
        self._guarded(lambda: self._know(names))

    def look(self) -> None:
        """A command is about to run: have a look at the workspace, if this is the first."""
        self._guarded(self._look)

    def prepare(self) -> None:
        """A command may run soon: look at the workspace, without a turn that it counts for.

        Raises
        ------
        StoreError, OSError
            If that cannot be; `look` will meet it again, and tell.
        """
        if not self._looked:
            self._store.prepare()

    def elsewhere(self, place: str) -> None:
        """Something is changed in another place than this machine."""
        with self._lock:
            self._note(f"files on {place} are not covered")

    def set_part(self, kind: str, body: str) -> None:
        """Keep what of another kind was changed (JSON); empty if nothing was after all."""
        self._guarded(lambda: self._set_part(kind, body))

    def end(self) -> rows.Turn | None:
        """The turn is over. None if it changed nothing that is known."""
        with self._lock:
            self._is_over = True
            if self._number is None:
                return None
            try:
                return self._store.end(self._number, tuple(self._notes))
            except Exception as problem:  # noqa: BLE001 - it is logged: the turn itself went well
                self._give_up(problem)
                return None

    def _guarded(self, act: Callable[[], None]) -> None:
        with self._lock:
            if self._is_over:
                return
            try:
                act()
            except Exception as problem:  # noqa: BLE001 - it is logged: the tool does its work
                self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        logger.warning("a checkpoint is not complete", exc_info=problem)
        if INCOMPLETE not in self._notes:
            self._note(INCOMPLETE)
            self._warn(f"this turn cannot be undone completely: {problem}")

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)

    def _begun(self) -> int:
        if self._number is None:
            about = self._about
            with self._store.beginning(
                identity=about.turn, session=about.session, title=about.title
            ) as (_, number):
                pass
            self._number = number
            notices = self._store.database.notices
            while notices:
                self._warn(notices.pop(0))
        return self._number

    def _claim(self, paths: Sequence[bytes]) -> None:
        number = self._begun()
        with self._store.database.write() as connection:
            for path in (*_missing_folders(paths), *paths):
                if not rows.has(connection, number, path):
                    rows.claim(connection, number, path, self._was(connection, path), exact=True)

    def _was(self, connection: sqlite3.Connection, path: bytes) -> State:
        """What it was before this turn: a command of it may have changed it already."""
        if self._looked:
            known = rows.known_at(connection, path)
            if known is not None and (known.state.is_kept or not _is_still(path, known)):
                return known.state
            if known is None and looking.was_absent(connection, path):
                return ABSENT
        return state_at(path, MOST_EXACT_BYTES, connection)

    def _know(self, paths: Sequence[bytes]) -> None:
        number = self._number
        if number is None:
            return
        folders = {folder for path in paths for folder in _folders_of(path)}
        with self._store.database.write() as connection:
            made = sorted(each for each in folders if rows.has(connection, number, each))
            for path in (*made, *paths):
                looking.present(connection, path, MOST_EXACT_BYTES)

    def _look(self) -> None:
        if self._looked:
            return
        number = self._begun()
        seen = self._store.look()
        if seen.folders:
            most = self._store.area.most_entries
            folders = "1 folder" if seen.folders == 1 else f"{seen.folders:,} folders"
            said = f"what commands change in {folders} is not covered (more than {most:,} entries)"
            self._note(said)
            if self._store.tell_once("large"):
                self._warn(f"for %hermes undo, {said}")
        with self._store.database.write() as connection:
            connection.execute("UPDATE turn SET looked = 1 WHERE number = ?", (number,))
        self._looked = True

    def _set_part(self, kind: str, body: str) -> None:
        if not body and self._number is None:
            return
        number = self._begun()
        with self._store.database.write() as connection:
            connection.execute("DELETE FROM part WHERE turn = ? AND kind = ?", (number, kind))
            if body:
                connection.execute("INSERT INTO part VALUES (?, ?, ?)", (number, kind, body))


def _is_still(path: bytes, known: rows.Known) -> bool:
    found = lstat(path)
    return found is not None and sign_of(found) == known.sign


def _folders_of(path: bytes) -> list[bytes]:
    found = []
    while (folder := os.path.dirname(path)) != path:  # noqa: PTH120
        found.append(folder)
        path = folder
    return found


def _missing_folders(paths: Sequence[bytes]) -> list[bytes]:
    """Folders that will have to be made, outermost first."""
    return sorted({f for path in paths for f in _folders_of(path) if lstat(f) is None})
