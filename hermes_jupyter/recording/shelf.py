"""The recordings of this machine: the last turn of each cell, and all that were asked for."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
from pathlib import Path

from hermes_jupyter.errors import RecordingError, StoreError
from hermes_jupyter.recording.encoding import as_json, of_text
from hermes_jupyter.recording.sidecars import text_of
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.store.sessions.masking import dumped

logger = logging.getLogger(__name__)

MOST_BYTES = 200 << 20
"""Of each kind. The oldest go first."""
HEAD_CHARS = 1_000
_TURN = re.compile(r"[\w-]{1,64}")


class Shelf:
    """Recordings below ``<home>/jupyter/recordings``, for the user alone.

    Parameters
    ----------
    notebook
        Path of the notebook whose cells are meant: programs give the cells of different notebooks
        the same ids.
    """

    def __init__(self, home: Path, notebook: str = "", *, most_bytes: int = MOST_BYTES) -> None:
        self._notebook = notebook
        self._cells = home / "jupyter" / "recordings" / "cells"
        self._turns = home / "jupyter" / "recordings" / "turns"
        self._most_bytes = most_bytes

    def put(self, recording: Recording) -> None:
        """Keep a recording.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        text = dumped(as_json(recording))
        if recording.cell:
            mark = self._mark(recording.cell)
            before = _by_age(self._cells, f"{mark}-*.json")
            self._write(self._cells / f"{mark}-{recording.turn}.json", text)
            for path in before:
                if path.name != f"{mark}-{recording.turn}.json":
                    path.unlink(missing_ok=True)
        if recording.travels:
            self._write(self._turns / f"{recording.prompt_sha256}-{recording.turn}.json", text)

    def of_cell(self, cell: str) -> Recording | None:
        """The last turn of a cell; None if there is none that can be read."""
        found = _by_age(self._cells, f"{self._mark(cell)}-*.json")
        return _read(found[-1]) if found else None

    def of_prompt(self, prompt_sha256: str) -> list[Recording]:
        """What was recorded of a prompt, the oldest first."""
        if not _TURN.fullmatch(prompt_sha256):
            return []
        return [*filter(None, map(_read, _by_age(self._turns, f"{prompt_sha256}-*.json")))]

    def of_turn(self, turn: str) -> Recording | None:
        """The recording of a turn, by its id."""
        if not _TURN.fullmatch(turn):
            return None
        found = [
            *_by_age(self._cells, f"*-{turn}.json"),
            *_by_age(self._turns, f"*-{turn}.json"),
        ]
        return _read(found[-1]) if found else None

    def forget(self, session_id: str) -> int:
        """Remove the turns of a conversation; how many files there were."""
        mention = f'"session_id":"{session_id}"'
        found = [
            path
            for folder in (self._cells, self._turns)
            for path in _by_age(folder, "*.json")
            if mention in _head(path)
        ]
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    def _mark(self, cell: str) -> str:
        """What the names of a cell's files begin with; ids and paths may be any text."""
        place = f"{self._notebook}\0{cell}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(place).hexdigest()[:32]

    def _write(self, path: Path, text: str) -> None:
        content = text.encode("utf-8")
        if len(content) > self._most_bytes:
            raise StoreError(f"the turn has {len(content):,} bytes, too many to be kept")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_whole(path, content)
            _make_room(path.parent, self._most_bytes)
        except OSError as error:
            raise StoreError(
                f"the turn cannot be kept in {path.parent}: {error.strerror or error}"
            ) from error


def _write_whole(path: Path, content: bytes) -> None:
    """All or nothing, without waiting for the disk: a turn ends here, and it can be asked anew."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path) -> Recording | None:
    try:
        return of_text(text_of(path))
    except RecordingError:
        logger.warning("a kept turn cannot be read: %s", path.name, exc_info=True)
        return None


def _head(path: Path) -> str:
    """The beginning of a recording, where it says of which conversation it is."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD_CHARS)
    except OSError:
        return ""


def _by_age(folder: Path, pattern: str) -> list[Path]:
    """The files, the oldest first. One that another kernel removes meanwhile is not among them."""
    ages: dict[Path, float] = {}
    for path in folder.glob(pattern):
        try:
            ages[path] = path.stat().st_mtime
        except FileNotFoundError:
            continue
    return sorted(ages, key=ages.__getitem__)


def _make_room(folder: Path, most_bytes: int) -> None:
    sizes: dict[Path, int] = {}
    for path in _by_age(folder, "*.json"):
        try:
            sizes[path] = path.stat().st_size
        except FileNotFoundError:
            continue
    left = sum(sizes.values())
    for path, size in sizes.items():
        if left <= most_bytes:
            return
        path.unlink(missing_ok=True)
        left -= size
