"""The agent loop: ask the model, run its calls, until it answers in text."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hermes_jupyter.agent import batches
from hermes_jupyter.agent.asking import Asker, CeilingReached, Patience
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.checks import capped, check, without_twins
from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.guardrails import Guardrails
from hermes_jupyter.agent.models.base import Message, Model, RawCall, Reply
from hermes_jupyter.agent.news import Inbox, News
from hermes_jupyter.agent.reading import Reading
from hermes_jupyter.agent.repair import is_exact
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
from tools.registry import tool_error

MAX_NUDGES = 2
MAX_NAME_CHARS = 64
MAX_CALLS = 128
"""In one step. A reply with more is a model in a loop; the rest is dropped."""
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
    fallbacks: Sequence[Callable[[], Model]] = ()
    spending: Spending = field(default_factory=Spending)
    patience: Patience = field(default_factory=Patience)
    compactor: Compactor | None = None
    """Makes the transcript shorter when it is too long; None: nobody does."""
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

    async def run(self, prompt: str) -> Outcome:
        """Work on ``prompt`` until the model answers, the budget is spent or it must stop.

        Raises
        ------
        ModelError
            If the model cannot be reached. The transcript is as before the turn, or closed
            with a note if tools have run.
        asyncio.CancelledError
            When the person interrupts.
        """
        asked = {"role": "user", "content": prompt}
        self.transcript.append(asked)
        try:
            return await self._steps()
        except BaseException as error:  # of whatever kind: the next turn needs the transcript
            self._close(asked, error)
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
                return self._answered(reply)
            else:
                empty += 1
                self.budget.refund()
                tail = [{"role": "user", "content": THOUGHT_ONLY if reply.reasoning else NUDGE}]
        return await self._sum_up(f"all {self.budget.total} steps are used")

    def _answered(self, reply: Reply) -> Outcome:
        self.transcript.append(_with_extras({"role": "assistant", "content": reply.text}, reply))
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
        self.transcript.append(_assistant(reply, written))
        meant = [unwrapped(call, self.road.tools, self._check) for call in written]
        calls = capped(without_twins(meant), self.road.tools)
        done: list[ToolResult] = []
        while calls:
            # Planned batch by batch: a command may have changed the folder, or what a link means.
            batch = batches.next_batch(calls, self.road.tools, self.cwd())
            calls = calls[len(batch) :]
            try:
                results = await batches.run_batch(batch, self.road.run, self.emit)
            except batches.Interrupted as stop:
                self._record_now([*done, *stop.results, *map(batches.interrupted, calls)])
                raise asyncio.CancelledError from None
            done += results
        await self._record(done)
        if all(result.call.name in FREE_TOOLS for result in done):
            self.budget.refund()
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
    def _reading(self) -> Reading:
        return Reading(
            tools=self.road.tools,
            window=lambda: self.asker.model.window,
            keeper=self.road.context.get("handles"),
        )

    async def _record(self, results: Sequence[ToolResult]) -> None:
        try:
            self.transcript.extend(await self._reading.messages(results))
        except asyncio.CancelledError:  # they have run, so the model must hear of it
            self._record_now(results)
            raise

    def _record_now(self, results: Sequence[ToolResult]) -> None:
        self.transcript.extend(self._reading.messages_now(results))

    async def _reply(
        self,
        tools: Sequence[dict[str, Any]],
        tail: Sequence[Message] = (),
        *,
        is_last: bool = False,
    ) -> Reply:
        """One step of the model: a whole answer, whatever it takes."""
        number = self.budget.used
        self._news.give()
        if self.compactor and self.compactor.is_due(self.asker.model, tools):
            await self.compactor.compact(self.asker.model, tools)
        self.emit(StepStarted(number=number))
        try:
            reply = await self.asker.ask(self.transcript, tools, tail=tail, is_last=is_last)
        except asyncio.CancelledError:
            self._keep_partial(self.asker.partial)
            raise
        except HermesError:
            self._keep_partial(self.asker.partial)
            if not is_last:
                self.budget.refund()
            raise
        self._news.confirm()
        if self.compactor:
            self.compactor.learn(reply.usage, tools)
        if len(reply.calls) > MAX_CALLS:
            self._warn(f"the model made {len(reply.calls):,} calls at once; {MAX_CALLS} are kept")
        reply = _with_own_ids(reply)
        self.emit(
            StepFinished(
                number=number, text=reply.text, usage=reply.usage, reasoning=reply.reasoning
            )
        )
        return reply

    async def _compact(self, error: ModelError) -> bool:
        """The server has said that the conversation is too long."""
        if self.compactor is None:
            return False
        window = error.window if isinstance(error, TooLongError) else 0
        return await self.compactor.compact(self.asker.model, self.definitions, window=window)

    def _keep_partial(self, text: str) -> None:
        if text.strip():
            self.transcript.append({"role": "assistant", "content": f"{text}\n\n[interrupted]"})

    def _close(self, asked: Message, error: BaseException) -> None:
        """Leave a transcript that the next turn can go on from."""
        if self.transcript[-1] is asked:  # nothing happened: as if it had not been asked
            del self.transcript[-1]
            return
        self._news.confirm()
        stopped = isinstance(error, asyncio.CancelledError)
        why = "interrupted by the user" if stopped else str(error) or type(error).__name__
        for call in _unanswered(self.transcript):
            text = tool_error(f"The turn ended before this call had a result: {why}")
            self.transcript.append({"role": "tool", "tool_call_id": call, "content": text})
        if self.transcript[-1]["role"] != "assistant":
            self.transcript.append({"role": "assistant", "content": f"[The turn ended: {why}]"})


def _with_own_ids(reply: Reply) -> Reply:
    """Two calls with one id could not be told apart: number the later ones."""
    seen: set[str] = set()
    calls = []
    for call in reply.calls[:MAX_CALLS]:
        names = (f"{call.id or 'call'}_{number}" for number in itertools.count(len(seen)))
        name = call.id
        while not name or name in seen:
            name = next(names)
        seen.add(name)
        calls.append(replace(call, id=name))
    return replace(reply, calls=tuple(calls))


def _unanswered(transcript: Sequence[Message]) -> list[str]:
    """Ids of the last message's calls that have no result."""
    answered: set[str] = set()
    for message in reversed(transcript):
        if message["role"] != "tool":
            ids = [str(call["id"]) for call in message.get("tool_calls") or ()]
            return [call for call in ids if call not in answered]
        answered.add(message["tool_call_id"])
    return []


def _assistant(reply: Reply, checked_calls: Sequence[ToolCall]) -> Message:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": _sendable(call.name), "arguments": _readable(raw, call)},
        }
        for raw, call in zip(reply.calls, checked_calls, strict=True)
    ]
    return _with_extras(
        {"role": "assistant", "content": reply.text or None, "tool_calls": calls}, reply
    )


def _with_extras(message: Message, reply: Reply) -> Message:
    """The message with what its model wants to get back."""
    return {**message, "extras": dict(reply.extras)} if reply.extras else message


def _sendable(name: str) -> str:
    """Servers refuse a transcript with other signs in a tool's name."""
    return re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:MAX_NAME_CHARS] or "unknown"


def _readable(raw: RawCall, call: ToolCall) -> str:
    """Servers refuse arguments that are no JSON object: send mended ones, or quote the text."""
    if is_exact(raw.arguments):
        return raw.arguments.strip()
    if call.error and not call.args and raw.arguments.strip():
        broken = {"unreadable_arguments": raw.arguments[:1_000]}
        return json.dumps(broken, ensure_ascii=False)
    return json.dumps(dict(call.args), ensure_ascii=False)
