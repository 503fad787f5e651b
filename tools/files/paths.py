"""Paths as text: what lies in what, and which folders hold nothing to look at."""

from __future__ import annotations

import os

from tools.files.problems import shown

SKIPPED_FOLDERS = frozenset({
    ".git", ".hg", ".svn", ".bzr", ".jj", "node_modules", "__pycache__", ".tox", ".nox", ".eggs",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints", ".cache", ".venv",
    "bower_components", ".terraform", ".gradle",
})  # fmt: skip


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def name_in(folder: str, path: str) -> str:
    """The path as it is called in ``folder``: relative below it, else absolute."""
    if path != folder and is_inside(path, folder):
        return shown(path[len(folder.rstrip(os.sep)) + 1 :])
    return shown(path)
