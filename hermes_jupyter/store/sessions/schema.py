"""The tables, and the steps from one version of them to the next.

An entry's id is ``session number << 32 | place``: the entries of a conversation lie side by side
in the file, in the order in which they happened, and a range of ids is a conversation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hermes_jupyter.errors import StoreError

APPLICATION = 0x4865726D
"""Tells the file from others (``PRAGMA application_id``)."""
SHIFT = 32

FIRST = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',     -- the first prompt, on one line
    notebook TEXT NOT NULL DEFAULT '',  -- path of the notebook that it belongs to
    folder TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    parent TEXT NOT NULL DEFAULT '',    -- id of the session that it is a copy of, or works for
    created REAL NOT NULL,
    updated REAL NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT '{}',   -- to-do list, tokens used
    running INTEGER NOT NULL DEFAULT 0, -- a turn began and has not ended
    indexed INTEGER NOT NULL DEFAULT 0, -- place up to which the text is in the indexes
    stale INTEGER NOT NULL DEFAULT 0    -- there may be text behind that place
);
CREATE INDEX sessions_by_time ON sessions (updated);
CREATE INDEX sessions_by_notebook ON sessions (notebook, name, updated);
CREATE INDEX sessions_stale ON sessions (number) WHERE stale;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,  -- of a message its role, of an event the name of its class
    at REAL NOT NULL,
    text TEXT,           -- NULL: that of the source, if there is one
    body TEXT,           -- all else, as JSON
    source INTEGER,      -- the event that a message has its text from
    place REAL,          -- of a message that took the place of others; NULL: as the id says
    gone TEXT            -- why the model does not read this message any more
);
CREATE TABLE partials (  -- what is being streamed; gone when its whole is an entry
    session INTEGER NOT NULL,
    part INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, part)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE pieces USING fts5 (
    text, content = '', detail = none, tokenize = 'trigram'
);
"""

CHILDREN = """
ALTER TABLE sessions ADD COLUMN is_child INTEGER NOT NULL DEFAULT 0;  -- works for its parent
CREATE INDEX sessions_of_parents ON sessions (parent) WHERE is_child;
"""

PICTURES = """
CREATE TABLE pictures (  -- the images of messages, once each
    digest TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    content BLOB NOT NULL,
    at REAL NOT NULL
);
CREATE TABLE picture_uses (
    session INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (FIRST, CHILDREN, PICTURES)
"""Script ``n`` makes version ``n + 1`` of version ``n``. Never change one that was released."""


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the file to the newest version; all or nothing.

    Raises
    ------
    StoreError
        If a newer program has written it.
    """
    version = version_of(connection)
    if version > len(migrations):
        raise StoreError(
            f"the conversations were written by a newer hermes-jupyter (version {version} of the "
            f"file, this one knows {len(migrations)}); upgrade it with pip install -U "
            "hermes-jupyter, or set HERMES_HOME to another folder"
        )
    if version == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for script in migrations[version_of(connection) :]:  # another kernel may have been quicker
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection) -> int:
    """The version that the file has now."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> list[str]:
    """One by one: ``executescript`` would end the transaction."""
    found, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if line.split("--")[0].rstrip().endswith(";") and sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found


def bounds(number: int) -> tuple[int, int]:
    """The first and the last id that entries of this session can have."""
    return number << SHIFT, (number + 1 << SHIFT) - 1
