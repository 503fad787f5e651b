"""The checkpoints of one workspace, and those of a process."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.checkpoints import looking, rows
from hermes_jupyter.store.checkpoints.looking import Area, Look
from hermes_jupyter.store.checkpoints.putting import sweep_temporary
from hermes_jupyter.store.checkpoints.room import make_room
from hermes_jupyter.store.checkpoints.rows import Turn
from hermes_jupyter.store.checkpoints.schema import MIGRATIONS
from hermes_jupyter.store.sessions.database import Database
from hermes_jupyter.store.sessions.holds import Holds

logger = logging.getLogger(__name__)

MOST_EXACT_BYTES = 256 << 20
"""Of a file that a tool of ours changes, or that is taken back."""
SECONDS_TO_COPY = 1.0
"""How long a first command waits for files to be kept; the rest is kept while it runs."""
SLICE_SECONDS = 0.2
PAUSE_SECONDS = 0.02
DAYS_KEPT = 30
BROKEN_OFF = "its kernel ended in the middle of it"


class Store:
    """What the files of one workspace were like before each turn.

    Nothing is made on disk before the first change. Several kernels may use the same folder.

    Parameters
    ----------
    most_bytes
        Size of the file. Then the oldest turns go first, but never a conversation's last one.
    """

    def __init__(self, folder: Path, area: Area, most_bytes: int) -> None:
        self.folder = folder
        self.area = area
        self.most_bytes = most_bytes
        self.database = Database(folder / "checkpoints.db", MIGRATIONS, holds="checkpoints")
        self.lock = threading.RLock()
        """Held while a look, the end of a turn or an undo of this process is under way."""
        self._holds = Holds(folder / "running")
        self._is_swept = False
        self._told: set[str] = set()
        self._closing = threading.Event()
        self._copier: threading.Thread | None = None

    @property
    def exists(self) -> bool:
        """Is there anything in it?"""
        return self.database.path.exists()

    @contextmanager
    def beginning(
        self,
        *,
        identity: str,
        session: str,
        title: str,
        kind: rows.TurnKind = "turn",
        undoes: int | None = None,
    ) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A new turn, held as running by this process; the block may note its first changes."""
        self._open()
        with self.database.write() as connection:
            number = rows.begin(
                connection, identity=identity, kind=kind, session=session, title=title,
                undoes=undoes,
            )  # fmt: skip
            self._holds.take(number)
            try:
                yield connection, number
            except BaseException:
                self._holds.give_up(number)
                raise

    def look(self, seconds: float = SECONDS_TO_COPY) -> Look:
        """Find what has changed in the workspace since the last look.

        The contents of new files are waited for so long; the rest is kept in the background.
        """
        with self.lock:
            seen = looking.look(self.database, self.area)
            if not looking.copy(self.database, self.area, time.monotonic() + seconds):
                self._copy_on()
            return seen

    def prepare(self) -> None:
        """Look before there is a turn, so that the look of the next one finds little."""
        self._open()
        self.look()

    def end(self, number: int, notes: tuple[str, ...] = ()) -> Turn | None:
        """The turn is over: note what it left. None if it changed nothing."""
        with self.lock:
            try:
                return self._end(number, notes)
            finally:
                self._holds.give_up(number)

    def _end(self, number: int, notes: tuple[str, ...]) -> Turn | None:
        with self.database.read() as connection:
            (turn,) = rows.turns(connection, "WHERE number = ?", (number,))
        if turn.looked:
            self.look(seconds=0)
        with self.database.write() as connection:
            for change in rows.changes(connection, number):
                now = looking.present(connection, change.path, MOST_EXACT_BYTES)
                if now == change.was:
                    rows.drop(connection, number, change.path)
                else:
                    rows.settle(connection, number, change.path, now)
            parts = connection.execute("SELECT 1 FROM part WHERE turn = ?", (number,)).fetchone()
            if not rows.changes(connection, number) and parts is None:
                rows.drop_turn(connection, number)
                return None
            rows.note(connection, number, notes)
            connection.execute("UPDATE turn SET ended = ? WHERE number = ?", (time.time(), number))
            (turn,) = rows.turns(connection, "WHERE number = ?", (number,))
        make_room(self.database, self.most_bytes)
        return turn

    def settle(self) -> None:
        """End the turns whose process is dead: what is there now counts as left by them."""
        with self.lock:
            with self.database.read() as connection:
                open_ones = rows.turns(connection, "WHERE ended IS NULL")
            for turn in open_ones:
                if self._holds.is_free(turn.number):
                    if turn.kind != "turn":
                        sweep_temporary(self.database, turn)
                    self.end(turn.number, (BROKEN_OFF,))

    def running(self) -> list[Turn]:
        """The turns that run now, in this kernel or in others."""
        if not self.exists:
            return []
        with self.database.read() as connection:
            open_ones = rows.turns(connection, "WHERE ended IS NULL")
        return [turn for turn in open_ones if not self._holds.is_free(turn.number)]

    def turns(self) -> list[Turn]:
        """All that is kept, oldest first; those that a dead kernel left are ended before."""
        if not self.exists:
            return []
        self._open()
        with self.database.read() as connection:
            return rows.turns(connection, "WHERE ended IS NOT NULL")

    def tell_once(self, key: str) -> bool:
        """True the first time, so that something is said once for each kernel."""
        first = key not in self._told
        self._told.add(key)
        return first

    def close(self) -> None:
        self._closing.set()
        if self._copier is not None:
            self._copier.join(timeout=2 * SLICE_SECONDS)
        self._holds.close()
        self.database.close()

    def _open(self) -> None:
        if not self._is_swept:
            self._is_swept = True
            for each in (self.folder.parent, self.folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.settle()

    def _copy_on(self) -> None:
        if self._copier is None or not self._copier.is_alive():
            self._copier = threading.Thread(
                target=self._copy_rest, name="hermes-checkpoints", daemon=True
            )
            self._copier.start()

    def _copy_rest(self) -> None:
        """Keep the other files; those that change meanwhile are left for the next look."""
        try:
            while not self._closing.wait(PAUSE_SECONDS):
                if looking.copy(self.database, self.area, time.monotonic() + SLICE_SECONDS):
                    return
        except (StoreError, OSError):
            logger.warning("files cannot be kept for an undo", exc_info=True)


class Checkpoints:
    """The stores of a process, by workspace.

    Parameters
    ----------
    home
        Where Hermes keeps its files.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._all = home / "jupyter" / "checkpoints"
        self._lock = threading.Lock()  # guards the next one
        self._open: dict[str, Store] = {}

    def of(self, workspace: str, *, most_bytes: int, notebook: str = "") -> Store:
        """The store of a workspace.

        ``notebook`` is saved by the front end while a turn runs, so commands do not change it.
        """
        with self._lock:
            store = self._open.get(workspace)
            if store is None:
                store = self._open[workspace] = self._made(workspace, most_bytes, notebook)
            store.most_bytes = most_bytes
            return store

    def close(self) -> None:
        with self._lock:
            for store in self._open.values():
                store.close()
            self._open.clear()

    def _made(self, workspace: str, most_bytes: int, notebook: str) -> Store:
        self._drop_unused()
        root = os.path.realpath(workspace)
        mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
        name = re.sub(r"\W", "_", Path(root).name, flags=re.ASCII)[:40] or "root"
        ours = {os.path.realpath(self._home / "jupyter"), os.path.realpath(notebook or "/")}
        area = Area(
            root=os.fsencode(root),
            skipped=frozenset(map(os.fsencode, ours)),
            most_bytes=most_bytes // 2,
        )
        return Store(self._all / f"{name}-{mark}", area, most_bytes)

    def _drop_unused(self) -> None:
        """Remove what belongs to workspaces that nobody has worked in for long."""
        oldest = time.time() - DAYS_KEPT * 86_400
        for file in self._all.glob("*/checkpoints.db"):
            newest = max(
                (each.stat().st_mtime for each in file.parent.iterdir() if each.is_file()),
                default=0.0,
            )
            if newest < oldest:
                shutil.rmtree(file.parent, ignore_errors=True)
