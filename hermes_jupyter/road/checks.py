"""Who else looks at the calls of a turn, beside the tools' own guards.

The scanner of commands and the hooks of plugins. They add objections and take none away. What they
object to no rule and no model allows in a person's place; only approvals that are switched off do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.calls import digest_of
from hermes_jupyter.hooks.registry import Hooks
from hermes_jupyter.road.cases import Case
from hermes_jupyter.road.hooks import PRE_TOOL_CALL, HookVerdict, verdicts
from hermes_jupyter.road.requests import EXACTLY, shown_of
from tools.entry import ToolEntry
from tools.safety import Objection
from tools.safety.scanner import Finding

Scan = Callable[[str, str], Finding | None]
"""Asks the scanner about a command in a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Those of one turn. Each looks at an exact call once, however often the gate comes back."""

    hooks: Hooks = field(default_factory=Hooks)
    scan: Scan | None = None
    _found: dict[tuple[str, str], Finding | None] = field(default_factory=dict, repr=False)
    _said: dict[tuple[str, str], list[HookVerdict]] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        """May they have anything to say?"""
        return self.hooks.wants(PRE_TOOL_CALL) or self.scan is not None

    def look_at(self, entry: ToolEntry) -> bool:
        """May they have anything to say about this tool?"""
        scans = self.scan is not None and _takes_commands(entry)
        return scans or self.hooks.wants(PRE_TOOL_CALL)

    def upon(self, case: Case, context: Mapping[str, Any]) -> Case:
        """The case with their objections. What nobody may approve they are not asked about."""
        if case.objection is not None and case.objection.forbidden:
            return case
        said = self._verdicts(case, context)
        blocks = "; ".join(each.message for each in said if each.action == "block")
        if blocks:
            return _with(case, f"is blocked by a plugin ({blocks})", forbidden=True)
        reasons = [f"needs an approval for a plugin ({each.message})" for each in said]
        finding = self._finding(case)
        reasons += [finding.reason] if finding else []
        return _with(case, "; ".join(reasons)) if reasons else case

    def _verdicts(self, case: Case, context: Mapping[str, Any]) -> list[HookVerdict]:
        if not self.hooks.wants(PRE_TOOL_CALL):
            return []
        key = (case.call.id, digest_of(case.call, case.folder))
        if key not in self._said:
            self._said[key] = verdicts(self.hooks, case.call, context)
        return self._said[key]

    def _finding(self, case: Case) -> Finding | None:
        command = case.command
        if self.scan is None or command is None or not _takes_commands(case.entry):
            return None
        key = (command, case.folder)
        if key not in self._found:
            self._found[key] = self.scan(command, case.folder)
        return self._found[key]


def _takes_commands(entry: ToolEntry) -> bool:
    if entry.effects == "read":
        return False
    properties = (entry.schema.get("parameters") or {}).get("properties") or {}
    return "command" in properties or entry.toolset == "terminal"


def _with(case: Case, reason: str, *, forbidden: bool = False) -> Case:
    """The case, objected to by them and by its guard."""
    said = case.objection
    if said is None:
        said = Objection(reason=reason, shown=shown_of(case), grant=EXACTLY)
    elif forbidden:
        said = replace(said, reason=reason)
    else:
        said = replace(said, reason=f"{said.reason}; {reason}")
    return replace(case, objection=replace(said, forbidden=forbidden, firm=True))
