"""The tools of the other libraries: the same five that our agent offers a small model.

Plain functions whose docstrings both libraries read. They are as forgiving as ours: lines are
numbered and counted, and a search falls back from names to contents and back.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.tasks.task import Task

SECONDS = 30
DELETES = re.compile(r"\b(rm|rmdir|unlink|shred|rmtree|remove|mv)\b|-delete\b")
DENIED = "Denied: the user said no. It was not run. Do not try it again in another way."
SYSTEM = (
    "You are an agent in a notebook and get work done with tools. Use them to find out facts about "
    "files; never invent their contents. Do every step the task asks for, then answer briefly."
)
MOST_STEPS = 10


@dataclass
class Folder:
    """A folder that an agent acts in."""

    task: Task
    path: Path
    calls: list[str] = field(default_factory=list)
    """Names of the tools that were called."""
    notices: list[str] = field(default_factory=list)
    """What the agent told the person beside its answer."""

    def tools(self) -> list[Callable[..., str]]:
        """The tools, as functions with type hints."""

        def read_file(path: str) -> str:
            """Show a text file with numbered lines.

            Args:
                path: The file to read.
            """
            self.calls.append("read_file")
            return self._answer(lambda: numbered((self.path / path).read_text("utf-8")))

        def write_file(path: str, content: str) -> str:
            """Create a file or replace all of it.

            Args:
                path: The file to write.
                content: The whole new text of the file.
            """
            self.calls.append("write_file")
            return self._answer(lambda: self._write(path, content))

        def patch(path: str, old_string: str, new_string: str) -> str:
            """Change a part of a file.

            Args:
                path: The file to change.
                old_string: A text that is in the file once.
                new_string: The text to put there.
            """
            self.calls.append("patch")
            return self._answer(lambda: self._patch(path, old_string, new_string))

        def search_files(pattern: str, target: str = "content", path: str = ".") -> str:
            """Find which file holds a text, or has a name.

            Args:
                pattern: A text or regular expression.
                target: content to look into files, files to look at their names.
                path: The folder to search.
            """
            self.calls.append("search_files")
            return self._answer(lambda: self._search(pattern, target, path))

        def terminal(command: str) -> str:
            """Run a shell command and show its output.

            Args:
                command: The command.
            """
            self.calls.append("terminal")
            return self._answer(lambda: self._run(command))

        return [patch, read_file, search_files, terminal, write_file]

    def _answer(self, work: Callable[[], str]) -> str:
        try:
            return work()
        except (OSError, ValueError, re.error, subprocess.SubprocessError) as error:
            return f"error: {error}"

    def _write(self, name: str, content: str) -> str:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return f"ok: {len(content.encode())} bytes written"

    def _patch(self, name: str, old: str, new: str) -> str:
        path = self.path / name
        text = path.read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"old_string is {text.count(old)} times in {name}, not once")
        path.write_text(text.replace(old, new), encoding="utf-8")
        return f"ok:\n-{old}\n+{new}"

    def _search(self, pattern: str, target: str, path: str) -> str:
        names, lines = self._names(pattern, path), self._lines(pattern, path)
        found = (names or lines) if target == "files" else (lines or names)
        return "\n".join(found) or "nothing found"

    def _below(self, path: str) -> list[Path]:
        root = self.path / path
        return sorted(each for each in root.rglob("*") if each.is_file())

    def _names(self, pattern: str, path: str) -> list[str]:
        plain = pattern.strip("*").lower()
        return [
            str(each.relative_to(self.path))
            for each in self._below(path)
            if plain in each.name.lower() or each.match(pattern)
        ]

    def _lines(self, pattern: str, path: str) -> list[str]:
        return [
            f"{each.relative_to(self.path)}:{number}: {line}"
            for each in self._below(path)
            for number, line in enumerate(each.read_text("utf-8", "replace").splitlines(), 1)
            if re.search(pattern, line, re.IGNORECASE)
        ]

    def _run(self, command: str) -> str:
        if self.task.person == "denies" and DELETES.search(command):
            return DENIED
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
        output = (ran.stdout + ran.stderr).rstrip() or "(no output)"
        return output + (f"\nexit code {ran.returncode}" if ran.returncode else "")


def numbered(text: str) -> str:
    """The text as it is read, with the number of its lines."""
    lines = text.splitlines()
    return "\n".join([f"({len(lines)} lines)", *(f"{n}|{line}" for n, line in enumerate(lines, 1))])
