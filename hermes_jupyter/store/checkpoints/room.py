"""Keep the store small: the oldest turns go first."""

from __future__ import annotations

import sqlite3

from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.sessions.database import Database

_UNUSED = (
    "DELETE FROM piece WHERE digest NOT IN "
    "(SELECT was FROM change UNION SELECT now FROM change WHERE now IS NOT NULL "
    "UNION SELECT digest FROM known)"
)


def used_bytes(connection: sqlite3.Connection) -> int:
    """What the store takes; room that it can use again does not count."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def make_room(database: Database, most_bytes: int) -> None:
    """Drop turns until the store is small enough, each conversation's last one excepted.

    If that does not do, the contents of files that no turn has changed go as well.
    """
    with database.write() as connection:
        if used_bytes(connection) <= most_bytes:
            return
        while used_bytes(connection) > most_bytes and (oldest := _droppable(connection)):
            for number in oldest[: max(1, len(oldest) // 4)]:
                rows.drop_turn(connection, number)
            connection.execute(_UNUSED)
        if used_bytes(connection) > most_bytes:
            connection.execute(
                "UPDATE known SET digest = '?dropped' WHERE kind = 'file' "
                "AND digest NOT IN (SELECT was FROM change) "
                "AND digest NOT IN (SELECT now FROM change WHERE now IS NOT NULL)"
            )
            connection.execute(_UNUSED)


def _droppable(connection: sqlite3.Connection) -> list[int]:
    """Turns that have ended and are not the last of their conversation, oldest first."""
    found = connection.execute(
        "SELECT number FROM turn WHERE ended IS NOT NULL AND number NOT IN "
        "(SELECT max(number) FROM turn GROUP BY session) ORDER BY number"
    )
    return [row[0] for row in found]
