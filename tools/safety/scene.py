"""Where a command runs: the folder, the variables, and all else that the commands before it set."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.safety.effect import Effect
from tools.safety.shell.values import Word

if TYPE_CHECKING:
    from tools.safety.shell.syntax import Node

__all__ = ["Effect", "Scene", "program_name"]
BLANKS = " \t\n"
SEPARATORS = Word(BLANKS)


@dataclass(slots=True)
class Scene:
    """What is known at one point of a command; running it changes it."""

    cwd: str
    depth: int = 0
    """How many shells are nested."""
    variables: dict[str, Word] = field(default_factory=dict)
    arrays: dict[str, list[Word]] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    positional: list[Word] | None = None
    """What ``$@`` stands for, if that is known."""
    workspace: str = ""
    """The folder in which the user works."""
    home: str = ""
    written: set[str] = field(default_factory=set)
    """Paths that the command has written so far; what it runs from them, nobody has seen."""
    running: tuple[str, ...] = ()
    """The functions that called each other to get here."""
    elsewhere: bool = False
    """On another host or in a container: paths are not those of this one."""

    @classmethod
    def at(cls, folder: str) -> Scene:
        home = os.path.expanduser("~")  # noqa: PTH111 - a tenth of the time of Path.home()
        variables = {"HOME": Word(home), "PWD": Word(folder), "IFS": SEPARATORS}
        return cls(folder, variables=variables, workspace=folder, home=home)

    def inner(self) -> Scene:
        """For a nested shell, which starts here and leaves this one as it is."""
        scene = self.copy()
        scene.depth += 1
        return scene

    def copy(self) -> Scene:
        """For a subshell."""
        return Scene(
            self.cwd, self.depth, dict(self.variables), dict(self.arrays), dict(self.functions),
            dict(self.aliases), self.positional, self.workspace, self.home, self.written,
            self.running, self.elsewhere,
        )  # fmt: skip

    def separators(self) -> str:
        """The characters at which an expanded variable becomes several words."""
        blanks = self.variables.get("IFS")
        return BLANKS if blanks is None or blanks.dynamic else blanks.text

    def enter(self, folder: str) -> None:
        self.cwd = self.path(folder)
        self.variables["PWD"] = Word(self.cwd)

    def path(self, text: str) -> str:
        """An absolute path for what is written in the command."""
        if text[:1] == "~":
            text = self._expanded(text)
        path = text if text[:1] == "/" else f"{self.cwd or self.workspace}/{text}"
        if "/." in path or "//" in path or path[-1:] == "/":
            path = os.path.normpath(path)
            return path[1:] if path.startswith("//") else path
        return path

    def _expanded(self, text: str) -> str:
        known = self.variables.get("HOME")
        home = self.home if known is None or known.dynamic else known.text
        if text == "~" or text.startswith("~/"):
            return home + text[1:]
        if match := re.fullmatch(r"~(\w[\w-]*)(/.*)?", text, re.DOTALL):
            folder = "/root" if match.group(1) == "root" else f"/home/{match.group(1)}"
            return folder + (match.group(2) or "")
        return text


def program_name(text: str) -> str:
    return text.rpartition("/")[2]
