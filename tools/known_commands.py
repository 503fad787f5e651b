"""What is known of commands: what their exit codes say, and which run until they are ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.safety.shell import Command, Unreadable
from tools.safety.shell.runner import commands_of

EXIT_CODES: Mapping[str, Mapping[int, str]] = {
    **{key: {1: "no line matched"} for key in ("grep", "egrep", "fgrep", "rg", "ack", "ag")},
    **{key: {1: "the files differ"} for key in ("diff", "cmp", "colordiff")},
    **{key: {1: "the condition is false"} for key in ("test", "[")},
    "[[": {1: "the condition is false"},
    "find": {1: "some folders could not be searched; the rest is complete"},
    "curl": {
        6: "the host name is not known",
        7: "the connection was refused",
        22: "the server answered with an HTTP error",
        28: "the request timed out",
    },
    "git": {1: "often no error: git diff and git grep say so if there is a difference or no match"},
}
GENERAL_EXIT_CODES = {126: "found, but not executable", 127: "no such command"}

SERVERS = (
    ("npm", "start"),
    ("npm", "run", "dev"),
    ("npm", "run", "start"),
    ("npm", "run", "serve"),
    ("yarn", "dev"),
    ("yarn", "start"),
    ("pnpm", "dev"),
    ("pnpm", "start"),
    ("bun", "dev"),
    ("next", "dev"),
    ("vite",),
    ("uvicorn",),
    ("gunicorn",),
    ("hypercorn",),
    ("flask", "run"),
    ("streamlit", "run"),
    ("jupyter", "lab"),
    ("jupyter", "notebook"),
    ("jupyter", "server"),
    ("mlflow", "ui"),
    ("mlflow", "server"),
    ("tensorboard",),
    ("python", "-m", "http.server"),
    ("python3", "-m", "http.server"),
    ("tail", "-f"),
    ("tail", "-F"),
    ("watch",),
)
"""First words of commands that run until somebody ends them."""

ENDS_AT_ONCE = frozenset(("--help", "-h", "--version", "-V", "build", "list", "stop"))


def runs_for_ever(command: Command) -> bool:
    """Would it only time out if one waited for it?"""
    words = tuple(map(str, command.words))
    if command.ending == "&" or ENDS_AT_ONCE.intersection(words):
        return False
    return any(words[: len(server)] == server for server in SERVERS)


def exit_code_meaning(command: str, exit_code: int) -> str:
    """What a non-zero exit code says, where it is no failure or means something special."""
    parts = parts_of(command)
    if not exit_code or not parts:
        return ""
    words = parts[-1].words
    program = Path(str(words[0])).name if words else ""
    return EXIT_CODES.get(program, {}).get(exit_code, "") or GENERAL_EXIT_CODES.get(exit_code, "")


def parts_of(command: str) -> list[Command]:
    """Its simple commands; none if it cannot be read."""
    try:
        return commands_of(command)
    except (Unreadable, RecursionError):
        return []  # bash will say what is wrong with it
