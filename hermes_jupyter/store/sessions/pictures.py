"""Images of messages, apart from them: each is kept once, however many conversations have it.

A message on disk says ``hermes-picture:SHA256`` where the image stood. Images that no
conversation has any more are removed; when all together have too many bytes, the oldest go.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_jupyter.store.sessions.database import Database, now

MOST_BYTES = 500 << 20
"""Of all images of all conversations."""
BEGINS = "hermes-picture:"
GONE = "[The image that was here is not kept any more.]"
_URI = re.compile(r"data:(image/[\w.+-]+);base64,")
Kept = tuple[str, bytes]
"""Media type and bytes."""


def taken_out(content: Any) -> tuple[Any, dict[str, Kept]]:
    """The parts of a message without the bytes of images, and these by their digest."""
    if not isinstance(content, list):
        return content, {}
    found: dict[str, Kept] = {}
    return [_without_bytes(part, found) for part in content], found


def _without_bytes(part: Any, found: dict[str, Kept]) -> Any:
    url = _url_in(part)
    begin = _URI.match(url)
    if begin is None:
        return part
    try:
        content = base64.b64decode(url[begin.end() :], validate=True)
    except (binascii.Error, ValueError):
        return part
    digest = hashlib.sha256(content).hexdigest()
    found[digest] = (begin[1], content)
    return {**part, "image_url": {**part["image_url"], "url": f"{BEGINS}{digest}"}}


def put_back(message: dict[str, Any], look_up: Callable[[str], Kept | None]) -> dict[str, Any]:
    """The message with the images that its parts name."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_with_bytes(part, look_up) for part in content]}


def _with_bytes(part: Any, look_up: Callable[[str], Kept | None]) -> Any:
    url = _url_in(part)
    if not url.startswith(BEGINS):
        return part
    found = look_up(url.removeprefix(BEGINS))
    if found is None:
        return {"type": "text", "text": GONE}
    uri = f"data:{found[0]};base64,{base64.b64encode(found[1]).decode('ascii')}"
    return {**part, "image_url": {**part["image_url"], "url": uri}}


def _url_in(part: Any) -> str:
    image = part.get("image_url") if isinstance(part, Mapping) else None
    url = image.get("url") if isinstance(image, Mapping) else None
    return url if isinstance(url, str) else ""


def keep(connection: sqlite3.Connection, session: int, pictures: Mapping[str, Kept]) -> None:
    """Write the images of a conversation; what is there already is not written again."""
    for digest, (kind, content) in pictures.items():
        connection.execute(
            "INSERT OR IGNORE INTO pictures (digest, kind, content, at) VALUES (?, ?, ?, ?)",
            (digest, kind, content, now()),
        )
        connection.execute("INSERT OR IGNORE INTO picture_uses VALUES (?, ?)", (session, digest))


def look_up(connection: sqlite3.Connection, digest: str) -> Kept | None:
    """The image with this digest; None if it is not kept any more."""
    found = connection.execute(
        "SELECT kind, content FROM pictures WHERE digest = ?", (digest,)
    ).fetchone()
    return (str(found[0]), bytes(found[1])) if found else None


def named(connection: sqlite3.Connection, session: int, digest: str) -> Kept | None:
    """An image of a conversation, by the beginning of its digest."""
    found = connection.execute(
        "SELECT digest FROM picture_uses WHERE session = ? AND digest >= ? AND digest < ? LIMIT 1",
        (session, digest, f"{digest}~"),
    ).fetchone()
    return look_up(connection, found[0]) if found else None


def copy_uses(connection: sqlite3.Connection, session: int, copy: int) -> None:
    """A copy of a conversation has the same images."""
    connection.execute(
        "INSERT INTO picture_uses SELECT ?, digest FROM picture_uses WHERE session = ?",
        (copy, session),
    )


def forget(connection: sqlite3.Connection, session: int) -> None:
    """A conversation is deleted, and with it the images that it alone has."""
    connection.execute("DELETE FROM picture_uses WHERE session = ?", (session,))
    connection.execute("DELETE FROM pictures WHERE digest NOT IN (SELECT digest FROM picture_uses)")


def make_room(database: Database, most: int = MOST_BYTES) -> None:
    """Remove the oldest images until the others have no more than so many bytes.

    Raises
    ------
    StoreError
    """
    with database.read() as connection:
        kept = connection.execute(
            "SELECT digest, length(content) FROM pictures ORDER BY at, rowid"
        ).fetchall()
    left = sum(size for _, size in kept)
    if left > most:
        with database.write() as connection:
            _remove_oldest(connection, kept, left - most)


def _remove_oldest(
    connection: sqlite3.Connection, kept: Sequence[tuple[str, int]], left: int
) -> None:
    """Remove them in this order until so many bytes are gone."""
    for digest, size in kept:
        if left <= 0:
            return
        connection.execute("DELETE FROM pictures WHERE digest = ?", (digest,))
        connection.execute("DELETE FROM picture_uses WHERE digest = ?", (digest,))
        left -= size
