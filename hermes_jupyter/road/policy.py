"""What may run without a person's answer: the mode and the user's rules."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import ApprovalMode
from tools.files import arguments
from tools.safety.shell_program import Unreadable
from tools.safety.shell_text import parse

Verdict = Literal["allow", "ask", "deny"]
VERDICTS: Mapping[ApprovalMode, Verdict] = {"ask": "ask", "deny": "deny", "off": "allow"}
"""Of each mode, where no rule says anything."""
RULE = re.compile(r"\s*([\w*?.-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
WILDCARD = re.compile(r"[*?\[]")
SHELL_SYNTAX = re.compile(r"[;&|<>`$(){}\n\\]")


@dataclass(frozen=True, slots=True)
class Rule:
    """``tool`` or ``tool(pattern)``; ``*`` and ``?`` as in file names."""

    tool: str
    pattern: str | None

    @classmethod
    def parse(cls, text: str) -> Rule:
        match = RULE.fullmatch(text)
        if match is None:
            raise ConfigurationError(
                f"{text!r} is no rule; write a tool or tool(pattern), say terminal(rm *.tmp)"
            )
        return cls(match.group(1), match.group(2))

    def denies(self, call: ToolCall, folder: str = "") -> bool:
        """Does it cover a part of the call? Wildcards match anything, as the user surely meant."""
        if not fnmatchcase(call.name, self.tool):
            return False
        pattern = self.pattern
        return pattern is None or any(
            fnmatchcase(spelling, pattern)
            for subject in subjects_of(call)
            for spelling in _spellings(call, subject, folder)
        )

    def allows(self, call: ToolCall) -> bool:
        """Does it cover all of the call and nothing more?

        A pattern with wildcards covers no shell syntax and no way up, and a wildcard in a word no
        second word: ``rm *.tmp`` must allow neither ``rm a.tmp; rm -r ~/.tmp`` nor
        ``rm -r ~ a.tmp``. A ``*`` at the end, as in ``git *``, covers all words.
        """
        if not fnmatchcase(call.name, self.tool):
            return False
        pattern = self.pattern
        fits = _fits_by_word if "command" in call.args else _fits
        return pattern is None or all(fits(each, pattern) for each in subjects_of(call))


def _fits(subject: str, pattern: str) -> bool:
    if WILDCARD.search(pattern) is None:
        return subject == pattern
    if SHELL_SYNTAX.search(subject) or ".." in re.split(r"[/\s]", subject):
        return False
    return fnmatchcase(subject, pattern)


def _fits_by_word(subject: str, pattern: str) -> bool:
    if WILDCARD.search(pattern) is None or not _fits(subject, pattern):
        return subject == pattern
    wanted, words = pattern.split(), subject.split()
    if wanted[-1] == "*":
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    return len(wanted) == len(words) and all(map(fnmatchcase, words, wanted))


def subjects_of(call: ToolCall) -> list[str]:
    """What a rule's pattern is compared with: the command, the paths, else the arguments."""
    if isinstance(command := call.args.get("command"), str):
        return [command]
    return arguments.paths(call.args) or [
        json.dumps(dict(call.args), sort_keys=True, ensure_ascii=False, default=str)
    ]


def _spellings(call: ToolCall, subject: str, folder: str) -> list[str]:
    """Other ways to say the same, of those that a model might come upon."""
    if "command" not in call.args:
        real = os.path.realpath(Path(folder, subject).expanduser()) if "\0" not in subject else ""
        return [subject, real, os.path.relpath(real, folder or None)] if real else [subject]
    try:
        parts = [[str(word) for word in part.words] for part in parse(subject).commands]
    except (Unreadable, RecursionError):
        parts = []
    plain = [" ".join([Path(words[0]).name, *words[1:]]) for words in parts if words]
    return [subject, *plain]


@dataclass(frozen=True, slots=True)
class Policy:
    """The mode and the rules of a turn."""

    mode: ApprovalMode = "ask"
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    @classmethod
    def parse(cls, mode: ApprovalMode, allow: tuple[str, ...], deny: tuple[str, ...]) -> Policy:
        return cls(mode, tuple(map(Rule.parse, allow)), tuple(map(Rule.parse, deny)))

    def denied(self, call: ToolCall, folder: str = "") -> bool:
        """Does a rule forbid the call, made in ``folder``, whether or not its guard objects?"""
        return any(rule.denies(call, folder) for rule in self.deny)

    def verdict(self, call: ToolCall) -> Verdict:
        """What to do with a call whose guard objects."""
        if self.denied(call):
            return "deny"
        if any(rule.allows(call) for rule in self.allow):
            return "allow"
        return VERDICTS[self.mode]
