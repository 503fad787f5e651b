"""Whole answers of tools, kept so that an agent can read on in what was cut.

Each session has a folder of its own while it lives. A disk that is full or read-only loses
nothing but room: then memory has to do. Texts come here clean, with their secrets masked.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from hermes_jupyter.store.leftovers import own_folder, sweep
from hermes_jupyter.text import readable
from tools.files.local_place import LOCAL

logger = logging.getLogger(__name__)

MOST_ON_DISK = 200 << 20
MOST_IN_MEMORY = 32 << 20
"""In bytes, of one session. The oldest go first."""


class NotKept(LookupError):
    """There is no such handle, or its text had to make room. The message says which."""


@dataclass(frozen=True, slots=True)
class _Kept:
    size: int
    source: str
    path: Path | None
    text: str = ""
    """The text itself, if it could not be written."""


class Handles:
    """Keeps texts under short names: ``r1``, ``r2`` ... Safe to use from any thread.

    Parameters
    ----------
    home
        Where Hermes keeps its files. Nothing is made there before the first text is kept.
    session
        Name of the session; other kernels may have one of the same name.
    """

    def __init__(
        self,
        home: Path,
        session: str,
        *,
        most_on_disk: int = MOST_ON_DISK,
        most_in_memory: int = MOST_IN_MEMORY,
    ) -> None:
        self._parent = home / "jupyter" / "handles"
        self._session = session
        self._most_on_disk = most_on_disk
        self._most_in_memory = most_in_memory
        self._lock = threading.Lock()  # guards the next three
        self._kept: dict[str, _Kept] = {}
        self._given = 0
        self._folder: Path | None = None
        self._opening = threading.Lock()
        self._remover: weakref.finalize[..., Handles] | None = None

    def keep(self, text: str, source: str = "") -> str:
        """Keep a text; its handle, or ``""`` if it is larger than all that may be kept.

        ``source`` names where it is from, if that is not to be trusted.
        """
        content = text.encode("utf-8", "replace")
        if len(content) > self._most_on_disk:
            return ""
        with self._lock:
            self._given += 1
            handle = f"r{self._given}"
        path = self._written(handle, content)
        if path is None and len(content) > self._most_in_memory:
            return ""
        with self._lock:
            kept = _Kept(len(content), source, path, "" if path else text)
            self._kept[handle] = kept
            dropped = self._make_room()
        for each in dropped:
            _forget(each)
        return handle

    def whole(self, handle: str) -> str:
        """The text of a handle.

        Raises
        ------
        NotKept
        """
        kept = self._found(handle)
        if kept.path is None:
            return kept.text
        try:
            return LOCAL.read_bytes(str(kept.path)).decode("utf-8", "replace")
        except OSError:
            logger.warning("a kept result cannot be read", exc_info=True)
            raise NotKept(f"the result {handle} is no longer kept: its file is gone") from None

    def readable(self, handle: str) -> tuple[str, str]:
        """The name of the main text of the answer, if it has one, and what is worth reading.

        Raises
        ------
        NotKept
        """
        return readable(self.whole(handle))

    def source(self, handle: str) -> str:
        """Where the text is from, if that is not to be trusted; ``""`` for others."""
        kept = self._kept.get(_name(handle))
        return kept.source if kept else ""

    def known(self) -> list[str]:
        """The handles of all that is kept now."""
        with self._lock:
            return [*self._kept]

    def close(self) -> None:
        """Remove all that was kept."""
        with self._lock:
            self._kept.clear()
            self._folder, remover = None, self._remover
        if remover is not None:
            remover()

    def _found(self, handle: str) -> _Kept:
        name = _name(handle)
        with self._lock:
            kept, given = self._kept.get(name), self._given
        if kept is not None:
            return kept
        number = name.removeprefix("r")
        if number.isdecimal() and 1 <= int(number) <= given:
            raise NotKept(f"the result {name} is no longer kept: newer ones took its place")
        raise NotKept(f"there is no result {handle!r:.80}")

    def _written(self, handle: str, content: bytes) -> Path | None:
        """Write a file; None if that cannot be."""
        try:
            path = self._opened() / f"{handle}.txt"
            LOCAL.write_bytes_atomic(str(path), content, 0o600)
        except OSError:
            logger.warning("a result cannot be written, and stays in memory", exc_info=True)
            return None
        return path

    def _opened(self) -> Path:
        """The session's folder, made at first use, with the leavings of dead kernels removed."""
        with self._opening:
            if self._folder is None or not self._folder.is_dir():
                self._folder = folder = own_folder(self._parent, self._session)
                # Also when the kernel just ends; not in a child that was forked from it.
                self._remover = weakref.finalize(self, _remove, folder, os.getpid())
                sweep(self._parent)
            return self._folder

    def _make_room(self) -> list[_Kept]:
        """Take out the oldest until the rest may stay."""
        dropped: list[_Kept] = []
        for on_disk, most in ((True, self._most_on_disk), (False, self._most_in_memory)):
            held = {n: k for n, k in self._kept.items() if (k.path is not None) is on_disk}
            left = sum(kept.size for kept in held.values())
            for name, kept in held.items():
                if left <= most:
                    break
                dropped.append(self._kept.pop(name))
                left -= kept.size
        return dropped


def _name(handle: str) -> str:
    """``r3``, however it was written: models leave quotes around it, or the letter out."""
    name = str(handle).strip().strip("'\"`").lower()
    return f"r{name}" if name.isdecimal() else name


def _forget(kept: _Kept) -> None:
    if kept.path is not None:
        try:
            kept.path.unlink(missing_ok=True)
        except OSError:
            logger.warning("a result that is no longer kept cannot be removed", exc_info=True)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
