"""The agent loop: ask the model, run its calls, until it answers in text."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hermes_jupyter.agent import batches
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.checks import capped, check, without_twins
from hermes_jupyter.agent.models.base import Delta, Message, Model, RawCall, Reply
from hermes_jupyter.agent.reading import Reading
from hermes_jupyter.agent.repair import is_exact
from hermes_jupyter.agent.tool_search.unwrapping import unwrapped
from hermes_jupyter.agent.tries import Tries
from hermes_jupyter.calls import ToolCall, ToolResult, TurnStatus
from hermes_jupyter.errors import ModelError
from hermes_jupyter.events import (
    Event,
    NoticeGiven,
    ReasoningStreamed,
    StepFinished,
    StepStarted,
    TextStreamed,
)
from hermes_jupyter.road.run import Road
from tools.registry import tool_error

MAX_TRIES = 3
MAX_WAIT_SECONDS = 60.0
MAX_NAME_CHARS = 64
MAX_CALLS = 128
"""In one step. A reply with more is a model in a loop; the rest is dropped."""
SUM_UP = (
    "Your steps for this turn are used up. Use no tools. Say briefly what is done, what is "
    "not, and what you would do next."
)
NUDGE = "Your last reply was empty. Go on with the task, or answer the user."


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended."""

    text: str = ""
    status: TurnStatus = "done"
    reason: str = ""


@dataclass(kw_only=True)
class Agent:
    """Runs one turn. The transcript belongs to the session and stays valid at every moment."""

    model: Model
    road: Road
    definitions: Sequence[dict[str, Any]]
    emit: Callable[[Event], None]
    budget: Budget
    transcript: list[Message]
    cwd: Callable[[], str]
    _tries: Tries = field(default_factory=Tries)

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
        start = len(self.transcript)
        self.transcript.append({"role": "user", "content": prompt})
        try:
            return await self._steps()
        except BaseException as error:  # of whatever kind: the next turn needs the transcript
            self._close(start, error)
            raise

    async def _steps(self) -> Outcome:
        nudged = False
        while self.budget.take():
            reply = await self._reply(self.definitions)
            if reply.calls:
                if enough := await self._run_calls(reply):
                    return self._stopped(enough)
            elif reply.text.strip() or nudged:
                return self._answered(reply)
            else:
                nudged = True
                self.transcript.append({"role": "assistant", "content": ""})
                self.transcript.append({"role": "user", "content": NUDGE})
        return await self._sum_up()

    def _answered(self, reply: Reply) -> Outcome:
        self.transcript.append({"role": "assistant", "content": reply.text})
        if reply.finish == "length":
            self.emit(
                NoticeGiven(text="the answer was cut at the model's own limit", level="warning")
            )
        if not reply.text.strip():
            return self._stopped("the model gave an empty answer twice")
        return Outcome(text=reply.text)

    def _stopped(self, reason: str, text: str = "") -> Outcome:
        return Outcome(text=text, status="stopped", reason=reason)

    async def _sum_up(self) -> Outcome:
        """The budget is spent: one call without tools says where things stand."""
        self.transcript.append({"role": "user", "content": SUM_UP})
        reply = await self._reply(())
        self.transcript.append({"role": "assistant", "content": reply.text})
        return self._stopped(f"all {self.budget.total} steps are used", reply.text)

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
        return self._tries.note(done)

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
    def _reading(self) -> Reading:
        return Reading(
            tools=self.road.tools,
            window=lambda: self.model.window,
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

    async def _reply(self, tools: Sequence[dict[str, Any]]) -> Reply:
        """One model call, tried again while that can help and nothing was shown yet."""
        self.emit(StepStarted(number=self.budget.used))
        for attempt in range(1, MAX_TRIES + 1):
            stream = _Stream(self.emit)
            try:
                reply = await self.model.reply(self.transcript, tools, stream)
            except ModelError as error:
                if not error.retryable or stream.text or attempt == MAX_TRIES:
                    raise
                await self._wait(error, attempt)
            except asyncio.CancelledError:
                self._keep_partial(stream.text)
                raise
            else:
                stream.end()
                break
        if len(reply.calls) > MAX_CALLS:
            dropped = f"the model made {len(reply.calls):,} calls at once; {MAX_CALLS} are kept"
            self.emit(NoticeGiven(text=dropped, level="warning"))
        reply = _with_own_ids(reply)
        self.emit(StepFinished(number=self.budget.used, text=reply.text, usage=reply.usage))
        return reply

    async def _wait(self, error: ModelError, attempt: int) -> None:
        backoff = random.uniform(0.5, 1.0) * 2**attempt
        asked = error.retry_after
        seconds = min(backoff if asked is None else asked, MAX_WAIT_SECONDS)
        self.emit(NoticeGiven(text=f"{error}; trying again in {seconds:.0f} s", key="retry"))
        await asyncio.sleep(seconds)

    def _keep_partial(self, text: str) -> None:
        if text:
            self.transcript.append({"role": "assistant", "content": f"{text}\n\n[interrupted]"})

    def _close(self, start: int, error: BaseException) -> None:
        """Leave a transcript that the next turn can go on from."""
        if len(self.transcript) == start + 1:  # nothing happened: as if it had not been asked
            del self.transcript[start:]
            return
        stopped = isinstance(error, asyncio.CancelledError)
        why = "interrupted by the user" if stopped else str(error) or type(error).__name__
        for call in _unanswered(self.transcript):
            text = tool_error(f"The turn ended before this call had a result: {why}")
            self.transcript.append({"role": "tool", "tool_call_id": call, "content": text})
        if self.transcript[-1]["role"] != "assistant":
            self.transcript.append({"role": "assistant", "content": f"[The turn ended: {why}]"})


class _Stream:
    """Turns the pieces of a reply into events."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._pieces: list[str] = []
        self._noticed = False

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def __call__(self, delta: Delta) -> None:
        match delta.kind:
            case "text":
                self._pieces.append(delta.text)
                self._emit(TextStreamed(text=delta.text))
            case "reasoning":
                self._emit(ReasoningStreamed(text=delta.text))
            case "notice":
                self._noticed = bool(delta.text)
                self._emit(NoticeGiven(text=delta.text, key="model"))

    def end(self) -> None:
        """Take back a notice about waiting: there is nothing to wait for any more."""
        if self._noticed:
            self._emit(NoticeGiven(text="", key="model"))


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
    return {"role": "assistant", "content": reply.text or None, "tool_calls": calls}


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
