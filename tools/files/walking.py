"""Go through the files of a folder that are worth searching, in a stable order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.files.paths import SKIPPED_FOLDERS, is_inside
from tools.files.place import Entry, Readable

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

VIRTUALENV_MARK = "pyvenv.cfg"
IGNORE_FILE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Found:
    """A file, by its path and by its path below the folder searched (with ``/``)."""

    path: str
    relative: str
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    relative: str
    in_repository: bool


@dataclass(slots=True)
class Walk:
    """One walk. What was left out is counted, so that an empty result can say so."""

    files: Readable
    skipped_folders: int = 0
    ignored: int = 0
    unreadable: int = 0
    _rules: dict[str, GitIgnoreSpec] = field(default_factory=dict)

    def below(self, root: str) -> Iterator[Found]:
        """All files under ``root``. Links to folders are not followed: they may form loops."""
        waiting = [_Folder(root, "", self._read_rules_above(root))]
        while waiting:
            folder = waiting.pop()
            inner = []
            for entry in self._entries(folder):
                found = Found(
                    os.path.join(folder.path, entry.name),  # noqa: PTH118
                    folder.relative + entry.name,
                    entry.is_link,
                )
                if self._is_skipped(entry, found.path):
                    continue
                if entry.kind == "file":
                    yield found
                elif entry.kind == "folder" and not entry.is_link:
                    inner.append(_Folder(found.path, f"{found.relative}/", folder.in_repository))
            waiting += reversed(inner)

    def summary(self) -> Mapping[str, int]:
        """What was left out, by kind, without zeros."""
        counts = {
            "skipped_folders": self.skipped_folders,
            "ignored_by_git": self.ignored,
            "unreadable_folders": self.unreadable,
        }
        return {name: count for name, count in counts.items() if count}

    def _entries(self, folder: _Folder) -> list[Entry]:
        try:
            entries = self.files.iterdir(folder.path)
        except OSError:  # counted, and told with the result
            self.unreadable += 1
            return []
        names = {entry.name for entry in entries}
        if folder.relative and VIRTUALENV_MARK in names:
            self.skipped_folders += 1
            return []
        if IGNORE_FILE in names and (folder.in_repository or ".git" in names):
            self._read_rules(folder.path)
        return entries

    def _is_skipped(self, entry: Entry, path: str) -> bool:
        if entry.kind == "folder" and entry.name in SKIPPED_FOLDERS:
            self.skipped_folders += 1
            return True
        if self._rules and self._is_ignored(path, entry.kind):
            self.ignored += 1
            return True
        return False

    def _is_ignored(self, path: str, kind: str) -> bool:
        """The rules of the nearest folder that says anything about this path decide."""
        for folder, rules in reversed(self._rules.items()):
            if is_inside(path, folder):
                below = path[len(folder) + 1 :].replace(os.sep, "/")
                verdict = rules.check_file(f"{below}/" if kind == "folder" else below).include
                if verdict is not None:
                    return verdict
        return False

    def _read_rules_above(self, root: str) -> bool:
        """Read the rules from the top of the git repository down; False if there is none."""
        above = [root]
        while not self.files.stat(os.path.join(above[-1], ".git")):  # noqa: PTH118
            parent = os.path.dirname(above[-1])  # noqa: PTH120
            if parent == above[-1]:
                return False
            above.append(parent)
        for folder in reversed(above[1:]):
            self._read_rules(folder)
        if self._is_ignored(root, "folder"):
            self._rules.clear()  # asked for by name: its rules would hide all of it
            return False
        return True

    def _read_rules(self, folder: str) -> None:
        path = os.path.join(folder, IGNORE_FILE)  # noqa: PTH118
        status = self.files.stat(path)
        if status is None or status.kind != "file":
            return
        rules = _parse_rules(self.files.read_bytes(path).decode("utf-8", "replace").splitlines())
        if rules is not None:
            self._rules[folder] = rules


def _parse_rules(lines: list[str]) -> GitIgnoreSpec | None:
    try:
        from pathspec import GitIgnoreSpec
    except ImportError:  # optional: without it, files that git ignores are searched too
        return None
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # one line that is no pattern must not end the search
        return None
