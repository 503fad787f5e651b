"""What is asked of a turn, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hermes_jupyter.calls import TurnStatus, Usage
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.settings import APPROVAL_MODES, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """What a user says on the ``%%agent`` line; empty means as the settings say."""

    model: str = ""
    tools: tuple[str, ...] = ()
    no_tools: bool = False
    max_steps: int = 0
    max_tokens: int = 0
    max_cost: float = 0.0
    approve: str = ""
    frontend: str = ""

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
        return replace(
            settings,
            model=self.model or settings.model,
            toolsets=self.tools or settings.toolsets,
            max_steps=self.max_steps or settings.max_steps,
            max_tokens=self.max_tokens or settings.max_tokens,
            max_cost=self.max_cost or settings.max_cost,
            approvals=self.approve or settings.approvals,  # type: ignore[arg-type]
            frontend=self.frontend or settings.frontend,  # type: ignore[arg-type]
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
