"""Where a path leads, and whether two paths lead to the same place.

The system's own identity of a file (device and inode) decides, so that links, hard links, mounts
and other spellings of a name need no rules of ours. Only names that do not exist yet are compared
as text. Nothing is written to find out.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import NamedTuple

MAX_PATH_CHARS = 4096
MAX_LINKS = 40
"""As many as Linux follows."""
ENTRIES_LOOKED_AT = 100
LETTER = re.compile("[A-Za-z]")

Key = Hashable
"""Device and inode; the path where a file system has no inodes; for a name that does not exist,
the key of its folder and the name in one case."""


class Place(NamedTuple):
    """What a path means now: how far it exists, and the names below that do not."""

    existing: str
    """Real path of the last part that exists."""
    missing: tuple[str, ...]
    key: Key
    """The same for all spellings of one place; for two places, if case makes the difference."""
    way: frozenset[Key]
    """The keys of the place and of all folders above it."""

    @property
    def path(self) -> str:
        return os.path.join(self.existing, *self.missing)  # noqa: PTH118

    def overlaps(self, other: Place) -> bool:
        """Are they the same, or does one contain the other?"""
        if self.key not in other.way and other.key not in self.way:
            return False
        pairs = zip(self.missing, other.missing, strict=False)
        return all(one == another for one, another in pairs) or ignores_case(self.existing)


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def ignores_case(folder: str) -> bool:
    """Whether names that differ in case only are one name in this folder; in doubt, yes.

    A name that is there is looked up in the other case. A folder without any tells nothing, so
    the one above it is asked, as long as it is on the same device.
    """
    for path in _witnesses(folder):
        head, name = os.path.split(path)
        try:
            own = os.lstat(path)
        except OSError:  # it vanished, or is not for us
            continue
        try:
            return os.path.samestat(own, os.lstat(_join(head, _other_case(name))))
        except FileNotFoundError:
            return False
        except OSError:
            continue
    return True


def _witnesses(folder: str) -> Iterator[str]:
    """Paths whose last name has a letter and is looked up as names in ``folder`` are."""
    while True:
        yield from _entries_with_letters(folder)
        above, name = os.path.split(folder)
        if above == folder or not _same_device(above, folder):
            return
        if LETTER.search(name):
            yield folder
        folder = above


def _entries_with_letters(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(ENTRIES_LOOKED_AT), entries, strict=False):
                if LETTER.search(entry.name):
                    yield entry.path
                    return
    except OSError:  # no folder, or one that may not be read: it tells nothing
        return


def _same_device(above: str, folder: str) -> bool:
    try:
        return os.lstat(above).st_dev == os.lstat(folder).st_dev
    except OSError:
        return False


def _other_case(name: str) -> str:
    return LETTER.sub(lambda letter: letter[0].swapcase(), name)


class Places:
    """Finds places from one working folder. For one plan: what it saw once, it keeps."""

    def __init__(self, folder: str, home: str | None = None) -> None:
        self._folder = folder if Path(folder).is_absolute() else str(Path.cwd() / folder)
        self._home = home
        self._known: dict[str, Place] = {}
        self._links: dict[str, Place] = {}
        self._followed: list[str] = []

    def read(self, given: str) -> Place:
        """The place that a path leads to, links followed.

        Raises
        ------
        ValueError
            If no file can have this name.
        """
        return self._at(self._absolute(given))

    def written(self, given: str) -> list[Place]:
        """The places that change when the path is written, moved or deleted.

        If a link stands at its end, that is the link as well as what it points to: a search
        of the link's folder reads through it.
        """
        path = self._absolute(given)
        place = self._at(path)
        return [place, self._links[path]] if path in self._links else [place]

    def _absolute(self, given: str) -> str:
        if not given.strip() or "\0" in given or len(given) > MAX_PATH_CHARS:
            raise ValueError(f"no path: {given!r:.80}")
        if not given.isascii():
            os.fsencode(given)  # UnicodeEncodeError is a ValueError
        path = self._expanded(given) if given.startswith("~") else given
        if sys.platform == "win32":
            return os.path.realpath(_join(self._folder, path))
        return path if path.startswith("/") else f"{self._folder}/{path}"

    def _expanded(self, given: str) -> str:
        if self._home is not None and (given == "~" or given[1] in (os.sep, os.altsep)):
            return self._home + given[1:]
        return os.path.expanduser(given)  # noqa: PTH111  Path.expanduser raises for unknown users

    def _at(self, path: str) -> Place:
        steps: list[tuple[str, str]] = []
        folder = path
        while (place := self._known.get(folder)) is None:
            above, separator, name = folder.rpartition(os.sep)
            if not separator:
                place = self._known[folder] = _root(folder + os.sep)
                break
            steps.append((folder, name))
            folder = above
        for folder, name in reversed(steps):
            place = self._known[folder] = self._below(place, name, folder)
        return place

    def _below(self, parent: Place, name: str, given: str) -> Place:
        if name in ("", "."):
            return parent
        if name == "..":  # after links: of where they lead, not of how the path is written
            return self._at(os.path.dirname(parent.path))  # noqa: PTH120
        if parent.missing:
            return _missing(parent, name)
        path = _join(parent.existing, name)
        try:
            status = os.lstat(path)
        except OSError:  # not there, or not for us
            return _missing(parent, name)
        place = _there(parent, path, status)
        if not stat.S_ISLNK(status.st_mode):
            return place
        self._links[given] = place
        return self._follow(place, parent)

    def _follow(self, link: Place, parent: Place) -> Place:
        path = link.existing
        if path in self._followed or len(self._followed) >= MAX_LINKS:
            return link
        self._followed.append(path)
        try:
            return self._at(_join(parent.existing, os.readlink(path)))  # noqa: PTH115
        except OSError:  # it vanished
            return link
        finally:
            self._followed.pop()


def _root(path: str) -> Place:
    key = _key(path, os.lstat(path))
    return Place(path, (), key, frozenset((key,)))


def _there(parent: Place, path: str, status: os.stat_result) -> Place:
    key = _key(path, status)
    return Place(path, (), key, parent.way | {key})


def _missing(parent: Place, name: str) -> Place:
    if sys.platform == "darwin":  # its file systems take both spellings of an accent for one name
        name = unicodedata.normalize("NFC", name)
    key = (parent.key, _folded(name))
    return Place(parent.existing, (*parent.missing, name), key, parent.way | {key})


def _key(path: str, status: os.stat_result) -> Key:
    return (status.st_dev, status.st_ino) if status.st_ino else path


def _join(folder: str, name: str) -> str:
    if folder.endswith(os.sep) or name.startswith(os.sep):
        return os.path.join(folder, name)  # noqa: PTH118
    return f"{folder}{os.sep}{name}"
