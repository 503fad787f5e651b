"""What is asked of a turn, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.calls import Place, TurnStatus, Usage
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.events import TurnFinished
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.settings import Settings
from hermes_jupyter.settings_file import APPROVAL_MODES


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """What a user says on the ``%%agent`` line; empty means as the settings say."""

    model: str = ""
    tools: tuple[str, ...] = ()
    no_tools: bool = False
    no_context: bool = False
    """Say nothing of the cells above."""
    max_steps: int = 0
    max_tokens: int = 0
    max_cost: float = 0.0
    approve: str = ""
    frontend: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further settings by name, as `Settings` holds them."""
    record: bool = False
    replay: str = ""
    keep: bool = False
    """May an earlier answer of the same cell to the same prompt stand for a new one?"""
    place: Place = field(default_factory=Place)
    asked_sha256: str = ""
    """Of what makes it the same question, if its prompt says more: values, versions."""

    @property
    def line(self) -> str:
        """What the options say about who answers, as a user writes it."""
        said = {"-m": self.model, "-t": ",".join(sorted(self.tools))}
        words = [f"{option} {value}" for option, value in said.items() if value]
        words += ["--no-tools"] if self.no_tools else []
        return " ".join([*words, *(["--approve plan"] if self.approve == "plan" else [])])

    def over(self, settings: Settings) -> Settings:
        """The settings of this turn.

        Raises
        ------
        ConfigurationError
        """
        if self.approve and self.approve not in APPROVAL_MODES:
            raise ConfigurationError(
                f"--approve must be one of {', '.join(APPROVAL_MODES)}, not {self.approve!r}"
            )
        settings = replace(settings, **self.more) if self.more else settings
        return replace(
            settings,
            model=self.model or settings.model,
            toolsets=self.tools or settings.toolsets,
            context=0.0 if self.no_context else settings.context,
            max_steps=self.max_steps or settings.max_steps,
            max_tokens=self.max_tokens or settings.max_tokens,
            max_cost=self.max_cost or settings.max_cost,
            approvals=self.approve or settings.approvals,  # type: ignore[arg-type]
            frontend=self.frontend or settings.frontend,  # type: ignore[arg-type]
            record=self.record or settings.record,
            replay=self.replay or settings.replay,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn went; shows itself as its answer."""

    text: str
    status: TurnStatus
    reason: str
    session: str
    turn: str
    steps: int
    seconds: float
    usage: Usage = field(default_factory=Usage)
    refused: tuple[str, ...] = ()
    """What was not run because nobody could be asked, or approvals were set to deny."""
    differences: tuple[str, ...] = ()
    """Of a replay that ran the tools again: what they answered in another way."""

    @classmethod
    def of(cls, finished: TurnFinished, *, session: str, turn: str) -> TurnResult:
        """The result of a turn that has ended, however it did."""
        return cls(
            text=finished.text,
            status=finished.status,
            reason=finished.reason,
            session=session,
            turn=turn,
            steps=finished.steps,
            seconds=finished.seconds,
            usage=finished.usage,
            refused=finished.refused,
        )

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def policy_of(settings: Settings) -> Policy:
    """The mode and the rules of these settings.

    Raises
    ------
    ConfigurationError
        If a rule is none.
    """
    policy = Policy.parse(settings.approvals, settings.allow, settings.deny, settings.ask)
    return replace(policy, trusts_isolation=settings.isolated == "run")
