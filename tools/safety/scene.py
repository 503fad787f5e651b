"""Where a command runs, and what one part of it does: the values the checks pass around."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Effect:
    """Something a person should know before the command runs."""

    reason: str
    forbidden: bool = False


@dataclass(slots=True)
class Scene:
    """The folder and the known variables at one point of a command; ``cd`` changes it."""

    cwd: str
    depth: int = 0
    """How many shells are nested."""
    variables: dict[str, str] = field(default_factory=dict)

    def inner(self) -> Scene:
        """For a nested shell, which starts here and leaves this one as it is."""
        return Scene(self.cwd, self.depth + 1, dict(self.variables))

    def path(self, text: str) -> str:
        """An absolute path for what is written in the command."""
        path = os.path.normpath(Path(self.cwd, expand_home(text)))
        return re.sub("^//", "/", path)  # which normpath keeps; to the system they are the same


def expand_home(text: str) -> str:
    if text == "~" or text.startswith("~/"):
        return str(Path.home()) + text[1:]
    if match := re.fullmatch(r"~(\w+)(/.*)?", text):
        return f"/home/{match.group(1)}{match.group(2) or ''}"
    return text


def program_name(text: str) -> str:
    return text.rpartition("/")[2]


def operands_of(texts: list[str]) -> list[str]:
    """Words that are no options."""
    return [text for text in texts if not text.startswith("-")]
