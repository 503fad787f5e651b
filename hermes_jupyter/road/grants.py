"""What a person has allowed for longer than once. Stored here, matched here."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Protocol

from hermes_jupyter.road.cases import Case
from hermes_jupyter.road.commands import normal_form
from hermes_jupyter.road.rules import Rule, exact_rule

INDIFFERENT = frozenset(("timeout", "background"))
"""Arguments that change nothing of what a command does."""


class Standing(Protocol):
    """Where rules are kept for all sessions: see `hermes_jupyter.store.standing`."""

    def rules(self) -> Sequence[str]: ...

    def add(self, rule: str) -> None:
        """Keep a rule. OSError if that cannot be."""
        ...


class Grants:
    """Of one session: what was allowed exactly so, and the rules that always hold. Any thread."""

    def __init__(self, standing: Standing | None = None) -> None:
        self._standing = standing
        self._lock = threading.Lock()
        self._exact: frozenset[str] = frozenset()

    def allow_exactly(self, case: Case) -> None:
        """Allow this call, in this folder, for the session."""
        with self._lock:
            self._exact |= {_key(case)}

    def has_exactly(self, case: Case) -> bool:
        return _key(case) in self._exact

    def allow_always(self, rule: str) -> None:
        """Keep a rule for all sessions.

        Raises
        ------
        OSError
            If it cannot be written down.
        """
        if self._standing is not None:
            self._standing.add(rule)

    def always(self, case: Case) -> Rule | None:
        """The kept rule that covers the call. None covers what is of high risk.

        They are about this machine: the same path or command elsewhere does something else.
        """
        kept = self._standing.rules() if self._standing is not None else ()
        if not kept or case.risk == "high" or case.files.name:
            return None
        return next((rule for text in kept if (rule := Rule.parse(text)).covers(case)), None)

    def check(self) -> None:
        """Read the kept rules.

        Raises
        ------
        ConfigurationError
            If one of them is none.
        """
        for text in self._standing.rules() if self._standing is not None else ():
            Rule.parse(text)

    def offered(self, case: Case) -> str:
        """The rule that "always" would keep; empty if it cannot be offered."""
        if self._standing is None or case.risk == "high" or case.files.name:
            return ""
        return exact_rule(case)


def _key(case: Case) -> str:
    """The same for calls that do the same. What would be shown belongs to it: a diff may differ."""
    args = {name: value for name, value in case.call.args.items() if name not in INDIFFERENT}
    shown = case.objection.shown if case.objection else ""
    if isinstance(command := args.get("command"), str):
        args["command"] = normal_form(command)
        shown = "" if shown == command else shown
    where = [case.files.name, case.folder]
    body = json.dumps([case.call.name, args, where, shown], sort_keys=True, default=str)
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
