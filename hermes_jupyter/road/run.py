"""Run one tool call: coerce, guard, run, shape. Every caller uses this road."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.calls import (
    ApprovalRequest,
    CallStatus,
    Question,
    ToolCall,
    ToolResult,
    digest_of,
)
from hermes_jupyter.events import ApprovalResolved, Event, ToolCallStarted, ToolOutputStreamed
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.coercion import coerce, problems
from hermes_jupyter.road.guard import objection_of
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.results import exit_code_of, shape, status_of
from tools.async_bridge import in_tool_thread
from tools.files.workspace import folder_of
from tools.registry import ToolEntry, ToolRegistry, tool_error
from tools.safety import Objection

logger = logging.getLogger(__name__)

INTERRUPT_GRACE = 0.12
DEADLINE_GRACE = 2.0
MAX_QUESTIONS = 4
"""About one call, when each answer comes too late: what was shown has changed meanwhile."""
MAX_SHOWN_CHARS = 100_000
"""More than this nobody reads, so nobody can agree to it."""


@dataclass(frozen=True, kw_only=True)
class Road:
    """What all calls of a turn share."""

    registry: ToolRegistry
    names: frozenset[str]
    """Tools that may be called; others do not exist on this road."""
    desk: ApprovalDesk
    policy: Policy
    emit: Callable[[Event], None]
    """Tell an event; on the agent loop's thread."""
    context: Mapping[str, Any]
    """What handlers get beside their arguments."""
    tool_timeout: float = 600.0

    async def run(self, call: ToolCall) -> ToolResult:
        """Take a call to its result. Never raises, but for the interrupt of the turn."""
        clock = _Clock()
        try:
            status, text = await self._outcome(call, clock)
        except Exception as error:  # without a result the transcript would be of no use any more
            logger.exception("the call of %r could not be taken", call.name)
            status, text = "error", tool_error(f"Not run: {type(error).__name__}: {error}"[:2_000])
        limit = self.registry.get_max_result_size(call.name)
        return ToolResult(
            call=call,
            text=shape(text, limit),
            status=status,
            seconds=clock.seconds(),
            exit_code=exit_code_of(text),
        )

    async def _outcome(self, call: ToolCall, clock: _Clock) -> tuple[CallStatus, str]:
        if call.error:
            return "error", tool_error(call.error)
        entry = self.registry.get_entry(call.name) if call.name in self.names else None
        if entry is None:
            return "error", tool_error(f"Unknown tool: {call.name!r}")
        parameters = entry.schema["parameters"]
        call = replace(call, args=coerce(call.args, parameters))
        if wrong := problems(call.args, parameters):
            return "error", tool_error(f"Invalid arguments for {call.name}: " + "; ".join(wrong))
        if refusal := await self._refusal(entry, call):
            return "denied", refusal
        clock.start()
        return await self._run(entry, call)

    async def _refusal(self, entry: ToolEntry, call: ToolCall) -> str | None:
        """None if the call may run, else the answer that tells the model why not."""
        if self.policy.denied(call, folder_of(self.context)):
            return _denied("a rule of the user forbids it", by="rule")
        if entry.guard_fn is None:  # nothing to ask: no trip to a tool thread
            return None
        allowed = None
        for _ in range(MAX_QUESTIONS):
            folder = folder_of(self.context)
            # A guard may read files for seconds, and the loop must hear the interrupt meanwhile.
            objection = await in_tool_thread(lambda: objection_of(entry, call, self.context))
            if objection is None:
                return None
            if objection.forbidden:
                return _denied(f"it {objection.reason}, which nobody may approve", by="safety")
            if len(objection.shown) > MAX_SHOWN_CHARS:
                return _denied("it is too long for a person to judge", by="safety")
            # The folder or the file may have changed while the question stood there: then the
            # answer was to something else.
            asked = (objection.shown, digest_of(call, folder))
            if asked == allowed:
                return None
            if refusal := await self._decide(call, objection, folder):
                return refusal
            allowed = asked
        return _denied("what it would do changed each time the user had agreed", by="safety")

    async def _decide(self, call: ToolCall, objection: Objection, folder: str) -> str | None:
        request = ApprovalRequest(
            id=secrets.token_hex(8),
            call=call,
            reason=objection.reason,
            shown=objection.shown,
            cwd=objection.cwd or folder,
            grant=objection.grant,
            digest=digest_of(call, folder),
        )
        if self.desk.granted(request.digest):
            return None
        match self.policy.verdict(call):
            case "allow":
                self.emit(ApprovalResolved(request=request, decision="once", by="rule"))
                return None
            case "deny":
                self.emit(ApprovalResolved(request=request, decision="deny", by="mode"))
                return _denied(f"it {objection.reason} and approvals are set to deny", by="mode")
        answer = await self.desk.decide(request, self.emit)
        if answer.value != "deny":
            return None
        if answer.by == "policy":
            return _denied("it needs an approval and nobody can be asked here", by="policy")
        return _denied("the user said no", by="user")

    async def _run(self, entry: ToolEntry, call: ToolCall) -> tuple[CallStatus, str]:
        cancelled = threading.Event()
        context = {
            **self.context,
            "tool_call_id": call.id,
            "cancelled": cancelled,
            "on_output": self._output_of(call),
            "ask": self._ask_from_thread(cancelled),
        }
        limit = self._timeout(entry, call)
        self.emit(ToolCallStarted(call=call))
        task = asyncio.create_task(self.registry.adispatch(call.name, dict(call.args), **context))
        try:
            done, _ = await asyncio.wait({task}, timeout=limit)
            if not done:
                return await self._overdue(task, cancelled, call, limit)
        except asyncio.CancelledError:
            await _stop(task, cancelled, INTERRUPT_GRACE)
            raise
        if task.cancelled():  # not by us: the tool cancelled itself, which is no interrupt
            return "error", tool_error(f"{call.name} cancelled itself")
        text = task.result()
        return status_of(text), text

    async def _overdue(
        self, task: asyncio.Task[str], cancelled: threading.Event, call: ToolCall, limit: float
    ) -> tuple[CallStatus, str]:
        ended = await _stop(task, cancelled, DEADLINE_GRACE)
        partial = task.result() if ended and not task.cancelled() else None
        return "timeout", tool_error(
            f"{call.name} did not finish within {limit:g} s and was stopped"
            + ("" if ended else "; it does not react and may still run in the background"),
            partial_result=partial,
        )

    def _timeout(self, entry: ToolEntry, call: ToolCall) -> float:
        declared = entry.timeout
        seconds = declared(call.args) if callable(declared) else declared
        return float(seconds or self.tool_timeout)

    def _output_of(self, call: ToolCall) -> Callable[[str], None]:
        loop = asyncio.get_running_loop()

        def on_output(text: str) -> None:
            loop.call_soon_threadsafe(self.emit, ToolOutputStreamed(call=call, text=text))

        return on_output

    def _ask_from_thread(
        self, cancelled: threading.Event
    ) -> Callable[[str, tuple[str, ...]], str | None]:
        loop, here = asyncio.get_running_loop(), threading.get_ident()

        def ask(text: str, choices: tuple[str, ...] = ()) -> str | None:
            if threading.get_ident() == here:
                raise RuntimeError("ask() waits for a person: an async tool calls it in a thread")
            question = Question(id=secrets.token_hex(8), text=text, choices=choices)
            asking = asyncio.run_coroutine_threadsafe(self.desk.ask(question, self.emit), loop)
            while not cancelled.is_set():
                with suppress(TimeoutError):
                    return asking.result(timeout=0.1)
            asking.cancel()
            return None

        return ask


class _Clock:
    """How long a call ran, without the time in which it waited for a person."""

    def __init__(self) -> None:
        self._began: float | None = None

    def start(self) -> None:
        self._began = time.monotonic()

    def seconds(self) -> float:
        return 0.0 if self._began is None else time.monotonic() - self._began


async def _stop(task: asyncio.Task[str], cancelled: threading.Event, grace: float) -> bool:
    """Ask a running tool to end, wait a little, then leave it. True if it ended by itself."""
    cancelled.set()
    try:
        done, _ = await asyncio.wait({task}, timeout=grace)
    finally:  # also when the person interrupts once more
        if not task.done():
            task.cancel()
    return bool(done)


def _denied(why: str, *, by: str) -> str:
    return tool_error(
        f"Denied: {why}. It was not run. Do not try it again in another way; go on without it "
        "or tell the user what you would have done.",
        status="denied",
        denied_by=by,
    )
