"""What a task is, and whether it was done: judged by what is left and by what was answered."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["read", "search", "edit", "count", "two-step", "no-tool", "approval"]
KINDS: tuple[Kind, ...] = (
    "read", "search", "edit", "count", "two-step", "no-tool", "approval",
)  # fmt: skip
RUN_SECONDS = 20
REFUSED = r"denied|den(y|ies)|refused|declined|not allowed|permission|cancel|approv"
NOT_DONE = rf"{REFUSED}|not (been )?(deleted|removed|run|done)|n't (been )?(deleted|removed|run)"
NOT_THERE = (
    r"not (exist|found|there|present|available)|n't (exist|find|there)|no (such )?file|missing|"
    r"cannot (find|read|be found)|could not|unable"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A request, the folder it is asked in, and what must be true afterwards."""

    name: str
    kind: Kind
    prompt: str
    files: Mapping[str, str] = field(default_factory=dict)
    """The folder before: path and text."""
    says: tuple[str, ...] = ()
    """Patterns that are all found in the answer, whatever the case."""
    never_says: tuple[str, ...] = ()
    leaves: Mapping[str, str | None] = field(default_factory=dict)
    """Text of files afterwards, white space at the end aside; None for what must be gone. All
    other files are as before, and there are no new ones."""
    made: Mapping[str, str] = field(default_factory=dict)
    """Scripts that must be there, and what each prints."""
    person: Literal["allows", "denies"] = "allows"
    """What the person answers when asked for approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one try."""

    answer: str = ""
    calls: tuple[str, ...] = ()
    """Names of the tools that were called."""
    error: str = ""


def prepare(task: Task, folder: Path) -> None:
    """Make the task's files."""
    for name, text in task.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def faults(task: Task, folder: Path, outcome: Outcome) -> list[str]:
    """Why the task was not done; nothing if it was."""
    found = [f"error: {outcome.error}"] if outcome.error else []
    answer = outcome.answer
    found += [f"does not say {p!r}" for p in task.says if not re.search(p, answer, re.I)]
    found += [f"says {p!r}" for p in task.never_says if re.search(p, answer, re.I)]
    if not answer.strip():
        found.append("no answer")
    if task.kind == "no-tool" and outcome.calls:
        found.append(f"used tools: {', '.join(outcome.calls)}")
    return found + _wrong_files(task, folder) + _wrong_scripts(task, folder)


def _wrong_files(task: Task, folder: Path) -> list[str]:
    expected: dict[str, str | None] = {**task.files, **task.leaves}
    found = []
    for name, text in expected.items():
        path = folder / name
        if text is None:
            found += [f"{name} is still there"] if path.exists() else []
        elif not path.is_file():
            found.append(f"{name} is missing")
        elif (there := path.read_text(encoding="utf-8", errors="replace")).rstrip() != (
            text.rstrip()
        ):
            found.append(f"{name} holds {there[:200]!r}")
    known = {*expected, *task.made}
    new = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return found + [f"{name} was made" for name in new if name not in known and _counts(name)]


def _counts(name: str) -> bool:
    return "__pycache__" not in name


def _wrong_scripts(task: Task, folder: Path) -> list[str]:
    found = []
    for name, printed in task.made.items():
        if not (folder / name).is_file():
            found.append(f"{name} was not made")
            continue
        program = sys.executable if name.endswith(".py") else "bash"
        try:
            ran = subprocess.run(
                [program, name], cwd=folder, capture_output=True, text=True, timeout=RUN_SECONDS
            )
        except subprocess.TimeoutExpired:
            found.append(f"{name} does not end")
            continue
        if ran.stdout.strip() != printed.strip():
            found.append(f"{name} prints {ran.stdout[:200]!r}")
    return found
