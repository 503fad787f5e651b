"""A child's turn: that of any agent, with what its parent lends and its own prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.spending import Spending
from hermes_jupyter.agent.tool_search.arrangement import Arrangement
from hermes_jupyter.calls import Usage
from hermes_jupyter.delegation.lent import Lent
from hermes_jupyter.delegation.prompt import child_prompt
from hermes_jupyter.delegation.sessions import ChildSession
from hermes_jupyter.events import ApprovalResolved, Listener
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn import Turn
from hermes_jupyter.turn_values import TurnOptions
from tools.async_bridge import in_tool_thread
from tools.view import RegistryView

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes


class ChildTurn(Turn):
    """The one turn of a child.

    Parameters
    ----------
    settings
        The parent's, with a child's model and number of steps.
    model
        Whom it asks first.
    spending
        Its part of what the parent may spend.
    """

    def __init__(
        self,
        hermes: Hermes,
        session: ChildSession,
        listener: Listener,
        lent: Lent,
        *,
        settings: Settings,
        model: Model,
        tools: RegistryView,
        spending: Spending,
    ) -> None:
        super().__init__(hermes, session, TurnOptions(), [listener], lent.context)
        self._settings = settings
        self._budget = Budget(settings.max_steps)
        self._spending = spending
        self._depth = lent.depth + 1
        self._lender, self._first_model, self._given = lent, model, tools

    def _choose_model(self) -> Model:
        return self._first_model

    def _announce(self, prompt: str, model: str) -> None:
        """What a person should hear is said in the parent's turn."""
        self.emit(self.started(prompt, model, self._budget.total))

    async def _tools(self) -> RegistryView:
        return self._given

    async def _begin_conversation(self, model: Model, arranged: Arrangement) -> None:
        session, settings = self._session, self._settings
        content = await in_tool_thread(
            lambda: child_prompt(
                session, settings, arranged.tools, model=model.name, window=model.window
            )
        )
        session.transcript.append({"role": "system", "content": content})

    def _count(self, model: str, usage: Usage, seconds: float, purpose: str = "step") -> None:
        super()._count(model, usage, seconds, purpose)
        self._lender.count(model, usage, seconds, "child")

    def _note_refusal(self, event: ApprovalResolved) -> None:
        """It goes into the parent's list."""
        self._lender.refused(event)
