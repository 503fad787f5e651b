"""Run one tool call: coerce, guard, run, shape. Every caller uses this road."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, ToolCall, ToolResult, digest_of
from hermes_jupyter.events import ApprovalResolved, Event
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.coercion import coerce, problems
from hermes_jupyter.road.course import Course
from hermes_jupyter.road.fences import source_of
from hermes_jupyter.road.guard import objection_of
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.results import QUICK_CHARS, exit_code_of, shaped_here, status_of
from hermes_jupyter.road.running import Runner
from tools.async_bridge import in_tool_thread, run_async
from tools.entry import DEFAULT_RESULT_CHARS, ToolEntry
from tools.files.workspace import folder_of
from tools.registry import tool_error
from tools.safety import Objection
from tools.view import RegistryView

logger = logging.getLogger(__name__)

MAX_QUESTIONS = 4
"""About one call, when each answer comes too late: what was shown has changed meanwhile."""
MAX_SHOWN_CHARS = 100_000
"""More than this nobody reads, so nobody can agree to it."""


@dataclass(frozen=True, kw_only=True)
class Road:
    """What all calls of a turn share."""

    tools: RegistryView
    """What may be called; other tools do not exist on this road. Handlers get it, too."""
    desk: ApprovalDesk
    policy: Policy
    emit: Callable[[Event], None]
    """Tell an event; on the agent loop's thread."""
    context: Mapping[str, Any]
    """What handlers get beside their arguments."""
    tool_timeout: float = 600.0
    _runner: Runner = field(init=False, repr=False)

    def __post_init__(self) -> None:
        context = {**self.context, "tools": self.tools}
        runner = Runner(
            desk=self.desk,
            emit=lambda event: self.emit(event),
            context=context,
            tool_timeout=self.tool_timeout,
        )
        object.__setattr__(self, "context", context)
        object.__setattr__(self, "_runner", runner)

    async def run(self, call: ToolCall) -> ToolResult:
        """Take a call to its result. Never raises, but for the interrupt of the turn."""
        course = Course(call)
        try:
            entry = self._admitted(course)
            if entry and not await self._refused(entry, course):
                await self._runner.run(entry, course)
        except Exception as error:  # without a result the transcript would be of no use any more
            logger.exception("the call of %r could not be taken", call.name)
            course.fail(error)
        if len(course.text) <= QUICK_CHARS:
            return self._result(course)
        return await in_tool_thread(lambda: self._result(course))

    def run_here(self, call: ToolCall) -> ToolResult:
        """The same for callers without a loop, and in their own thread wherever that can be."""
        course = Course(call)
        try:
            entry = self._admitted(course)
            if entry and (entry.is_async or entry.guard_fn or self.policy.deny):
                return run_async(self.run(call))
            if entry:
                self._runner.run_here(entry, course)
        except Exception as error:
            logger.exception("the call of %r could not be taken", call.name)
            course.fail(error)
        return self._result(course)

    def _admitted(self, course: Course) -> ToolEntry | None:
        """The tool, if there is one and the arguments fit it. Otherwise the course says why not."""
        call = course.written
        if call.error:
            course.refuse(call.error, call.mistake)
            return None
        entry = course.entry = self.tools.get_entry(call.name)
        if entry is None:
            course.refuse(f"Unknown tool: {call.name!r}", "There is no such tool")
            return None
        parameters = self.tools.parameters(entry)
        args = coerce(call.args, parameters)
        if wrong := problems(args, parameters):
            mistake = f"Invalid arguments for {call.name}"
            course.refuse(f"{mistake}: {'; '.join(wrong)}", mistake)
            return None
        course.admitted = True
        if args != call.args:
            course.call = replace(call, args=args)
        return entry

    async def _refused(self, entry: ToolEntry, course: Course) -> bool:
        """Whether the call may not run. Then the answer tells the model why."""
        if self.policy.deny and self.policy.denied(course.call, folder_of(self.context)):
            refusal: str | None = _denied("a rule of the user forbids it", by="rule")
        elif entry.guard_fn is None:  # nothing to ask: no trip to a tool thread
            return False
        else:
            refusal = await self._refusal(entry, course.call)
        if refusal:
            course.end("denied", refusal)
        return bool(refusal)

    async def _refusal(self, entry: ToolEntry, call: ToolCall) -> str | None:
        """None if the guard and a person let the call run."""
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

    def _result(self, course: Course) -> ToolResult:
        entry, text, call = course.entry, course.text, course.call
        limit = entry.max_result_size_chars if entry else DEFAULT_RESULT_CHARS
        source = source_of(entry) if entry else ""
        shaped = shaped_here(text, limit, self.context.get("handles"), source)
        return ToolResult(
            call=course.written,
            text=shaped.text,
            status=course.status if course.status != "ok" else status_of(text),
            seconds=course.seconds,
            exit_code=exit_code_of(text),
            args=call.args if course.admitted else None,
            mistake=course.mistake,
            handle=shaped.handle,
            total_chars=shaped.total_chars,
        )


def _denied(why: str, *, by: str) -> str:
    return tool_error(
        f"Denied: {why}. It was not run. Do not try it again in another way; go on without it "
        "or tell the user what you would have done.",
        status="denied",
        denied_by=by,
    )
