"""One turn: wires the agent for it, and tells how it went."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.asking import Patience
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.judge import ModelJudge
from hermes_jupyter.agent.loop import Agent, Outcome
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.models.choice import DEMONSTRATION, is_local
from hermes_jupyter.agent.prompt import system_prompt
from hermes_jupyter.agent.spending import Ceilings, Spending
from hermes_jupyter.agent.tool_search.arrangement import Arrangement
from hermes_jupyter.agent.tool_search.deferral import Limits
from hermes_jupyter.agent.usage_log import CallRecord
from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import HermesError, TurnError
from hermes_jupyter.events import (
    ApprovalResolved,
    Event,
    Listener,
    ModelCalled,
    NoticeGiven,
    StepFinished,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.kernel.own_loop import LOSES_CELLS, loses_cells
from hermes_jupyter.knowledge import knowledge_for
from hermes_jupyter.protection import containment_of, scanner_of
from hermes_jupyter.redaction import KNOWN, redact
from hermes_jupyter.road.checks import Checks
from hermes_jupyter.road.pages import READER
from hermes_jupyter.road.run import Road
from hermes_jupyter.session import Session
from hermes_jupyter.taking_up import for_model, for_person
from hermes_jupyter.text import mended
from hermes_jupyter.turn_values import TurnOptions, TurnResult, policy_of
from tools.async_bridge import in_tool_thread
from tools.environments.host import HostError
from tools.files.workspace import place_of
from tools.safety.scanner import Finding, is_wanted
from tools.toolsets import absent
from tools.view import RegistryView

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes

logger = logging.getLogger(__name__)

__all__ = ["Turn", "TurnOptions", "TurnResult", "policy_of"]

PLAN_FIRST = (
    "[This turn is for planning. Nothing that changes anything will run: look at what you need "
    "with tools that only read, then tell the user your plan, step by step.]"
)
MAX_REFUSED = 20
MAX_REFUSED_CHARS = 120


class Turn:
    """One turn: makes the agent, tells how it went."""

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
        self._options = options
        self._more = context
        # The store first: what anyone shows is on disk.
        self._listeners = [session.journal.hear, *listeners, session.audit.listener(self._warn)]
        self._warnings: list[str] = []
        session.journal.warn = self._warnings.append
        self._said = ""
        self._refused: list[str] = []
        self._id = secrets.token_hex(6)
        self._budget = Budget(settings.max_steps)
        self._spending = Spending(
            Ceilings(max_tokens=settings.max_tokens, max_cost=settings.max_cost)
        )
        self._agent_now: Agent | None = None
        self._began = time.monotonic()
        self._usage = Usage()
        self._model: Model | None = None

    def emit(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            self._said = event.text
        elif isinstance(event, ModelCalled):
            self._count(event.model, event.usage, event.seconds)
        elif isinstance(event, ApprovalResolved):
            self._note_refusal(event)
        elif isinstance(event, ToolCallFinished) and event.result.args is not None:
            self._hermes.tool_usage.note(event.result.call.name)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # a view that fails must not end the turn
                logger.exception("a listener failed on %s", type(event).__name__)
        while self._warnings:
            self._warn(self._warnings.pop(0))

    async def run(self, prompt: str) -> TurnResult:
        prompt = mended(prompt)
        keys = {f"KEY_{n}": each.api_key for n, each in enumerate(self._settings.fallback_models)}
        KNOWN.refresh({"API_KEY": self._settings.api_key, **keys})
        try:
            with self._session.desk.turn(self.emit):
                outcome = await self.work(prompt)
        except asyncio.CancelledError:
            self._finish(Outcome(status="interrupted"))
            raise
        except HermesError as error:
            self._finish(Outcome(status="failed", reason=str(error)))
            raise
        except BaseException as error:
            self._finish(Outcome(status="failed", reason=f"{type(error).__name__}: {error}"))
            raise
        return self._finish(outcome)

    async def work(self, prompt: str) -> Outcome:
        """What is done between the start of the turn and its end."""
        self._model = model = self._hermes.model(self._settings)
        await self._reach_terminal()
        self._announce(prompt, model.name)
        self._session.transcript.save()
        arranged = await self._arranged(model)
        await self._begin_conversation(model, arranged)
        self._agent_now = agent = self._agent(model, arranged)
        planning = self._settings.approvals == "plan"
        asked = f"{prompt}\n\n{PLAN_FIRST}" if planning else prompt
        return await agent.run(self._taken_up() + asked)

    def _taken_up(self) -> str:
        """What the model must know when it goes on in another kernel; the person hears of it."""
        taken_up = self._session.taken_up()
        if taken_up is None or not taken_up.about.messages:
            return ""
        self.emit(NoticeGiven(text=for_person(taken_up)))
        return for_model(self._session.environment.cwd)

    async def _reach_terminal(self) -> None:
        """Find out now whether there is one, and in which folder it stands."""
        try:
            await in_tool_thread(lambda: self._session.environment.cwd)
        except HostError as problem:
            raise TurnError(
                f"the terminal cannot be used: {problem}. %hermes terminal shows others"
            ) from problem

    def started(self, prompt: str, model: str, steps: int) -> TurnStarted:
        """The event of its start."""
        name = self._session.name
        return TurnStarted(
            session=name,
            turn=self._id,
            prompt=prompt,
            model=model,
            steps=steps,
            approvals=self._settings.approvals,
            session_id=self._session.id,
            max_tokens=self._settings.max_tokens,
            max_cost=self._settings.max_cost,
        )

    def _announce(self, prompt: str, model: str) -> None:
        self.emit(self.started(prompt, model, self._budget.total))
        for notice in self._hermes.conversations.take_notices():
            self._warn(notice)
        for notice in self._settings.notices:
            if self._hermes.tell_once(notice):
                self._warn(notice)
        if is_local(self._settings.model, self._settings) and self._hermes.tell_once("local"):
            self.emit(NoticeGiven(text=DEMONSTRATION, key="demonstration"))
        if loses_cells() and self._hermes.tell_once("nest_asyncio"):
            self.emit(NoticeGiven(text=LOSES_CELLS, level="warning"))

    async def _tools(self) -> RegistryView:
        """What the agent may call: it stays so until the turn ends, whatever others register."""
        hermes, session = self._hermes, self._session
        if self._options.no_tools:
            return hermes.catalog(session).restrict(allow=())
        tools = await in_tool_thread(lambda: hermes.usable(self._settings, session))
        missing = ", ".join(absent(self._settings.toolsets, hermes.catalog(session)))
        if missing and hermes.tell_once(f"no tools of {missing}"):
            self.emit(NoticeGiven(text=f"there are no tools here for {missing}", level="warning"))
        return tools

    async def _arranged(self, model: Model) -> Arrangement:
        """Which of the tools the model is shown; the others it can search."""
        tools, usage = await self._tools(), self._hermes.tool_usage
        limits = Limits(
            window=model.window,
            share=self._settings.tool_search_share,
            tool_limit=self._settings.tool_limit,
        )
        arrange = self._session.tool_search.arrange
        return await in_tool_thread(lambda: arrange(tools, limits, usage.counts))

    async def _begin_conversation(self, model: Model, arranged: Arrangement) -> None:
        """Say what holds for all of it. It stays, to the byte, so that a server's cache hits."""
        session, settings = self._session, self._settings
        if session.transcript:
            return
        knowledge, left_out = await in_tool_thread(
            lambda: knowledge_for(session, settings, model.name, model.window)
        )
        for said in left_out:
            self._warn(said)
        content = system_prompt(arranged.tools.names, session.environment.cwd, knowledge)
        session.transcript.append({"role": "system", "content": content})

    def _agent(self, model: Model, arranged: Arrangement) -> Agent:
        session, environment = self._session, self._session.environment
        return Agent(
            model=model,
            road=self.road(arranged.tools),
            definitions=arranged.definitions,
            emit=self.emit,
            budget=self._budget,
            transcript=session.transcript,
            cwd=lambda: None if place_of(environment).name else environment.cwd,
            inbox=session.job_events,
            compactor=self._hermes.compactor(session, self._settings, self.emit, self._noted),
            fallbacks=self._hermes.fallbacks(self._settings),
            spending=self._spending,
            patience=Patience(tries=self._settings.max_tries),
        )

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
            checks=self._checks(),
            purpose=lambda: self._said,
        )

    def _checks(self) -> Checks:
        """Who looks at the calls beside the tools' own guards."""
        scanner, choice = self._session.scanner, scanner_of(self._settings)
        loop = asyncio.get_running_loop()

        def warn(text: str) -> None:
            with suppress(RuntimeError):  # the turn and its loop may be gone
                loop.call_soon_threadsafe(self._warn, text)

        def scan(command: str, cwd: str) -> Finding | None:
            return scanner.scan(command, cwd, choice, warn)

        return Checks(hooks=self._hermes.hooks, scan=scan if is_wanted(choice) else None)

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
            "secrets": session.secrets,
            "workspace": session.project,
            "conversations": self._hermes.conversations.browser(session),
            **({"handles": session.handles} if READER in tools.names else {}),
            **self._more,
        }

    def _finish(self, outcome: Outcome) -> TurnResult:
        seconds = time.monotonic() - self._began
        self._session.usage += self._usage
        self._tell_refusals()
        self._hermes.tool_usage.save_soon()
        self.emit(
            TurnFinished(
                status=outcome.status,
                text=outcome.text,
                reason=outcome.reason,
                model=self._model_name,
                steps=self._budget.used,
                seconds=seconds,
                usage=self._usage,
            )
        )
        self._hermes.conversations.stored.tidy_soon()
        return TurnResult(
            text=outcome.text,
            status=outcome.status,
            reason=outcome.reason,
            session=self._session.name,
            turn=self._id,
            steps=self._budget.used,
            seconds=seconds,
            usage=self._usage,
            refused=tuple(self._refused),
        )

    def _note_refusal(self, event: ApprovalResolved) -> None:
        if event.decision == "deny" and event.by in ("policy", "mode"):
            shown = " ".join(event.request.shown.split())
            self._refused.append(f"{event.request.call.name}: {redact(shown)}")

    def _tell_refusals(self) -> None:
        """The list at the end of the output: who starts a run alone reads nothing else."""
        if not self._refused:
            return
        named = [_cut(line) for line in self._refused[:MAX_REFUSED]]
        more = len(self._refused) - len(named)
        text = "; ".join([*named, *([f"{more} more"] if more else [])])
        self.emit(NoticeGiven(text=f"{self._why_refused()}: {text}", level="warning"))

    def _why_refused(self) -> str:
        mode = self._settings.approvals
        if mode in ("deny", "plan"):
            return f"not run, as approvals are set to {mode}"
        return "not run, as nobody could be asked"

    def _warn(self, text: str) -> None:
        self.emit(NoticeGiven(text=text, level="warning"))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REFUSED_CHARS else f"{text[: MAX_REFUSED_CHARS - 1]}…"
