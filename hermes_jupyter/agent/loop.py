"""The agent loop: ask the model, run its calls, until it answers in text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hermes_jupyter.agent import batches
from hermes_jupyter.agent.asking import Asker, CeilingReached, Patience
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.checks import capped, check, without_twins
from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.eyes import has_eyes
from hermes_jupyter.agent.guardrails import Guardrails
from hermes_jupyter.agent.messages import (
    MAX_CALLS,
    assistant_message,
    unanswered,
    with_extras,
    with_own_ids,
)
from hermes_jupyter.agent.models.base import Message, Model, RawCall, Reply
from hermes_jupyter.agent.news import Inbox, News
from hermes_jupyter.agent.pictures import asked_with, forget_older, names_in
from hermes_jupyter.agent.reading import Reading
from hermes_jupyter.agent.said import Mailbox, Said
from hermes_jupyter.agent.second_look import SecondLook, looked_at
from hermes_jupyter.agent.spending import Spending
from hermes_jupyter.agent.tool_search.unwrapping import unwrapped
from hermes_jupyter.agent.tries import Tries
from hermes_jupyter.calls import ToolCall, ToolResult, TurnStatus
from hermes_jupyter.errors import HermesError, ModelError, TooLongError
from hermes_jupyter.events import (
    Event,
    NoticeGiven,
    StepFinished,
    StepStarted,
)
from hermes_jupyter.road.run import Road
from tools.images.picture import Picture
from tools.registry import tool_error

MAX_NUDGES = 2
SUM_UP = (
    "Your steps for this turn are used up. Use no tools. Say briefly what is done, what is "
    "not, and what you would do next."
)
NUDGE = "Your last reply was empty. Go on with the task, or answer the user."
THOUGHT_ONLY = (
    "Your last reply had thoughts and no answer. Think less, and go on with the task or answer "
    "the user."
)
FREE_TOOLS = frozenset({"execute_code"})
"""A step that calls only these is not counted: one script stands for many steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended."""

    text: str = ""
    status: TurnStatus = "done"
    reason: str = ""


@dataclass(kw_only=True)
class Agent:
    """Runs one turn. The transcript belongs to the session and stays valid at every moment.

    Parameters
    ----------
    model, fallbacks
        Who is asked, and whom to ask when that fails: see `Asker`.
    compact
        Makes the transcript shorter, in place, when a model says that it is too long; False if it
        cannot.
    """

    model: Model
    road: Road
    definitions: Sequence[dict[str, Any]]
    emit: Callable[[Event], None]
    budget: Budget
    transcript: list[Message]
    cwd: Callable[[], str | None]
    """The folder of the calls; None if it is on another machine."""
    inbox: Inbox | None = None
    """Where news of background jobs come from."""
    mailbox: Mailbox | None = None
    """Where the person says something while the turn runs."""
    fallbacks: Sequence[Callable[[], Model]] = ()
    spending: Spending = field(default_factory=Spending)
    patience: Patience = field(default_factory=Patience)
    compactor: Compactor | None = None
    """Makes the transcript shorter when it is too long; None: nobody does."""
    polish: Callable[[str], Awaitable[str]] | None = None
    """Makes something else of an answer before anybody keeps it."""
    is_kept: bool = False
    """Does the transcript hold the prompt, and what was done for it?"""
    _asked: Message = field(default_factory=dict)
    second_look: SecondLook | None = None
    """Looks at answers before they count; None: they are taken as they are."""
    _tries: Tries = field(default_factory=Tries)
    _guardrails: Guardrails = field(default_factory=Guardrails)

    @cached_property
    def asker(self) -> Asker:
        """Asks the models; it knows which of them is asked now."""
        return Asker(
            model=self.model,
            emit=lambda event: self.emit(event),
            fallbacks=self.fallbacks,
            spending=self.spending,
            patience=self.patience,
            compact=self._compact,
            step=lambda: self.budget.used,
        )

    async def run(self, prompt: str, pictures: Sequence[tuple[str, Picture]] = ()) -> Outcome:
        """Work on ``prompt`` until the model answers, the budget is spent or it must stop.

        Raises
        ------
        ModelError
            If the model cannot be reached. The transcript is as before the turn, or closed
            with a note if tools have run.
        asyncio.CancelledError
            When the person interrupts.
        """
        self._asked = asked_with(prompt, pictures)
        self.transcript.append(self._asked)
        self.is_kept = True
        try:
            return await self._steps()
        except BaseException as error:  # of whatever kind: the next turn needs the transcript
            self._close(error)
            raise

    async def _steps(self) -> Outcome:
        empty = 0
        tail: list[Message] = []
        while self.budget.take():
            try:
                reply = await self._reply(self.definitions, tail)
            except CeilingReached as ceiling:
                self.budget.refund()
                return await self._sum_up(str(ceiling))
            tail = []
            if reply.calls:
                empty = 0
                if enough := await self._run_calls(reply):
                    return self._stopped(enough)
                if hint := self._guardrails.hint():
                    tail = [{"role": "user", "content": hint}]
            elif reply.text.strip() or empty == MAX_NUDGES:
                outcome = self._answered(reply)
                if not (self._said.is_waiting and self.budget.left):
                    return outcome
                empty = 0  # the person has said something meanwhile
            else:
                empty += 1
                self.budget.refund()
                tail = [{"role": "user", "content": THOUGHT_ONLY if reply.reasoning else NUDGE}]
        return await self._sum_up(f"all {self.budget.total} steps are used")

    def _answered(self, reply: Reply) -> Outcome:
        self.transcript.append(with_extras({"role": "assistant", "content": reply.text}, reply))
        if not reply.text.strip():
            return self._stopped(f"the model gave an empty answer {MAX_NUDGES + 1} times")
        if reply.finish == "length":
            self._warn("the answer was cut at the longest length that it may have")
        elif reply.finish == "content_filter":
            self._warn("the answer was cut by a filter of the provider")
        return Outcome(text=reply.text)

    def _stopped(self, reason: str, text: str = "") -> Outcome:
        return Outcome(text=text, status="stopped", reason=reason)

    def _warn(self, text: str) -> None:
        self.emit(NoticeGiven(text=text, level="warning"))

    async def _sum_up(self, reason: str) -> Outcome:
        """The budget is spent: one call without tools says where things stand."""
        tail = [{"role": "user", "content": SUM_UP}]
        try:
            text = (await self._reply((), tail, is_last=True)).text
        except (CeilingReached, ModelError) as error:
            if isinstance(error, ModelError):
                self._warn(f"no summary: {error}")
            text = ""
        if text.strip():
            self.transcript.append({"role": "assistant", "content": text})
        else:
            self.transcript.append({"role": "assistant", "content": f"[The turn ended: {reason}]"})
        return self._stopped(reason, text)

    async def _run_calls(self, reply: Reply) -> str:
        """Run the calls of a step; say why the turn must end after it, if it must."""
        written = [self._check(raw) for raw in reply.calls]
        self.transcript.append(assistant_message(reply, written))
        meant = [unwrapped(call, self.road.tools, self._check) for call in written]
        calls = self._not_blind(capped(without_twins(meant), self.road.tools))
        done: list[ToolResult] = []
        while calls:
            # Planned batch by batch: a command may have changed the folder, or what a link means.
            batch = batches.next_batch(calls, self.road.tools, self.cwd())
            calls = calls[len(batch) :]
            told = [self.road.told(call) for call in batch]
            try:
                results = await batches.run_batch(told, self.road.run, self.emit)
            except batches.Interrupted as stop:
                self._record_now([*done, *stop.results, *batches.skipped(calls, self.emit)])
                raise asyncio.CancelledError from None
            done += results
        await self._record(done)
        if all(result.call.name in FREE_TOOLS for result in done):
            self.budget.refund()
        if self.second_look:
            self.second_look.note(done)
        return self._tries.note(done) or self._guardrails.note(done)

    def _check(self, raw: RawCall) -> ToolCall:
        tools = self.road.tools
        return check(
            raw,
            tools.names,
            withheld=tools.withheld,
            parameters=self._parameters,
            shown=[definition["function"]["name"] for definition in self.definitions],
        )

    @cached_property
    def _parameters(self) -> dict[str, Collection[str]]:
        """The names of each tool's parameters, also of tools that the model is not shown."""
        tools = self.road.tools.entries()
        found = {entry.name: entry.schema["parameters"].get("properties") for entry in tools}
        return {name: each.keys() if isinstance(each, dict) else () for name, each in found.items()}

    @cached_property
    def _news(self) -> News:
        return News(inbox=self.inbox, transcript=self.transcript, emit=self.emit)

    @cached_property
    def _said(self) -> Said:
        return Said(mailbox=self.mailbox, transcript=self.transcript)

    def _tell(self) -> None:
        """Put into the transcript what others than the model and its tools have said."""
        is_first = self.transcript[-1] is self._asked
        self._news.give()
        self._said.give()
        if is_first:  # what was added stands in the same message
            self._asked = self.transcript[-1]

    def _confirm(self) -> None:
        self._news.confirm()
        self._said.confirm()

    @cached_property
    def _reading(self) -> Reading:
        return Reading(
            tools=self.road.tools,
            window=lambda: self.asker.model.window,
            keeper=self.road.context.get("handles"),
            sees=lambda: has_eyes(self.asker.model),
            known_images=lambda: names_in(self.transcript),
        )

    async def _record(self, results: Sequence[ToolResult]) -> None:
        try:
            self.transcript.extend(await self._reading.messages(results))
            forget_older(self.transcript)
        except asyncio.CancelledError:  # they have run, so the model must hear of it
            self._record_now(results)
            raise

    def _record_now(self, results: Sequence[ToolResult]) -> None:
        self.transcript.extend(self._reading.messages_now(results))
        forget_older(self.transcript)

    async def _reply(
        self,
        tools: Sequence[dict[str, Any]],
        tail: Sequence[Message] = (),
        *,
        is_last: bool = False,
    ) -> Reply:
        """One step of the model: a whole answer, whatever it takes."""
        number = self.budget.used
        self._tell()
        if self.compactor and self.compactor.is_due(self.asker.model, tools):
            await self.compactor.compact(self.asker.model, tools)
        self.emit(StepStarted(number=number))
        try:
            reply = await self.asker.ask(self.transcript, tools, tail=tail, is_last=is_last)
            if self.second_look and tools:
                reply = await looked_at(reply, self.second_look, self._say, self._ask_again)
            if self.polish is not None and reply.text and not reply.calls:
                reply = self._polished(reply, await self.polish(reply.text))
        except asyncio.CancelledError:
            self._keep_partial(self.asker.partial)
            raise
        except HermesError:
            self._keep_partial(self.asker.partial)
            if not is_last:
                self.budget.refund()
            raise
        self._confirm()
        if self.compactor:
            self.compactor.learn(reply.usage, tools)
        if len(reply.calls) > MAX_CALLS:
            self._warn(f"the model made {len(reply.calls):,} calls at once; {MAX_CALLS} are kept")
        reply = with_own_ids(reply)
        self.emit(
            StepFinished(
                number=number, text=reply.text, usage=reply.usage, reasoning=reply.reasoning
            )
        )
        return reply

    def _polished(self, reply: Reply, text: str) -> Reply:
        if text == reply.text:
            return reply
        self.emit(StepStarted(number=self.budget.used))  # views take back what they show of it
        return replace(reply, text=text)

    def _not_blind(self, calls: list[ToolCall]) -> list[ToolCall]:
        """The calls, with a word on those that must not run yet."""
        if (look := self.second_look) is None:
            return calls
        found = [call.error or look.refusal(call, self.cwd()) for call in calls]
        return [replace(call, error=error) for call, error in zip(calls, found, strict=True)]

    def _say(self, text: str) -> None:
        self.emit(NoticeGiven(text=text))

    async def _ask_again(self, more: Sequence[Message]) -> Reply:
        """Ask about an answer that does not count; views take back what they show of it."""
        self.emit(StepStarted(number=self.budget.used))
        return await self.asker.ask(self.transcript, self.definitions, tail=more)

    async def _compact(self, error: ModelError) -> bool:
        """The server has said that the conversation is too long."""
        if self.compactor is None:
            return False
        window = error.window if isinstance(error, TooLongError) else 0
        return await self.compactor.compact(self.asker.model, self.definitions, window=window)

    def _keep_partial(self, text: str) -> None:
        if text.strip():
            self.transcript.append({"role": "assistant", "content": f"{text}\n\n[interrupted]"})

    def _close(self, error: BaseException) -> None:
        """Leave a transcript that the next turn can go on from."""
        if self.transcript[-1] is self._asked:  # nothing happened: as if it had not been asked
            del self.transcript[-1]
            self.is_kept = False
            return
        self._confirm()
        stopped = isinstance(error, asyncio.CancelledError)
        why = "interrupted by the user" if stopped else str(error) or type(error).__name__
        for call in unanswered(self.transcript):
            text = tool_error(f"The turn ended before this call had a result: {why}")
            self.transcript.append({"role": "tool", "tool_call_id": call, "content": text})
        if self.transcript[-1]["role"] != "assistant":
            self.transcript.append({"role": "assistant", "content": f"[The turn ended: {why}]"})
