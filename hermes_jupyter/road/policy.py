"""What may run without a person's answer: the mode, and the user's rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hermes_jupyter.road.cases import Case
from hermes_jupyter.road.rules import Rule
from hermes_jupyter.settings_file import ApprovalMode
from tools.environments.host import Isolation

Verdict = Literal["allow", "ask", "deny"]
IN_TERMINAL = frozenset({"terminal", "process", "execute_code"})
"""Tools that do all their work where commands run."""
ASKING = frozenset({"ask", "edits", "auto"})
"""Modes in which a question would be asked."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The mode and the rules of a turn. ``deny`` wins over ``ask``, and that over ``allow``."""

    mode: ApprovalMode = "ask"
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    trusts_isolation: bool = False
    """Do commands run unasked where they can reach nothing of this machine?"""

    @classmethod
    def parse(
        cls,
        mode: ApprovalMode,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
    ) -> Policy:
        """Read the rules.

        Raises
        ------
        ConfigurationError
            With the text of the first that is none.
        """
        read = Rule.parse
        return cls(mode, tuple(map(read, allow)), tuple(map(read, deny)), tuple(map(read, ask)))

    @property
    def watches_all(self) -> bool:
        """Must every call be looked at, also those of tools without a guard?"""
        return bool(self.deny or self.ask or self.mode == "plan")

    def denying(self, case: Case) -> Rule | None:
        """The rule that forbids the call, whether or not its guard objects."""
        return next((rule for rule in self.deny if rule.touches(case)), None)

    def asking(self, case: Case) -> Rule | None:
        """The rule by which a person must be asked."""
        return next((rule for rule in self.ask if rule.touches(case)), None)

    def allowing(self, case: Case) -> Rule | None:
        """The rule by which the call may run although its guard objects."""
        return next((rule for rule in self.allow if rule.covers(case)), None)

    def forbids_changes(self, case: Case) -> bool:
        """Is only looked now, and the call may change something?"""
        return self.mode == "plan" and not case.reads_only

    def by_mode(self, case: Case) -> Verdict:
        """What becomes of a call whose guard objects, if no rule says it."""
        match self.mode:
            case "off":
                return "allow"
            case "deny":
                return "deny"
            case "edits" if case.is_edit:
                return "allow"
        return "ask"

    def lets_loose(self, case: Case, isolation: Isolation) -> bool:
        """May a command run unasked, since it runs shut in? A folder of this machine that it
        could write to is a way out."""
        shut_in = isolation.isolated and not isolation.host_paths
        in_terminal = case.call.name in IN_TERMINAL
        return self.trusts_isolation and shut_in and in_terminal and self.mode in ASKING

    def may_be_judged(self, case: Case) -> bool:
        """May a model say that the call needs no question?"""
        return self.mode == "auto" and case.risk == "medium"
