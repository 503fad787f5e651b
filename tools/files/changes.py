"""Changes of files, made all or not at all."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath

from tools.files import diffs
from tools.files.local_place import LOCAL
from tools.files.place import Place
from tools.files.problems import Problem
from tools.files.recording import Recorder
from tools.files.text import Text, decode
from tools.files.trash import Trash, Trashed, Why

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file before and after. None means that there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    """Permission bits: of the file that goes, or for a new file that takes them over."""
    moved_from: str = ""
    moved_to: str = ""
    whole: bool = False
    """Whether all of the file is given anew, whatever it was."""

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def diff(self, name: str) -> str:
        """The unified difference, line ends unified."""
        before, after = _text(self.before), _text(self.after)
        if before is None or after is None:
            return f"Binary file {name} differs\n"
        old_name = "/dev/null" if self.before is None else f"a/{name.lstrip('/')}"
        new_name = "/dev/null" if self.after is None else f"b/{name.lstrip('/')}"
        return diffs.unified_diff(before, after, old_name, new_name)


def commit(
    changes: Sequence[Change],
    files: Place,
    trash: Trash | None = None,
    recorder: Recorder | None = None,
) -> list[str]:
    """Make all changes; if one fails, take the others back. Returns the folders it made.

    Files that go, and files that are replaced as a whole, are kept in the trash if there is one.
    The recorder, if there is one, hears of all of them.

    Raises
    ------
    OSError, Problem
        What went wrong; everything is as it was, or the message says what is not.
    """
    with _recorded(changes, files, recorder):
        return _made(changes, files, trash)


@contextmanager
def _recorded(changes: Sequence[Change], files: Place, recorder: Recorder | None) -> Iterator[None]:
    if recorder is None:
        yield
    elif files is not LOCAL:
        recorder.elsewhere(files.name)
        yield
    else:
        paths = [change.path for change in changes if not change.is_none]
        recorder.before(paths)
        try:
            yield
        finally:
            recorder.after(paths)


def _made(changes: Sequence[Change], files: Place, trash: Trash | None) -> list[str]:
    folders: list[str] = []
    done: list[Change] = []
    kept: list[Trashed] = []
    try:
        if trash is not None:
            for change in changes:
                kept += _kept(change, trash, files)
        for change in changes:
            if change.after is not None:
                folders += files.make_folders(str(PurePath(change.path).parent))
            done.append(change)
            _make(change, files)
    except BaseException as failure:
        lost = _take_back(done, folders, files)
        for entry in kept:
            if trash is not None and entry.path not in lost:
                trash.drop(entry)
        if lost:
            raise Problem(
                f"{failure}; and these could not be restored: {', '.join(lost)}"
            ) from failure
        raise
    return folders


def _kept(change: Change, trash: Trash, files: Place) -> list[Trashed]:
    if change.before is None or change.moved_to or change.is_none:
        return []
    why: Why = "deleted" if change.after is None else "replaced"
    if why == "replaced" and not change.whole:
        return []
    if files is LOCAL:
        return [trash.keep(change.path, why)]
    return [trash.keep_content(change.path, change.before, why, files)]


def _make(change: Change, files: Place) -> None:
    if change.after is None:
        files.remove(change.path)
    else:
        files.write_bytes_atomic(change.path, change.after, change.mode)


def _take_back(done: list[Change], folders: list[str], files: Place) -> list[str]:
    lost = []
    for change in reversed(done):
        try:
            if _bytes_at(change.path, files) != change.before:
                back = replace(change, before=change.after, after=change.before)
                _make(back, files)
        except (OSError, Problem) as error:
            logger.warning("could not restore %s", change.path, exc_info=error)
            lost.append(change.path)
    for folder in reversed(folders):
        try:
            files.remove_folder(folder)
        except OSError as error:
            logger.warning("could not remove the new folder %s", folder, exc_info=error)
    return lost


def _bytes_at(path: str, files: Place) -> bytes | None:
    return files.read_bytes(path) if files.stat(path) else None


def _text(content: bytes | None) -> str | None:
    if not content:
        return ""
    text: Text | None = decode(content)
    return text.unified if text else None
