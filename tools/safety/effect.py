"""What a part of a command does, as a value that a policy can weigh and a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "reads", "writes", "deletes", "moves", "discards", "history", "runs", "unseen", "hidden",
    "sends", "listens", "remote", "installs", "permissions", "processes", "services", "accounts",
    "privilege", "persistence", "secrets", "system", "database", "containers",
    "cell_write", "cell_delete", "unclear",
]  # fmt: skip
Place = Literal["", "workspace", "outside", "system", "vital", "device"]
Risk = Literal["none", "low", "medium", "high"]
Verdict = Literal["safe", "ask", "block"]

RISKS: tuple[Risk, ...] = ("none", "low", "medium", "high")
HIGH = frozenset((
    "unseen", "hidden", "privilege", "secrets", "system", "accounts", "persistence", "listens",
))  # fmt: skip
LOW_IN_WORKSPACE = frozenset(("writes", "moves", "permissions"))


@dataclass(frozen=True, slots=True)
class Effect:
    """Something a person should know before the command runs."""

    reason: str
    """In words: "deletes notes.txt"."""
    forbidden: bool = False
    """No approval may allow it."""
    kind: Kind = "unclear"
    targets: tuple[str, ...] = ()
    """What it is done to: absolute paths, hosts, packages."""
    place: Place = ""
    """Of targets that are paths: the most delicate."""

    @property
    def risk(self) -> Risk:
        """By what is done, to what, and whether it can be undone."""
        if self.forbidden or self.kind in HIGH or self.place in ("system", "vital", "device"):
            return "high"
        in_workspace = self.place == "workspace"
        return "low" if in_workspace and self.kind in LOW_IN_WORKSPACE else "medium"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a text, and why."""

    verdict: Verdict
    effects: tuple[Effect, ...] = ()
    reason: str = ""

    @property
    def risk(self) -> Risk:
        return max((each.risk for each in self.effects), key=RISKS.index, default="none")
