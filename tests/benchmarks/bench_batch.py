"""Calls on the one road, alone and eight at once, with the agent's own loop and threads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from hermes_jupyter.agent.batches import plan, run_batch
from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tests.benchmarks.rows import Row, spread
from tools.async_bridge import loop_thread
from tools.registry import ToolRegistry

BATCHES = 15
CALLS = 1_000
SCHEMA = {"parameters": {"type": "object", "properties": {"number": {"type": "integer"}}}}
THEIRS = "hermes-agent 0.19.0: {} (quoted)"


def nap(args: Any, **_: Any) -> str:
    time.sleep(0.1)
    return "{}"


async def async_nap(args: Any, **_: Any) -> str:
    await asyncio.sleep(0.1)
    return "{}"


async def at_once(args: Any, **_: Any) -> str:
    return "{}"


def road() -> Road:
    registry = ToolRegistry()
    for name, handler in (
        ("nap", nap),
        ("async_nap", async_nap),
        ("sync", lambda args, **_: "{}"),
        ("async", at_once),
    ):
        registry.register(name, "bench", SCHEMA, handler, effects="read")
    return Road(
        tools=registry.view(),
        desk=ApprovalDesk(),
        policy=Policy.parse("ask", (), ()),
        emit=lambda event: None,
        context={},
    )


def rows() -> Iterator[Row]:
    ours = road()
    for name, count, kind, theirs in (
        ("nap", 8, "sync", "111 ms"),
        ("async_nap", 8, "async", "108 ms"),
        ("async_nap", 16, "async", "223 ms"),
    ):
        batches = spread([seconds_of_a_batch(ours, name, count) for _ in range(BATCHES)], 1e3)
        yield Row(
            what=f"{count} {kind} tools of 100 ms in one batch",
            value=batches.median,
            unit="ms",
            target=110,
            detail=batches.detail("ms"),
            theirs=THEIRS.format(theirs),
        )
    for how, samples, target, theirs in (
        ("sync tool, no loop", seconds_of_calls_here(ours), 15, "13.2 us"),
        ("async tool", loop_thread().run(seconds_of_calls(ours, "async")), 20, "183 us"),
        ("sync tool, in a thread", loop_thread().run(seconds_of_calls(ours, "sync")), None, ""),
    ):
        calls = spread(samples, 1e6)
        yield Row(
            what=f"a whole call on the road: {how}",
            value=calls.median,
            unit="us",
            target=target,
            detail=f"p99 {calls.p99:.0f}",
            theirs=f"handle_function_call of {THEIRS.format(theirs)}" if theirs else "",
        )


def seconds_of_a_batch(road: Road, name: str, count: int) -> float:
    calls = [ToolCall(id=str(n), name=name, args={"number": n}) for n in range(count)]
    (batch,) = plan(calls, road.tools, "/")
    began = time.perf_counter()
    loop_thread().run(run_batch(batch, road.run, road.emit))
    return time.perf_counter() - began


def seconds_of_calls_here(road: Road) -> list[float]:
    """Of a caller without a loop, whose model wrote a number as text."""
    seconds = []
    for number in range(CALLS):
        began = time.perf_counter()
        road.run_here(ToolCall(id="call", name="sync", args={"number": str(number)}))
        seconds.append(time.perf_counter() - began)
    return seconds


async def seconds_of_calls(road: Road, name: str) -> list[float]:
    seconds = []
    for number in range(CALLS):
        began = time.perf_counter()
        await road.run(ToolCall(id=str(number), name=name, args={"number": number}))
        seconds.append(time.perf_counter() - began)
    return seconds
