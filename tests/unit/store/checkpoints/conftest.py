"""A workspace whose turns can be taken back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.checkpoints.recorder import About, FileRecorder
from hermes_jupyter.store.checkpoints.store import Checkpoints
from hermes_jupyter.store.checkpoints.undoing import carry_out, undo


def tree(folder: Path) -> dict[bytes, Any]:
    """Everything below a folder: kinds, modes, contents."""
    found: dict[bytes, Any] = {}
    for at, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = at + b"/" + name
            there = Path(os.fsdecode(path))
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                found[path] = ("link", there.readlink())
            elif stat.S_ISDIR(about.st_mode):
                found[path] = ("folder", stat.S_IMODE(about.st_mode))
            else:
                found[path] = ("file", stat.S_IMODE(about.st_mode), there.read_bytes())
    return found


class Work:
    """A workspace, and a kernel that works in it."""

    def __init__(self, folder: Path, home: Path, **limits: Any) -> None:
        self.folder, self.home = folder, home
        folder.mkdir(exist_ok=True)
        self.warnings: list[str] = []
        self._limits = limits
        self.restart()

    def restart(self) -> None:
        """Another process takes over."""
        if hasattr(self, "checkpoints"):
            self.checkpoints.close()
        self.checkpoints = Checkpoints(self.home)
        most_bytes = self._limits.get("most_bytes", 1 << 30)
        notebook = self._limits.get("notebook", "")
        self.store = self.checkpoints.of(str(self.folder), most_bytes=most_bytes, notebook=notebook)
        area = {k: v for k, v in self._limits.items() if k in ("most_file_bytes", "most_entries")}
        self.store.area = replace(self.store.area, **area)

    def recorder(self, name: str = "", session: str = "s") -> FileRecorder:
        about = About(turn=name or os.urandom(6).hex(), session=session, title="a turn")
        return FileRecorder(self.store, about, self.warnings.append)

    @contextmanager
    def turn(self, *, command: bool = True, session: str = "s") -> Iterator[FileRecorder]:
        """What is done in the block is done by a turn; by a command, unless it is told."""
        recorder = self.recorder(session=session)
        if command:
            recorder.look()
        yield recorder
        recorder.end()

    @property
    def last(self) -> rows.Turn:
        return self.store.turns()[-1]

    def undo(self, turn: rows.Turn | None = None, *, force: bool = False) -> Any:
        """Take the last turn back; the plan."""
        planned = undo(self.store, turn or self.last, force=force)
        done = carry_out(self.store, planned, session="s")
        assert not done.problems
        return planned

    def tree(self) -> dict[bytes, Any]:
        return tree(self.folder)

    def changed(self, turn: rows.Turn | None = None) -> set[str]:
        """Names of what a turn changed."""
        with self.store.database.read() as connection:
            found = rows.changes(connection, (turn or self.last).number)
        return {os.path.relpath(os.fsdecode(change.path), self.folder) for change in found}


@pytest.fixture(scope="session")
def kind_of_work() -> type[Work]:
    """The class, for tests that make many."""
    return Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    made = Work(tmp_path / "work", tmp_path / "home")
    yield made
    made.checkpoints.close()


@pytest.fixture
def make_work(tmp_path: Path) -> Iterator[Any]:
    """The same with limits."""
    made: list[Work] = []

    def make(**limits: Any) -> Work:
        made.append(Work(tmp_path / "work", tmp_path / "home", **limits))
        return made[-1]

    yield make
    for each in made:
        each.checkpoints.close()
