"""The file: two connections of this process, one to write and one to read.

What is committed is safe from the death of the process (WAL, written to the system at once); a
power cut may cost the last moments, but never the file.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.locks import locked
from hermes_jupyter.store.sessions.schema import MIGRATIONS, migrate

logger = logging.getLogger(__name__)

BUSY_SECONDS = 5.0
PAGES_BEFORE_CHECKPOINT = 4_000
"""Turns end with a checkpoint in the background; this bounds the file of one that never ends."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_left_by_fork: list[sqlite3.Connection] = []
"""Connections of a parent process. To close them here would disturb it."""


class Database:
    """The file, opened at first use. Safe to use from any thread.

    Parameters
    ----------
    path
        Made if need be, for the user alone.
    migrations
        See `schema.MIGRATIONS`.
    holds
        What is in it, in the plural, for messages.
    """

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str] = MIGRATIONS,
        *,
        holds: str = "conversations",
    ) -> None:
        self.path = path
        self._holds = holds
        self.notices: list[str] = []
        """What a person must hear about the file; emptied by whoever tells it."""
        self._migrations = migrations
        self._writing = threading.RLock()  # guards the writer
        self._reading = threading.RLock()  # guards the reader
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._process = os.getpid()
        self.is_closed = False

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of the block, or nothing.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        with self._writing, self._translated():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees everything that is written; do not write with it.

        Raises
        ------
        StoreError
            If the file cannot be read.
        """
        with self._reading, self._translated():
            with self._writing:
                self._opened()
                if self._reader is None:
                    self._reader = self._connected()
            yield self._reader

    def checkpoint(self) -> None:
        """Move what is written into the file itself. Waits for the disk, so not on the loop."""
        with suppress(StoreError), self.read() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """End; it cannot be used any more."""
        with self._reading, self._writing:
            self.is_closed = True
            self._after_fork()
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None

    def _opened(self) -> sqlite3.Connection:
        self._after_fork()
        if self.is_closed:
            raise StoreError(f"the {self._holds} are closed: the agent of this kernel was unloaded")
        if self._writer is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.path.with_suffix(".lock")):
                self._writer = self._ready()
        return self._writer

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            _left_by_fork.extend(filter(None, (self._writer, self._reader)))
            self._writer = self._reader = None
            self._process = os.getpid()

    def _ready(self) -> sqlite3.Connection:
        """A connection to a sound file of the newest version."""
        try:
            return self._checked()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            self._set_aside(str(error))
            return self._checked()

    def _checked(self) -> sqlite3.Connection:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = self._connected()
        try:
            if self._suspect.exists():
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    raise _damage(str(found))
                self._suspect.unlink()
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            migrate(connection, self._migrations)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        for pragma in (
            "synchronous = NORMAL",  # survives kill -9; only a checkpoint waits for the disk
            "secure_delete = ON",  # what is deleted is overwritten
            f"wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}",
            "cache_size = -8000",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    @property
    def _suspect(self) -> Path:
        """A file that says that this one has to be looked through."""
        return self.path.with_suffix(".suspect")

    def _set_aside(self, why: str) -> None:
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
        aside = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").rename(f"{aside}{ending}")
        self._suspect.unlink(missing_ok=True)
        logger.warning("the file of the %s is damaged: %s", self._holds, why)
        self.notices.append(
            f"the file of earlier {self._holds} is damaged ({why}). It was set aside as {aside}, "
            "and a new one begun; sqlite3 FILE .recover may save what is in it"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                with suppress(OSError):
                    self._suspect.touch(mode=0o600)
                raise StoreError(
                    f"the file of the {self._holds} is damaged: {error}. Restart the kernel: the "
                    f"file is then looked through, and set aside if need be ({self.path})"
                ) from error
            raise StoreError(f"the {self._holds} in {self.path}: {error}") from error
        except OSError as error:
            raise StoreError(f"the {self._holds} cannot be kept in {self.path}: {error}") from error


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGED


def _damage(why: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def now() -> float:
    """Seconds since 1970."""
    return time.time()
