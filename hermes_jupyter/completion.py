"""What may stand at the cursor in an ``%%agent`` cell or behind ``%hermes``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

MOST = 200
MENTION = re.compile(r"(?:^|(?<=[\s(\[{,;:\"'`]))@(\w*)$")
BRACE = re.compile(r"(?<!\{)\{(\w*)$")
SLASH = re.compile(r"(?:^|(?<=\s))/(\w*)$")

UNDOING = ("--force", "--preview")
CALLING = (
    "--approve", "--background", "--output", "--plain", "--session", "--tools",
)  # fmt: skip
OPTIONS: Mapping[str, Sequence[str]] = {
    "call": CALLING,
    "last": ("--trace",),
    "redo": UNDOING,
    "restore": UNDOING,
    "sessions": ("--children",),
    "tools": ("--schema", "--why"),
    "undo": UNDOING,
    "usage": ("--calls",),
}
"""Of the commands of ``%hermes``."""
WORDS: Mapping[str, Sequence[str]] = {"memory": ("forget",), "model": ("local",)}
"""Words that may follow a command as they are."""


class Known(Protocol):
    """The names that there are now. Asked only for what is needed."""

    def variables(self) -> Iterable[str]: ...
    def tools(self) -> Iterable[str]: ...
    def toolsets(self) -> Iterable[str]: ...
    def sessions(self) -> Iterable[str]: ...
    def terminals(self) -> Iterable[str]: ...
    def commands(self) -> Iterable[str]: ...
    def options(self) -> Mapping[str, Sequence[str] | None]:
        """Of ``%%agent``, each with its choices; None if it takes no value."""
        ...


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What may take the place of the text before the cursor."""

    fragment: str
    texts: Sequence[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Names:
    """Under which names the magics stand."""

    cell: str = "agent"
    line: str = "hermes"


def suggest(text: str, known: Known, names: Names = Names()) -> Suggestions | None:
    """Suggestions for the end of ``text``; None where nothing of ours stands.

    Parameters
    ----------
    text
        Of the cell, as far as the cursor.
    """
    text = text.lstrip("\n")
    first = text.partition("\n")[0]
    line = text.rpartition("\n")[2]
    if re.match(rf"%%{names.cell}(?!\w)", first):
        return _in_prompt(line, known) if "\n" in text else _option(line, known)
    if found := re.match(rf"\s*%{names.line}\s+(.*)$", line):
        return _after_hermes(found[1], known)
    return None


def _in_prompt(line: str, known: Known) -> Suggestions | None:
    if found := MENTION.search(line):
        return _matching(f"@{found[1]}", (f"@{name}" for name in known.variables()), "variable")
    if found := SLASH.search(line):
        return _matching(f"/{found[1]}", (f"/{name}" for name in known.tools()), "tool")
    if found := BRACE.search(line):
        return _matching(found[1], known.variables(), "variable")
    return None


def _option(line: str, known: Known) -> Suggestions | None:
    """In the first line of an ``%%agent`` cell."""
    *before, word = re.split(r"[ \t]+", line)
    options = known.options()
    if "=" in word and word.startswith("--"):
        name, _, value = word.partition("=")
        return _value(name, value, known)
    if before and before[-1] in options and options[before[-1]] is not None:
        return _value(before[-1], word, known)
    return _matching(word, options, "option") if word.startswith("-") else None


def _value(option: str, word: str, known: Known) -> Suggestions | None:
    if option in ("-t", "--tools"):
        word = word.rpartition(",")[2]
        return _matching(word, [*known.toolsets(), *known.tools()], "toolset")
    if option == "--session":
        return _matching(word, known.sessions(), "session")
    return _matching(word, known.options().get(option) or (), "value")


def _after_hermes(rest: str, known: Known) -> Suggestions | None:
    *before, word = re.split(r"\s+", rest)
    if not before:
        return _matching(word, known.commands(), "command") or _in_prompt(rest, known)
    command = before[0]
    if command not in {*known.commands()}:
        return _in_prompt(rest, known)
    if word.startswith("-"):
        return _matching(word, OPTIONS.get(command, ()), "option")
    if command == "call" and before[-1] in known.options() and before[-1].startswith("--"):
        return _value(before[-1], word, known)
    if (command == "call" and len(before) == 1) or before[-1] == "--schema":
        return _matching(word, known.tools(), "tool")
    if command == "terminal":
        return _matching(word, known.terminals(), "terminal")
    if len(before) == 1 and command in WORDS:
        return _matching(word, WORDS[command], "value")
    return None


def _matching(fragment: str, texts: Iterable[str], kind: str) -> Suggestions | None:
    fitting = sorted({text for text in texts if text.startswith(fragment)})[:MOST]
    return Suggestions(fragment, fitting, kind) if fitting else None
