"""The agent loop: ask the model, run its calls, until it answers in text."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.agent import batches
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.checks import checked, parse_arguments
from hermes_jupyter.agent.models.base import Delta, Message, Model, Reply
from hermes_jupyter.calls import ToolResult, TurnStatus
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
MAX_INVALID_STEPS = 3
MAX_CALLS = 128
"""In one step. A reply with more is a model in a loop; the rest is dropped."""
SUM_UP = (
    "Your steps for this turn are used up. Use no tools. Say briefly what is done, what is "
    "not, and what you would do next."
)
NUDGE = "Your last reply was empty. Go on with the task, or answer the user."


@dataclass(slots=True, kw_only=True)
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
    _invalid_steps: int = 0

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
                await self._run_calls(reply)
                if self._invalid_steps >= MAX_INVALID_STEPS:
                    return self._stopped(
                        f"the model asked {MAX_INVALID_STEPS} times in a row for calls that "
                        "cannot run"
                    )
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

    async def _run_calls(self, reply: Reply) -> None:
        calls = checked(reply.calls, self.road.names)
        self._invalid_steps = self._invalid_steps + 1 if all(c.error for c in calls) else 0
        self.transcript.append(_assistant(reply))
        waiting = batches.plan(calls, self.road.registry, self.cwd())
        while waiting:
            try:
                results = await batches.run_batch(waiting.pop(0), self.road.run, self.emit)
            except batches.Interrupted as stop:
                rest = [batches.interrupted(call) for batch in waiting for call in batch]
                self._record([*stop.results, *rest])
                raise asyncio.CancelledError from None
            self._record(results)

    def _record(self, results: Sequence[ToolResult]) -> None:
        self.transcript.extend(
            {"role": "tool", "tool_call_id": result.call.id, "content": result.text}
            for result in results
        )

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
                self._emit(NoticeGiven(text=delta.text, key="model"))


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


def _assistant(reply: Reply) -> Message:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _readable(call.arguments)},
        }
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text or None, "tool_calls": calls}


def _readable(arguments: str) -> str:
    """Servers refuse a transcript whose arguments are no JSON, so a broken text is quoted."""
    try:
        parse_arguments(arguments)
    except ValueError:
        return json.dumps({"unreadable_arguments": arguments[:1_000]}, ensure_ascii=False)
    return arguments.strip() or "{}"
