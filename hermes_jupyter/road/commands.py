"""What rules and grants need of a shell command: its normal form, and how else it may be said."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator

from tools.safety.scene import program_name
from tools.safety.shell import Command, Unreadable
from tools.safety.shell.runner import commands_of

DEEPEST = 4
WRAPPERS = frozenset((
    "sudo", "doas", "env", "command", "exec", "nohup", "nice", "ionice", "time", "timeout",
    "stdbuf", "setsid", "xargs", "chroot", "builtin", "busybox", "watch",
))  # fmt: skip
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
ALIVE = frozenset("*?[{~$`\\<>|&;()\n#=!")
"""Signs that may mean something to a shell, and nothing any more once they are quoted."""


def normal_form(command: str) -> str:
    """One spelling for commands that differ in blanks and quotes only.

    What is more than one program with plain words stays as it is written.
    """
    text = command.strip()
    if not text or not ALIVE.isdisjoint(text):
        return text
    try:
        return shlex.join(shlex.split(text))
    except ValueError:
        return text


def plain_spellings(command: str) -> list[str]:
    """Each program of the command with its arguments, without quotes, folder and wrappers."""
    return list(dict.fromkeys(_programs(command, 0)))


def words_of(command: str) -> list[str]:
    """All words of the command that may be paths."""
    parts = _commands(command)
    words = [word.text for part in parts for word in part.words[1:]]
    words += [each.target.text for part in parts for each in part.redirections]
    words += [each.partition("=")[2] for each in words if "=" in each]
    return [word for word in words if word and "\n" not in word]


def _commands(command: str) -> list[Command]:
    try:
        return commands_of(command)
    except (Unreadable, RecursionError):
        return []


def _programs(text: str, depth: int) -> Iterator[str]:
    for command in _commands(text) if depth <= DEEPEST else ():
        yield from _spoken([word.text for word in command.words], depth)


def _spoken(words: list[str], depth: int) -> Iterator[str]:
    if not words:
        return
    name = program_name(words[0])
    yield " ".join([name, *words[1:]])
    if name in WRAPPERS:
        for start in range(1, len(words)):
            if not words[start].startswith("-"):
                yield " ".join([program_name(words[start]), *words[start + 1 :]])
    if name in SHELLS or name in WRAPPERS:
        for flag, inner in itertools.pairwise(words[1:]):
            if flag.startswith("-") and flag.endswith("c"):
                yield from _programs(inner, depth + 1)
    if name == "eval":
        yield from _programs(" ".join(words[1:]), depth + 1)
