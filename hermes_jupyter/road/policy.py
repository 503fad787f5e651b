"""What may run without a person's answer: the mode and the user's rules."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import ApprovalMode

Verdict = Literal["allow", "ask", "deny"]
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

    def denies(self, call: ToolCall) -> bool:
        """Does it cover the call? Wildcards match anything, as the user surely meant."""
        return fnmatchcase(call.name, self.tool) and (
            self.pattern is None or fnmatchcase(subject_of(call), self.pattern)
        )

    def allows(self, call: ToolCall) -> bool:
        """Does it cover the call and nothing more?

        A pattern with wildcards never covers shell syntax: ``rm *.tmp`` must not allow
        ``rm a.tmp; rm -r ~/.tmp``.
        """
        if self.pattern is None or not self.denies(call):
            return self.denies(call)
        exact = WILDCARD.search(self.pattern) is None
        return exact or not SHELL_SYNTAX.search(subject_of(call))


def subject_of(call: ToolCall) -> str:
    """What a rule's pattern is compared with: the command, the path, else the arguments."""
    for key in ("command", "path"):
        if isinstance(value := call.args.get(key), str):
            return value
    return json.dumps(dict(call.args), sort_keys=True, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class Policy:
    """The mode and the rules of a turn."""

    mode: ApprovalMode = "ask"
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    @classmethod
    def parse(cls, mode: ApprovalMode, allow: tuple[str, ...], deny: tuple[str, ...]) -> Policy:
        return cls(mode, tuple(map(Rule.parse, allow)), tuple(map(Rule.parse, deny)))

    def denied(self, call: ToolCall) -> bool:
        """Does a rule forbid the call, whether or not its guard objects?"""
        return any(rule.denies(call) for rule in self.deny)

    def verdict(self, call: ToolCall) -> Verdict:
        """What to do with a call whose guard objects."""
        if self.denied(call):
            return "deny"
        if any(rule.allows(call) for rule in self.allow):
            return "allow"
        return {"ask": "ask", "deny": "deny", "off": "allow"}[self.mode]  # type: ignore[return-value]
