"""Run one tool call: coerce, guard, run, shape. Every caller uses this road."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import Event, ToolCallFinished
from hermes_jupyter.road.approval import AskingDesk
from hermes_jupyter.road.checks import Checks
from hermes_jupyter.road.cleaning import cleaned
from hermes_jupyter.road.coercion import coerce, problems
from hermes_jupyter.road.course import Course
from hermes_jupyter.road.fences import source_of
from hermes_jupyter.road.gate import Gate, Judge
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.refusals import remarked
from hermes_jupyter.road.results import QUICK_CHARS, exit_code_of, shaped_here, status_of
from hermes_jupyter.road.running import CallInterrupted, Runner
from hermes_jupyter.road.transforms import transform, transforms
from tools.answers import tool_error
from tools.async_bridge import in_tool_thread, run_async
from tools.entry import DEFAULT_RESULT_CHARS, ToolEntry
from tools.images.answers import BEGINS, ENVELOPE, without_images
from tools.view import RegistryView

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Road:
    """What all calls of a turn share."""

    tools: RegistryView
    """What may be called; other tools do not exist on this road. Handlers get it, too."""
    desk: AskingDesk
    policy: Policy
    emit: Callable[[Event], None]
    """Tell an event; on the agent loop's thread."""
    context: Mapping[str, Any]
    """What handlers get beside their arguments."""
    tool_timeout: float = 600.0
    approval_timeout: float = 0.0
    """Seconds after which an unanswered request counts as denied; 0 for never."""
    judge: Judge | None = None
    checks: Checks = field(default_factory=Checks)
    purpose: Callable[[], str] = str
    """What the model has said before its calls, for the person who is asked."""
    _runner: Runner = field(init=False, repr=False)
    _gate: Gate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        context = {**self.context, "tools": self.tools}
        runner = Runner(
            desk=self.desk,
            emit=lambda event: self.emit(event),
            context=context,
            tool_timeout=self.tool_timeout,
            take=self._take,
        )
        gate = Gate(
            desk=self.desk,
            policy=self.policy,
            emit=lambda event: self.emit(event),
            context=context,
            judge=self.judge,
            checks=self.checks,
            purpose=self.purpose,
            timeout=self.approval_timeout,
            prepare=runner.prepare,
        )
        object.__setattr__(self, "context", context)
        object.__setattr__(self, "_runner", runner)
        object.__setattr__(self, "_gate", gate)

    async def run(self, call: ToolCall) -> ToolResult:
        """Take a call to its result. Never raises, but for the interrupt of the turn."""
        course = Course(call)
        try:
            entry = self._admitted(course, call)
            if entry and (
                (entry.guard_fn is None and self._gate.is_quiet)  # most, so without a call
                or self._gate.lets_all(entry)
                or await self._let_through(entry, course)
            ):
                await self._runner.run(entry, course)
                if transforms(self.checks.hooks):
                    await transform(self.checks.hooks, course, self.context)
        except Exception as error:  # without a result the transcript would be of no use any more
            logger.exception("the call of %r could not be taken", call.name)
            course.fail(error)
        if len(course.text) <= QUICK_CHARS:
            return self._result(course)
        return await in_tool_thread(lambda: self._result(course))

    def told(self, call: ToolCall) -> ToolCall:
        """The call with what it is about, where a person would not know it by its arguments."""
        entry = None if call.error else self.tools.get_entry(call.name)
        about = entry.about(call.args, self.context) if entry else ""
        return replace(call, about=about) if about else call

    async def _take(self, call: ToolCall) -> ToolResult:
        """The same for the call of a tool; nobody else tells how it ended."""
        call = self.told(call)
        try:
            result = await self.run(call)
        except CallInterrupted as stop:
            text = tool_error("Interrupted by the user", partial_output=cleaned(stop.printed))
            self.emit(
                ToolCallFinished(result=ToolResult(call=call, text=text, status="interrupted"))
            )
            raise
        self.emit(ToolCallFinished(result=result))
        return result

    def run_here(self, call: ToolCall) -> ToolResult:
        """The same for callers without a loop, and in their own thread wherever that can be."""
        course = Course(call)
        try:
            entry = self._admitted(course, call)
            if entry and (entry.is_async or not self._gate.lets_all(entry) or self._is_watched):
                return run_async(self.run(call))
            if entry:
                self._runner.run_here(entry, course)
        except Exception as error:
            logger.exception("the call of %r could not be taken", call.name)
            course.fail(error)
        return self._result(course)

    @property
    def _is_watched(self) -> bool:
        return transforms(self.checks.hooks)

    def _admitted(self, course: Course, call: ToolCall) -> ToolEntry | None:
        """The tool, if there is one and the arguments fit it. Otherwise the course says why not."""
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
        elif call is not course.written:
            course.call = call
        return entry

    async def _let_through(self, entry: ToolEntry, course: Course) -> bool:
        """Whether the call may run. If not, the answer tells the model why."""
        passage = await self._gate.passage(entry, course.call)
        course.edited = None
        if passage.edited is not None:
            course.note, course.is_remarked = passage.note, True
            course.admitted = False
            if self._admitted(course, passage.edited) is None:
                return False
            course.edited = course.call
            passage = await self._gate.passage(entry, course.call, typed=True)
        if passage.refusal:
            course.end("denied", passage.refusal)
            return False
        if passage.note:
            course.note, course.is_remarked = passage.note, True
        return True

    def _result(self, course: Course) -> ToolResult:
        entry, call = course.entry, course.call
        if BEGINS in course.text or ENVELOPE in course.text[:100]:
            course.text = without_images(course.text, self._runner.shower_of(course))
        text = course.text
        if course.is_remarked:
            text = remarked(text, note=course.note, edited=course.edited)
        limit = entry.max_result_size_chars if entry else DEFAULT_RESULT_CHARS
        source = source_of(entry) if entry else ""
        before = text if course.before is None else course.before
        shaped = shaped_here(text, limit, self.context.get("handles"), source)
        return ToolResult(
            call=course.written,
            text=shaped.text,
            status=course.status if course.status != "ok" else status_of(before),
            seconds=course.seconds,
            exit_code=exit_code_of(before),
            args=call.args if course.admitted else None,
            mistake=course.mistake,
            handle=shaped.handle,
            total_chars=shaped.total_chars,
            details=cleaned(course.details) if course.details else "",
            images=tuple(course.pictures),
        )
