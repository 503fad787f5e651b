"""What the way from a tool's name to its answer costs, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.rows import Row, Spread, spread
from tools.async_bridge import TOOL_THREADS
from tools.registry import ToolRegistry

CALLS = 3_000
BATCHES = 1_000
ROUNDS = 5
FROZEN = (
    "frozen {:.0f} ms by a pool and a loop per call (here); hermes-agent 0.19.0: 205 ms (quoted)"
)
PER_CALL = "a pool and a loop per call: {:.0f} us (here); hermes-agent 0.19.0: 161 us (quoted)"


async def at_once(args: Any, **_: Any) -> str:
    return "{}"


async def slow(args: Any, **_: Any) -> str:
    await asyncio.sleep(0.2)
    return "{}"


def blocking(args: Any, **_: Any) -> str:
    time.sleep(0.02)
    return "{}"


def registered() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register("sync", "bench", {}, lambda args, **_: "{}")
    registry.register("async", "bench", {}, at_once, is_async=True)
    registry.register("blocking", "bench", {}, blocking)
    registry.register("slow", "bench", {}, slow, is_async=True)
    return registry


def rows() -> Iterator[Row]:
    registry = registered()
    yield from main_thread_rows(registry)
    yield from asyncio.run(running_loop_rows(registry))


def main_thread_rows(registry: ToolRegistry) -> Iterator[Row]:
    for kind, theirs in (("sync", "0.48 us"), ("async", "7.8 us")):
        dispatch = partial(registry.dispatch, kind, {})
        taken = spread([timed(dispatch) for _ in range(CALLS)])
        yield Row(
            what=f"dispatch, {kind} tool, no loop",
            value=taken.median * 1e6,
            unit="us",
            detail=f"p99 {taken.p99 * 1e6:.1f}",
            theirs=f"hermes-agent 0.19.0: {theirs} (quoted)",
        )


async def running_loop_rows(registry: ToolRegistry) -> list[Row]:
    """In a running loop, where the caller of every notebook cell is."""
    bare, through = await over_the_tool(registry)
    old_way = statistics.median([timed(lambda: a_loop_per_call(at_once({}))) for _ in range(300)])
    pooled = spread(await awaited(lambda: registry.adispatch("sync", {})), 1e6)
    frozen = await freeze(lambda: registry.adispatch("slow", {}))
    frozen_old_way = await freeze(freezing)
    return [
        Row(
            what="async tool in a running loop, over the tool itself",
            value=through.median - bare.median,
            unit="us",
            target=15,
            detail=f"all {through.median:.1f}, p99 {through.p99:.1f} us, n={through.count}",
            theirs=PER_CALL.format(old_way * 1e6),
        ),
        Row(
            what="loop frozen by an async tool of 200 ms",
            value=frozen,
            unit="ms",
            target=5,
            detail="longest delay of a 1 ms timer",
            theirs=FROZEN.format(frozen_old_way),
        ),
        Row(
            what="sync tool in a running loop, in a tool thread",
            value=pooled.median,
            unit="us",
            detail=f"p99 {pooled.p99:.0f}",
        ),
        Row(
            what=f"files and threads left by {BATCHES} batches, no collector",
            value=await growth(registry),
            target=0,
            theirs="hermes-agent 0.19.0: 494 files by 25 batches (quoted)",
        ),
    ]


async def over_the_tool(registry: ToolRegistry) -> tuple[Spread, Spread]:
    """The tool itself and the same through the registry, in turns: other load hits both alike."""
    bare: list[float] = []
    through: list[float] = []
    for _ in range(ROUNDS):
        bare += await awaited(lambda: at_once({}), CALLS // ROUNDS)
        through += await awaited(lambda: registry.adispatch("async", {}), CALLS // ROUNDS)
    return spread(bare, 1e6), spread(through, 1e6)


def a_loop_per_call(coroutine: Any) -> Any:
    """The usual way out of a running loop: a thread with a loop of its own for each call."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def freezing() -> None:
    a_loop_per_call(slow({}))


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


async def awaited(call: Callable[[], Awaitable[object]], times: int = CALLS) -> list[float]:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        seconds.append(time.perf_counter() - started)
    return seconds


async def freeze(call: Callable[[], Awaitable[object]]) -> float:
    """The longest time, in ms, for which the loop did not come round while ``call`` ran.

    The best of three: the machine's own pauses are not ours.
    """
    return min([await _freeze_once(call) for _ in range(3)])


async def _freeze_once(call: Callable[[], Awaitable[object]]) -> float:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - started - 0.001)

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    await call()
    await asyncio.sleep(0.002)
    watcher.cancel()
    return longest * 1e3


def open_files() -> int:
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.exists() else 0


async def growth(registry: ToolRegistry) -> int:
    """What batches leave behind when the tool threads, which stay, are there already."""
    await asyncio.gather(*(registry.adispatch("blocking", {}) for _ in range(TOOL_THREADS)))
    gc.disable()
    before = open_files() + threading.active_count()
    for _ in range(BATCHES):
        names = ("sync", "async") * 4
        await asyncio.gather(*(registry.adispatch(name, {}) for name in names))
        registry.dispatch("async", {})
    gc.enable()
    return open_files() + threading.active_count() - before
