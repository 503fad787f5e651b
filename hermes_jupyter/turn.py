"""One turn: wires the agent for it, and tells how it went."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_jupyter.agent.asking import Patience
from hermes_jupyter.agent.eyes import has_eyes
from hermes_jupyter.agent.loop import Agent, Outcome
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.models.choice import DEMONSTRATION, is_local
from hermes_jupyter.agent.models.local.constrained import short
from hermes_jupyter.agent.prompt import compact_prompt, system_prompt
from hermes_jupyter.agent.second_look import SecondLook
from hermes_jupyter.agent.tool_search.arrangement import Arrangement
from hermes_jupyter.agent.tool_search.deferral import Limits
from hermes_jupyter.calls import TurnStatus
from hermes_jupyter.equipment import Equipment
from hermes_jupyter.errors import HermesError, TurnError
from hermes_jupyter.events import (
    MessageSaid,
    NoticeGiven,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.kernel.own_loop import LOSES_CELLS, loses_cells
from hermes_jupyter.knowledge import knowledge_for
from hermes_jupyter.notebook.told_cells import READS_CELLS
from hermes_jupyter.redaction import KNOWN
from hermes_jupyter.taking_up import for_model, for_person
from hermes_jupyter.text import mended
from hermes_jupyter.turn_values import TurnOptions, TurnResult, policy_of
from tools.async_bridge import in_tool_thread
from tools.environments.host import HostError
from tools.files.workspace import place_of
from tools.toolsets import absent
from tools.view import RegistryView

if TYPE_CHECKING:
    pass

__all__ = ["Turn", "TurnOptions", "TurnResult", "policy_of"]

PLAN_FIRST = (
    "[This turn is for planning. Nothing that changes anything will run: look at what you need "
    "with tools that only read, then tell the user your plan, step by step.]"
)
UNREAD = (
    "what you said last was not read any more: it comes with your next prompt, or %hermes continue "
    "sends it now"
)


class Turn(Equipment):
    """One turn: makes the agent, tells how it went."""

    async def run(self, prompt: str) -> TurnResult:
        self._prompt = prompt = mended(prompt)
        keys = {f"KEY_{n}": each.api_key for n, each in enumerate(self._settings.fallback_models)}
        KNOWN.refresh({"API_KEY": self._settings.api_key, **keys})
        try:
            with self._session.desk.turn(self.emit):
                if "checkpoint" not in self._more:
                    self._checkpoint = self._hermes.checkpoint(
                        self._session, self._id, prompt, self._delivery.warn
                    )
                outcome = await self.work(prompt)
        except asyncio.CancelledError:
            await self._finish(Outcome(status="interrupted"))
            raise
        except HermesError as error:
            await self._finish(Outcome(status="failed", reason=str(error)))
            await self._hermes.hooks.settle()
            raise
        except BaseException as error:
            await self._finish(Outcome(status="failed", reason=f"{type(error).__name__}: {error}"))
            raise
        result = await self._finish(outcome)
        await self._hermes.hooks.settle()
        return result

    async def work(self, prompt: str) -> Outcome:
        """What is done between the start of the turn and its end."""
        self._model = model = self._choose_model()
        await self._reach_terminal()
        self._announce(prompt, model.name)
        self._session.transcript.save()
        arranged = await self._arranged(model)
        self._offered = tuple(sorted(arranged.tools.names))
        is_first = not self._session.transcript
        await self._begin_conversation(model, arranged)
        self._agent_now = agent = self._agent(model, arranged, prompt)
        planning = self._settings.approvals == "plan"
        asked = f"{prompt}\n\n{PLAN_FIRST}" if planning else prompt
        history = self._session.transcript
        taken_up = self._taken_up()
        if is_first or taken_up:
            self._hooks.begin(resumed=bool(taken_up))
        asked += await self._hooks.context(prompt, history, is_first=is_first)
        for said in self._session.mailbox.pending():
            self.emit(MessageSaid(text=said))
        cells, images = await self._cells.told(model.window, sees=has_eyes(model))
        for _, picture in images:
            self._session.album.add(picture)
        if cells and self._hermes.tell_once("cells above"):
            self.emit(NoticeGiven(text=READS_CELLS))
        with self._session.mailbox.read_by_turn(self._delivery.shower()):
            outcome = await agent.run(taken_up + cells + asked, images)
        self._cells.were_read()
        self._hooks.answered(prompt, outcome.text, history)
        return outcome

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
            line=self._options.line,
            cell=self._options.place.cell,
            after=self._session.turns[-1] if self._session.turns else "",
            at=time.monotonic(),
            asked_sha256=self._options.asked_sha256,
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
        if session.transcript and session.transcript[0]["role"] == "system":
            return
        knowledge, left_out = await in_tool_thread(
            lambda: knowledge_for(session, settings, model.name, model.window)
        )
        for said in left_out:
            self._warn(said)
        cwd = session.environment.cwd
        content = (
            compact_prompt(cwd, knowledge)
            if self._profile.compact
            else system_prompt(arranged.tools.names, cwd, knowledge)
        )
        session.transcript.insert(0, {"role": "system", "content": content})

    def _agent(self, model: Model, arranged: Arrangement, prompt: str) -> Agent:
        session, environment = self._session, self._session.environment
        definitions = arranged.definitions
        return Agent(
            model=model,
            road=self.road(arranged.tools),
            definitions=short(definitions) if self._profile.compact else definitions,
            second_look=self._second_look(prompt),
            emit=self.emit,
            budget=self._budget,
            transcript=session.transcript,
            cwd=lambda: None if place_of(environment).name else environment.cwd,
            inbox=session.job_events,
            mailbox=session.mailbox,
            polish=self._hooks.polished,
            compactor=self._hermes.compactor(session, self._settings, self.emit, self._noted),
            fallbacks=self._hermes.fallbacks(self._settings),
            spending=self._spending,
            patience=Patience(tries=self._settings.max_tries),
        )

    def _second_look(self, prompt: str) -> SecondLook | None:
        """Who compares the model's answers with what tools said; a plan is nothing that is done."""
        wanted = self._profile.second_look and self._settings.approvals != "plan"
        return SecondLook(prompt) if wanted else None

    async def _changed(self, status: TurnStatus) -> Mapping[str, int]:
        """What the turn has changed that can be taken back; its checkpoint ends."""
        checkpoint = None if "checkpoint" in self._more else self._checkpoint
        return await checkpoint.end(status) if checkpoint else {}

    async def _finish(self, outcome: Outcome) -> TurnResult:
        changed = await self._changed(outcome.status)
        seconds = time.monotonic() - self._began
        self._session.usage += self._usage
        if refused := self._refusals.told(self._settings.approvals):
            self._warn(refused)
        self.note_end(outcome)
        self._hermes.tool_usage.save_soon()
        finished = TurnFinished(
            status=outcome.status,
            text=outcome.text,
            reason=outcome.reason,
            model=self._model_name,
            steps=self._budget.used,
            seconds=seconds,
            usage=self._usage,
            refused=self._refusals.lines,
            changed=changed,
            tools=self._offered,
        )
        self.emit(finished)
        self._hermes.conversations.stored.tidy_soon()
        return TurnResult.of(finished, session=self._session.name, turn=self._id)

    def note_end(self, outcome: Outcome) -> None:
        """Keep what the next turn may go on with."""
        agent = self._agent_now
        is_kept = agent is not None and agent.is_kept
        self._session.note_end(self._prompt, is_kept=is_kept, is_done=outcome.status == "done")
        if self._session.mailbox.pending():
            self._warn(UNREAD)
