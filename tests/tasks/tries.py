"""One try of a task in a folder made for it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path

from tests.tasks import everyday, held_out
from tests.tasks.peer_tools import Folder
from tests.tasks.task import KINDS, Outcome, Task, faults, prepare

SUITES = {"everyday": everyday.TASKS, "held-out": held_out.TASKS}
WARM_UP = Task(name="warm-up", kind="read", prompt="What is in a.txt?", files={"a.txt": "a\n"})
"""Tried first and not counted: the model reads the instructions of a library once."""
Attempt = Callable[[Folder], str]
"""Works on a task in its folder, notes its calls there, and returns the answer."""


@dataclass(frozen=True, slots=True)
class Try:
    """How a task went."""

    task: Task
    faults: list[str]
    seconds: float
    calls: list[str]
    answer: str
    notices: list[str] = field(default_factory=list)


def suite(name: str, wanted: Collection[str] = ()) -> list[Task]:
    """The tasks of a suite; of the wanted names or kinds, if any are."""
    tasks = SUITES[name]
    return [task for task in tasks if not wanted or task.name in wanted or task.kind in wanted]


def tried(task: Task, attempt: Attempt) -> Try:
    """Try a task once. A failure of the library is a fault, not an end of the run."""
    with tempfile.TemporaryDirectory(prefix="hermes-task-") as name:
        folder = Folder(task, Path(name).resolve())
        prepare(task, folder.path)
        began = time.monotonic()
        answer, error = "", ""
        try:
            with chdir(folder.path):
                answer = attempt(folder)
        except Exception as problem:  # noqa: BLE001 - of whatever kind a library raises
            error = f"{type(problem).__name__}: {problem}"[:300]
        seconds = time.monotonic() - began
        outcome = Outcome(answer=answer, calls=tuple(folder.calls), error=error)
        found = faults(task, folder.path, outcome)
        return Try(task, found, seconds, folder.calls, answer, folder.notices)


def known(names: Collection[str]) -> None:
    """Refuse a name that is neither a task nor a kind.

    Raises
    ------
    SystemExit
    """
    there = {*KINDS, *(task.name for tasks in SUITES.values() for task in tasks)}
    if wrong := sorted({*names} - there):
        raise SystemExit(f"no task or kind is named {', '.join(wrong)}; kinds: {', '.join(KINDS)}")
