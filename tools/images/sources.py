"""Where an image may come from: a file, an address, a ``data:`` text, a variable, this talk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from tools.async_bridge import in_tool_thread
from tools.files.problems import Problem, describe
from tools.files.workspace import Workspace, missing, workspace_of
from tools.images.fetching import fetched, is_private
from tools.images.picture import MARK, Picture, UnusableImage, decoded
from tools.images.preparing import MOST_SOURCE_BYTES, prepared
from tools.images.values import drawn
from tools.live import LiveKernel, live_of
from tools.values.paths import Unreadable, value_at

T = TypeVar("T")
WEB = ("http://", "https://")
DATA = "data:"
FILE = "file://"
MOST_CHARS = 4_000
"""Of a source that is no ``data:`` text."""


class Album(Protocol):
    """The images of a conversation, by name."""

    def find(self, name: str) -> Picture | None: ...


async def picture_from(source: str, context: Mapping[str, Any]) -> Picture:
    """The image that a model names, ready to be sent.

    Raises
    ------
    UnusableImage
        With words for the model.
    """
    source = source.strip()
    if source.lower().startswith(DATA):
        return await in_tool_thread(lambda: prepared(decoded(source, MOST_SOURCE_BYTES)))
    if not source or len(source) > MOST_CHARS:
        raise UnusableImage("name one image: a path, an address, a data: text or a variable")
    if source.startswith(MARK):
        return _of_album(source, context.get("album"))
    if source.lower().startswith(WEB):
        private, stopped = is_private(_host(source)), _stopped(context)
        return await in_tool_thread(
            lambda: prepared(fetched(source, private=private, stopped=stopped))
        )
    live = live_of(context)
    if live is not None and source.isidentifier() and source in live.namespace():
        return await _of_variable(source, live)
    try:
        return await in_tool_thread(lambda: prepared(_read(path_of(source), context)))
    except FileNotFoundError as error:
        if live is None or not _names_a_value(source, live):
            raise UnusableImage(str(error)) from None
    return await _of_variable(source, live)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError as error:
        raise UnusableImage(f"that is no address of the web: {error}") from None


def path_of(source: str) -> str:
    """The path in a source that names a file."""
    return unquote(source[len(FILE) :]) if source.lower().startswith(FILE) else source


def _of_album(name: str, album: Album | None) -> Picture:
    found = album.find(name) if album is not None else None
    if found is None:
        raise UnusableImage(f"there is no {name[:40]} any more in this conversation")
    return found


def _stopped(context: Mapping[str, Any]) -> Callable[[], bool]:
    cancelled = context.get("cancelled")
    return cancelled.is_set if isinstance(cancelled, threading.Event) else lambda: False


async def _of_variable(name: str, live: LiveKernel) -> Picture:
    try:
        value = value_at(name, live.namespace())
    except Unreadable as problem:
        raise UnusableImage(str(problem.args[0])) from None
    content = await live.apply(lambda: drawn(value))
    return await in_tool_thread(lambda: prepared(content))


def _names_a_value(source: str, live: LiveKernel) -> bool:
    try:
        value_at(source, live.namespace())
    except Unreadable:
        return False
    return True


def _read(given: str, context: Mapping[str, Any]) -> bytes:
    """A file of the machine where the terminal is. FileNotFoundError says what is there instead."""
    workspace = workspace_of(context)
    try:
        return _content(workspace, workspace.path(given))
    except Problem as problem:
        similar = problem.extra.get("similar_files")
        more = f"; there is {', '.join(similar)}" if similar else ""
        if str(problem).startswith("No such file"):
            raise FileNotFoundError(f"{problem}{more}") from None
        raise UnusableImage(f"{problem}{more}") from None
    except OSError as error:
        raise UnusableImage(describe(error)) from None


def _content(workspace: Workspace, path: str) -> bytes:
    status = workspace.files.stat(path)
    if status is None:
        raise missing(workspace, path)
    if status.kind != "file":
        raise UnusableImage(f"{path} is no file")
    if status.size > MOST_SOURCE_BYTES:
        raise UnusableImage(f"{path} has {status.size:,} bytes; {MOST_SOURCE_BYTES:,} may be")
    return workspace.files.read_bytes(path)
