"""What a turn lends to those who work for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.spending import Spending
from hermes_jupyter.calls import Usage
from hermes_jupyter.events import ApprovalResolved, Event
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from tools.view import RegistryView


class Count(Protocol):
    """Counts what a model call took."""

    def __call__(self, model: str, usage: Usage, seconds: float, purpose: str = ...) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """What a turn lends: children never have more than this."""

    session: Session
    settings: Settings
    tools: RegistryView
    """What the turn's own agent may call."""
    emit: Callable[[Event], None]
    count: Count
    refused: Callable[[ApprovalResolved], None]
    """Told what was not run, for the list at the end of the turn."""
    spending: Spending
    model: Callable[[], Model]
    """The model that the agent asks now."""
    context: Mapping[str, Any]
    """What its tools get beside what the session gives them."""
    depth: int = 0
    """How many agents it works for."""
