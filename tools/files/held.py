"""The notebook that a turn runs in: somebody holds all of its file, and nobody can ask who."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tools.files.changes import Change
from tools.files.local_place import LOCAL
from tools.files.problems import Problem, shown
from tools.files.workspace import Workspace

HELD = (
    "{path} is the notebook in which you were asked. A page, or the program that runs it, holds "
    "all of it and writes it as a whole: what you write is lost, or destroys what it has. Change "
    "its cells with edit_cell, insert_cell, move_cell and delete_cell; if they say that no page "
    "is connected, give the text in your answer"
)


def refuse_held(
    changes: Iterable[Change], workspace: Workspace, context: Mapping[str, Any]
) -> None:
    """Leave the turn's own notebook to whoever holds it.

    Raises
    ------
    Problem
        If one of the changes is to its file.
    """
    notebook = str(context.get("notebook") or "")
    if not notebook or workspace.files is not LOCAL:
        return
    held = os.path.realpath(notebook)
    for change in changes:
        if held in {os.path.realpath(path) for path in (change.path, change.moved_to) if path}:
            raise Problem(HELD.format(path=shown(workspace.name(change.path))))
