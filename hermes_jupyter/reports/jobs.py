"""``%hermes jobs``: what runs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.errors import TurnError
from hermes_jupyter.while_busy import about_jobs
from tools.environments.jobs import JobError


def jobs(magics: Any, words: Sequence[str]) -> None:
    try:
        print(about_jobs(magics.desktop.background, words), end="")
    except JobError as problem:
        raise TurnError(f"it cannot be ended: {problem}") from problem
