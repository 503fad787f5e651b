"""Which calls of a step may run side by side, and running them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import BatchStarted, Event, ToolCallFinished
from tools.registry import ToolRegistry, tool_error

MAX_PARALLEL = 8

RunCall = Callable[[ToolCall], Awaitable[ToolResult]]
Emit = Callable[[Event], None]


def plan(calls: Sequence[ToolCall], registry: ToolRegistry, cwd: str) -> list[list[ToolCall]]:
    """Cut the calls of a step into batches, in order.

    Reads run beside reads, and a write beside what touches other paths. A tool that does not
    say what it touches runs alone. A batch has at most 8 calls.
    """
    batches: list[list[ToolCall]] = []
    for call in calls:
        if batches and _fits(call, batches[-1], registry, cwd):
            batches[-1].append(call)
        else:
            batches.append([call])
    return batches


def _fits(call: ToolCall, batch: list[ToolCall], registry: ToolRegistry, cwd: str) -> bool:
    if len(batch) >= MAX_PARALLEL:
        return False
    return all(_side_by_side(call, other, registry, cwd) for other in batch)


def _side_by_side(a: ToolCall, b: ToolCall, registry: ToolRegistry, cwd: str) -> bool:
    if a.error or b.error:  # nothing runs
        return True
    effects = {_effects(a, registry), _effects(b, registry)}
    if "unknown" in effects:
        return False
    if effects == {"read"}:
        return True
    paths_a, paths_b = _paths(a, registry, cwd), _paths(b, registry, cwd)
    if not paths_a or not paths_b:
        return False
    return not any(_overlap(one, other) for one in paths_a for other in paths_b)


def _effects(call: ToolCall, registry: ToolRegistry) -> str:
    entry = registry.get_entry(call.name)
    return entry.effects if entry else "read"


def _paths(call: ToolCall, registry: ToolRegistry, cwd: str) -> list[Path]:
    entry = registry.get_entry(call.name)
    named: Iterable[str] = entry.resources(call.args) if entry and entry.resources else ()
    return [Path(os.path.realpath(Path(cwd) / Path(name).expanduser())) for name in named]


def _overlap(a: Path, b: Path) -> bool:
    return a == b or a in b.parents or b in a.parents


async def run_batch(calls: Sequence[ToolCall], run_call: RunCall, emit: Emit) -> list[ToolResult]:
    """Run the calls side by side; results in the order of the calls, announced as they come.

    Raises
    ------
    Interrupted
        When the turn is interrupted; it holds a result for every call.
    """
    emit(BatchStarted(calls=tuple(calls)))
    results: dict[str, ToolResult] = {}

    async def one(call: ToolCall) -> None:
        results[call.id] = result = await run_call(call)
        emit(ToolCallFinished(result=result))

    try:
        await asyncio.gather(*(one(call) for call in calls))
    except asyncio.CancelledError:
        # Every call needs a result, or the next model call is refused.
        for call in calls:
            if call.id not in results:
                results[call.id] = result = interrupted(call)
                emit(ToolCallFinished(result=result))
        raise Interrupted([results[call.id] for call in calls]) from None
    return [results[call.id] for call in calls]


class Interrupted(Exception):
    """The turn was interrupted while calls ran; ``results`` has one for each of them."""

    def __init__(self, results: list[ToolResult]) -> None:
        super().__init__("interrupted")
        self.results = results


def interrupted(call: ToolCall) -> ToolResult:
    """The result of a call that an interrupt stopped or kept from starting."""
    text = tool_error("Interrupted by the user", status="interrupted")
    return ToolResult(call=call, text=text, status="interrupted")
