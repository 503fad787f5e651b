"""Run the handler of a call: with a deadline, an end for those who interrupt, and its output."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.calls import Question, ToolCall, ToolResult
from hermes_jupyter.events import Event, OutputDisplayed, ToolCallStarted, ToolOutputStreamed
from hermes_jupyter.road.approval import AskingDesk
from hermes_jupyter.road.cases import only_reads
from hermes_jupyter.road.course import Course
from hermes_jupyter.road.deadlines import Deadlines, Flag, Waits, ends_in_time, ends_within
from tools import dispatching
from tools.async_bridge import in_tool_thread
from tools.entry import ToolEntry
from tools.files.workspace import place_of
from tools.images.picture import Picture
from tools.images.preparing import prepared
from tools.images.values import drawn
from tools.live import Displayed
from tools.registry import tool_error

INTERRUPT_GRACE = 0.12
DEADLINE_GRACE = 2.0
THREADS = 8
"""As many tools of a turn that need a thread run side by side."""
TELLING = frozenset(("write_file", "patch", "insert_cell", "edit_cell", "move_cell", "delete_cell"))
"""Tools that tell the checkpoint each thing that they change."""

_deadlines = Deadlines()


class CallInterrupted(asyncio.CancelledError):
    """The turn was interrupted while a call ran.

    ``printed`` is what it had told until then, ``answer`` what it still came to say.
    """

    def __init__(self, printed: str, answer: str = "") -> None:
        super().__init__("interrupted")
        self.printed, self.answer = printed, answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs handlers of admitted calls. What a handler gets beside its arguments is made here."""

    desk: AskingDesk
    emit: Callable[[Event], None]
    context: Mapping[str, Any]
    tool_timeout: float
    take: Callable[[ToolCall], Awaitable[ToolResult]]
    """Takes a call that a tool makes on the road, from its beginning."""
    _threads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(THREADS))

    async def run(self, entry: ToolEntry, course: Course) -> None:
        """Run it on the loop, or in a tool thread if it is no coroutine function.

        Raises
        ------
        CallInterrupted
            When the turn is interrupted.
        """
        if entry.is_async:
            await self._run(entry, course)
        else:
            async with self._threads:
                await self._run(entry, course)

    async def _run(self, entry: ToolEntry, course: Course) -> None:
        if self._may_leave_anything(entry, course.call):
            await in_tool_thread(lambda: self._checkpoint(entry))
        cancelled, limit, waits = Flag(), self._limit(entry, course), Waits()
        person = _Person(self, cancelled)
        context = {
            **self.context,
            "tool_call_id": course.call.id,
            "cancelled": cancelled,
            "on_output": self._output_of(course),
            "on_details": course.tell,
            "on_image": self.shower_of(course),
            "on_display": self._displays_of(course),
            "call_tool": self._calls_of(course),
            "waiting": waits,
            "ask": person.ask,
            "ask_secret": person.ask_secret,
        }
        self.emit(ToolCallStarted(call=course.call, at=time.monotonic()))
        course.start()
        loop = asyncio.get_running_loop()
        task = loop.create_task(dispatching.adispatch(entry, dict(course.call.args), context))
        try:
            if not await ends_in_time(task, limit, waits):
                return await _overdue(task, cancelled, course, limit)
        except asyncio.CancelledError:
            ended = await _stop(task, cancelled, INTERRUPT_GRACE)
            answer = task.result() if ended and not task.cancelled() else ""
            raise CallInterrupted(course.printed() or "", answer) from None
        if task.cancelled():  # not by us: the tool cancelled itself, which is no interrupt
            return course.end("error", tool_error(f"{entry.name} cancelled itself"))
        return course.end("ok", task.result())

    def run_here(self, entry: ToolEntry, course: Course) -> None:
        """Run it in this thread. A tool that does not hear its deadline keeps its caller."""
        if self._may_leave_anything(entry, course.call):
            self._checkpoint(entry)
        cancelled, limit = Flag(), self._limit(entry, course)
        context = {
            **self.context,
            "tool_call_id": course.call.id,
            "cancelled": cancelled,
            "on_output": course.hear,
            "on_details": course.tell,
            "on_image": self.shower_of(course),
            "waiting": lambda: _deadlines.held(cancelled),
            "ask": _nobody,
            "ask_secret": _nobody,
        }
        self.emit(ToolCallStarted(call=course.call, at=time.monotonic()))
        course.start()
        _deadlines.add(cancelled, limit)
        try:
            text = dispatching.dispatch(entry, dict(course.call.args), context)
        finally:
            in_time = _deadlines.remove(cancelled)
        if in_time:
            return course.end("ok", text)
        return course.end("timeout", _late(course, limit, answer=text))

    def _may_leave_anything(self, entry: ToolEntry, call: ToolCall) -> bool:
        """Whether things have to be looked at first, so that the call can be undone."""
        if "checkpoint" not in self.context or entry.name in TELLING:
            return False
        return not only_reads(entry, call, self.context)

    def prepare(self, entry: ToolEntry, call: ToolCall) -> None:
        """Make ready what an admitted call needs, while a person is asked about it."""
        if self._may_leave_anything(entry, call):
            self.context["checkpoint"].prepare()
        entry.prepare(call.args, self.context)

    def _checkpoint(self, entry: ToolEntry) -> None:
        place = place_of(self.context.get("environment")).name
        self.context["checkpoint"].about_to_run(entry.name, place)

    def _limit(self, entry: ToolEntry, course: Course) -> float:
        declared = entry.timeout
        seconds = declared(course.call.args) if callable(declared) else declared
        return float(seconds or self.tool_timeout)

    def _calls_of(self, course: Course) -> Callable[[str, Mapping[str, Any]], Future[str]]:
        """How the tool calls others, from any thread."""
        loop, numbers = asyncio.get_running_loop(), itertools.count(1)

        async def answer(name: str, args: Mapping[str, Any]) -> str:
            by = course.call.id
            call = ToolCall(id=f"{by}.{next(numbers)}", name=name, args=args, by=by)
            result = await self.take(call)
            for picture in result.images:
                course.show(picture)
            return result.text

        return lambda name, args: asyncio.run_coroutine_threadsafe(answer(name, args), loop)

    def shower_of(self, course: Course) -> Callable[[Any], None]:
        """How the tool gives an image to the model: one that is ready, a figure, or bytes."""
        album = self.context.get("album")

        def on_image(image: Any) -> None:
            picture = image if isinstance(image, Picture) else prepared(drawn(image))
            course.show(picture)
            if album is not None:
                album.add(picture)

        return on_image

    def _output_of(self, course: Course) -> Callable[[str], None]:
        loop = asyncio.get_running_loop()

        def on_output(text: str) -> None:
            course.hear(text)
            event = ToolOutputStreamed(call=course.call, text=text)
            with suppress(RuntimeError):  # a tool that was left behind may outlive the loop
                loop.call_soon_threadsafe(self.emit, event)

        return on_output

    def _displays_of(self, course: Course) -> Displayed:
        """How a tool tells, from any thread, what it has shown below the cell."""
        loop = asyncio.get_running_loop()

        def on_display(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
            event = OutputDisplayed(call=course.call, data=data, metadata=metadata)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self.emit, event)

        return on_display


class _Person:
    """Whom a tool may ask, from a thread. Made on the loop, for one call."""

    __slots__ = ("_cancelled", "_here", "_loop", "_runner")

    def __init__(self, runner: Runner, cancelled: Flag) -> None:
        self._runner, self._cancelled = runner, cancelled
        self._loop, self._here = asyncio.get_running_loop(), threading.get_ident()

    def ask(self, text: str, choices: tuple[str, ...] = ()) -> str | None:
        """Wait for the answer to a question; None if there is none."""
        return self._put(Question(id=secrets.token_hex(8), text=text, choices=choices))

    def ask_secret(self, text: str) -> str | None:
        """The same, for what nobody may read over a shoulder."""
        return self._put(Question(id=secrets.token_hex(8), text=text, secret=True))

    def _put(self, question: Question) -> str | None:
        if threading.get_ident() == self._here:
            raise RuntimeError("ask() waits for a person: an async tool calls it in a thread")
        desk, emit = self._runner.desk, self._runner.emit
        asking = asyncio.run_coroutine_threadsafe(desk.ask(question, emit), self._loop)
        while not self._cancelled.is_set():
            with suppress(TimeoutError):
                return asking.result(timeout=0.1)
        asking.cancel()
        return None


def _nobody(text: str, choices: tuple[str, ...] = ()) -> None:
    """Where no agent is, nobody can be asked."""


async def _overdue(task: asyncio.Task[str], cancelled: Flag, course: Course, limit: float) -> None:
    ended = await _stop(task, cancelled, DEADLINE_GRACE)
    answer = task.result() if ended and not task.cancelled() else None
    course.end("timeout", _late(course, limit, answer=answer, ended=ended))


def _late(course: Course, limit: float, *, answer: str | None, ended: bool = True) -> str:
    """What the model hears of a call that was stopped, with all that is there of its answer."""
    told = {"partial_result": answer, "partial_output": course.printed()}
    return tool_error(
        f"{course.call.name} did not finish within {limit:g} s and was stopped"
        + ("" if ended else "; it does not react and may still run in the background"),
        **{key: text for key, text in told.items() if text},
    )


async def _stop(task: asyncio.Task[str], cancelled: Flag, grace: float) -> bool:
    """Ask a running tool to end, wait a little, then leave it. True if it ended by itself."""
    cancelled.set()
    try:
        return await ends_within(task, grace)
    finally:  # also when the person interrupts once more
        if not task.done():
            task.cancel()
