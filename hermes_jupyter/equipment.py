"""What one turn has: its model, what its calls share, and what is counted."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.eyes import Eyes
from hermes_jupyter.agent.judge import ModelJudge
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.models.choice import is_local, profile_of
from hermes_jupyter.agent.spending import Ceilings, Spending
from hermes_jupyter.agent.usage_log import CallRecord
from hermes_jupyter.calls import Usage
from hermes_jupyter.checkpoint import TurnCheckpoint
from hermes_jupyter.delegation.lent import Lent
from hermes_jupyter.delivery import Delivery
from hermes_jupyter.events import (
    ApprovalResolved,
    Event,
    Listener,
    ModelCalled,
    NoticeGiven,
    StepFinished,
    ToolCallFinished,
)
from hermes_jupyter.hooks.of_turn import TurnHooks
from hermes_jupyter.notebook.told_cells import ToldCells
from hermes_jupyter.protection import containment_of, scan_by
from hermes_jupyter.redaction import redact
from hermes_jupyter.refused import Refusals
from hermes_jupyter.road.checks import Checks
from hermes_jupyter.road.pages import READER
from hermes_jupyter.road.run import Road
from hermes_jupyter.session import Session
from hermes_jupyter.turn_values import TurnOptions, policy_of
from tools.view import RegistryView

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes


class Equipment:
    """Of one turn."""

    def __init__(
        self,
        hermes: Hermes,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> None:
        self._hermes = hermes
        self._session = session
        self._settings = settings = options.over(hermes.settings)
        self._profile = profile_of(settings)
        self._options = options
        self._more = context
        self._id = secrets.token_hex(6)
        self._hooks = TurnHooks(
            hermes.hooks,
            {"session_id": session.name, "task_id": session.name, "turn_id": self._id},
            lambda: self._model_name,
        )
        audit = session.audit.listener(self._warn)
        self._delivery = Delivery(
            session.journal, [*listeners, audit, self._hooks], hermes.hooks.take_problems
        )
        self._said = ""
        self._offered: tuple[str, ...] = ()
        self._prompt = ""
        self._refusals = Refusals()
        self._budget = Budget(settings.max_steps)
        self._spending = Spending(
            Ceilings(max_tokens=settings.max_tokens, max_cost=settings.max_cost)
        )
        share = 0.0 if is_local(settings.model, settings) else settings.context
        self._cells = ToldCells(context.get("cells_above"), session.told_cells, share, redact)
        self._agent_now: Agent | None = None
        self._depth = 0
        self._began = time.monotonic()
        self._usage = Usage()
        self._model: Model | None = None
        self._checkpoint: TurnCheckpoint | None = context.get("checkpoint")
        """Of a child: its parent's, which the parent ends."""

    def emit(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            self._said = event.text
        elif isinstance(event, ModelCalled):
            self._count(event.model, event.usage, event.seconds)
        elif isinstance(event, ApprovalResolved):
            self._note_refusal(event)
        elif isinstance(event, ToolCallFinished) and event.result.args is not None:
            self._hermes.tool_usage.note(event.result.call.name)
        for warning in self._delivery(event):
            self._warn(warning)

    def road(self, tools: RegistryView) -> Road:
        """The road of all its calls."""
        settings = self._settings
        session = self._session
        session.desk.grants.check()
        session.terminals.local.contain(containment_of(settings, session.project))
        return Road(
            tools=tools,
            desk=self._session.desk,
            policy=policy_of(settings),
            emit=self.emit,
            context=self._context(tools),
            tool_timeout=settings.tool_timeout,
            approval_timeout=settings.approval_timeout,
            judge=self._judge(),
            checks=Checks(
                hooks=self._hermes.hooks, scan=scan_by(session.scanner, settings, self._warn)
            ),
            purpose=lambda: self._said,
        )

    def _judge(self) -> ModelJudge | None:
        """The model that looks at requests first. The small local one has not the wits for it."""
        settings = self._settings
        if settings.approvals != "auto" or is_local(settings.model, settings):
            return None
        return ModelJudge(self._model or self._hermes.model(settings), self._use)

    def _noted(self, usage: Usage) -> None:
        """Notes on the conversation were written."""
        self._count(self._model_name, usage, 0.0, purpose="notes")

    def _use(self, usage: Usage) -> None:
        """Count what the judge took."""
        self._spending.add(usage)
        self._count(self._model_name, usage, 0.0, purpose="judge")

    def _count(self, model: str, usage: Usage, seconds: float, purpose: str = "step") -> None:
        self._usage += usage
        self._session.usage_log.add(
            CallRecord(at=time.time(), model=model, usage=usage, seconds=seconds, purpose=purpose)
        )

    @property
    def _model_name(self) -> str:
        """Of the model that is asked now, which may not be the one that was asked first."""
        model = self._agent_now.asker.model if self._agent_now else self._model
        return model.name if model else ""

    def _context(self, tools: RegistryView) -> dict[str, Any]:
        session = self._session
        return {
            "session_id": session.name,
            "task_id": session.name,
            "turn_id": self._id,
            "environment": session.environment,
            "shell_turn": session.shell_turn,
            "todos": session.todos,
            "written": session.written,
            "trash": session.trash,
            "memory": session.memory,
            "skills": session.skills,
            "album": session.album,
            "eyes": self._eyes(),
            "secrets": session.secrets,
            "workspace": session.project,
            "conversations": self._hermes.conversations.browser(session),
            **({"checkpoint": self._checkpoint} if self._checkpoint else {}),
            **({"handles": session.handles} if READER in tools.names else {}),
            **self._hermes.helpers(self._lent(tools)),
            **self._more,
        }

    def _eyes(self) -> Eyes:
        """Who sees images."""
        settings = self._settings
        other = settings.vision_model
        return Eyes(
            model=self._current_model,
            other=partial(self._hermes.chosen_model, other, settings) if other else None,
            spending=self._spending,
            hear=lambda called: self._count(
                called.model, called.usage, called.seconds, purpose="vision"
            ),
        )

    def _lent(self, tools: RegistryView) -> Lent:
        """What those get of it who work for it."""
        return Lent(
            session=self._session,
            settings=self._settings,
            tools=tools,
            emit=self.emit,
            count=self._count,
            refused=self._note_refusal,
            spending=self._spending,
            model=self._current_model,
            context={**self._more, "checkpoint": self._checkpoint},
            depth=self._depth,
        )

    def _current_model(self) -> Model:
        if self._agent_now is not None:
            return self._agent_now.asker.model
        return self._model or self._choose_model()

    def _choose_model(self) -> Model:
        """Whom to ask first."""
        return self._hermes.model(self._settings)

    def _note_refusal(self, event: ApprovalResolved) -> None:
        if not event.request.path:  # a child tells its own
            self._refusals.note(event)

    def _warn(self, text: str) -> None:
        self.emit(NoticeGiven(text=text, level="warning"))
