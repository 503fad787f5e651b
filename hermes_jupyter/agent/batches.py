"""Running the calls of a step that may run side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hermes_jupyter.agent.planning import next_batch, plan
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import BatchStarted, Event, ToolCallFinished
from hermes_jupyter.road.cleaning import cleaned
from hermes_jupyter.road.running import CallInterrupted
from tools.registry import tool_error

__all__ = ["MAX_PARALLEL", "Interrupted", "next_batch", "plan", "run_batch", "skipped"]

MAX_PARALLEL = 16
"""Of a larger batch, the others wait until one of these is done. Of those that need a thread,
the road runs fewer."""

RunCall = Callable[[ToolCall], Awaitable[ToolResult]]
Emit = Callable[[Event], None]


async def run_batch(calls: Sequence[ToolCall], run_call: RunCall, emit: Emit) -> list[ToolResult]:
    """Run the calls side by side.

    Results come back in the order of the calls, and are announced as they come.

    Raises
    ------
    Interrupted
        When the turn is interrupted; it holds a result for every call.
    """
    emit(BatchStarted(calls=tuple(calls)))
    results: dict[str, ToolResult] = {}
    room = asyncio.Semaphore(MAX_PARALLEL)

    async def one(call: ToolCall) -> None:
        async with room:
            try:
                result = await run_call(call)
            except CallInterrupted as stop:
                results[call.id] = interrupted(call, stop.printed, stop.answer)
                emit(ToolCallFinished(result=results[call.id]))
                raise
        results[call.id] = result
        emit(ToolCallFinished(result=result))

    try:
        if len(calls) == 1:  # most: no task of its own
            await one(calls[0])
        else:
            await asyncio.gather(*(one(call) for call in calls))
    except asyncio.CancelledError:
        # Every call needs a result, or the next model call is refused.
        for result in skipped([call for call in calls if call.id not in results], emit):
            results[result.call.id] = result
        raise Interrupted([results[call.id] for call in calls]) from None
    return [results[call.id] for call in calls]


class Interrupted(Exception):
    """The turn was interrupted while calls ran; ``results`` has one for each of them."""

    def __init__(self, results: list[ToolResult]) -> None:
        super().__init__("interrupted")
        self.results = results


def interrupted(call: ToolCall, printed: str = "", answer: str = "") -> ToolResult:
    """The result of a call that an interrupt stopped or kept from starting.

    ``answer`` is what the tool said when it was told to end; that says more than what it printed.
    """
    kept = {"partial_result": cleaned(answer)} if answer else {}
    if printed and not answer:
        kept = {"partial_output": cleaned(printed)}
    text = tool_error("Interrupted by the user", status="interrupted", **kept)
    return ToolResult(call=call, text=text, status="interrupted")


def skipped(calls: Sequence[ToolCall], emit: Emit) -> list[ToolResult]:
    """The results of calls that an interrupt kept from starting; listeners hear of them."""
    text = tool_error("skipped: interrupted", status="skipped")
    results = [ToolResult(call=call, text=text, status="interrupted") for call in calls]
    for result in results:
        emit(ToolCallFinished(result=result))
    return results
