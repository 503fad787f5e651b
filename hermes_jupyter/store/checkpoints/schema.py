"""The tables, and how an older file becomes one of today."""

from __future__ import annotations

FIRST = """
CREATE TABLE turn (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,  -- turn, undo, restore
    session TEXT NOT NULL,
    title TEXT NOT NULL,
    began REAL NOT NULL,
    ended REAL,  -- NULL while it runs, and if its process died
    looked INTEGER NOT NULL DEFAULT 0,  -- the workspace was looked at before its first command
    undoes INTEGER,  -- the number of what it took back
    undone INTEGER,  -- the number of what took it back
    notes TEXT NOT NULL DEFAULT '[]'  -- what is not covered, in words
);
CREATE TABLE change (
    turn INTEGER NOT NULL REFERENCES turn,
    path BLOB NOT NULL,
    exact INTEGER NOT NULL,  -- told by a tool of ours, not found by looking
    was_kind TEXT NOT NULL, was_mode INTEGER NOT NULL, was TEXT NOT NULL, was_size INTEGER NOT NULL,
    is_kind TEXT, is_mode INTEGER, now TEXT, is_size INTEGER,  -- NULL until the turn has ended
    PRIMARY KEY (turn, path)
) WITHOUT ROWID;
CREATE INDEX change_was ON change (was);
CREATE INDEX change_now ON change (now);
CREATE TABLE part (
    turn INTEGER NOT NULL REFERENCES turn,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (turn, kind)
) WITHOUT ROWID;
CREATE TABLE known (
    path BLOB PRIMARY KEY,
    kind TEXT NOT NULL, mode INTEGER NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
    settled INTEGER NOT NULL  -- for a file: old enough that its times tell; a folder: was listed
) WITHOUT ROWID;
CREATE INDEX known_digest ON known (digest);
CREATE TABLE piece (
    digest TEXT NOT NULL,
    place INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (digest, place)
);
"""

MIGRATIONS: tuple[str, ...] = (FIRST,)
"""Script ``n`` makes version ``n + 1`` of version ``n``. Never change one that was released."""
