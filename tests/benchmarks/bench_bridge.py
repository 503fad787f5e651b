"""What the way from a tool's name to its answer costs. Reports, asserts nothing.

python tests/benchmarks/bench_bridge.py
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tools.registry import ToolRegistry  # noqa: E402 - runs from a checkout, installed or not

CALLS = 3_000
BATCHES = 1_000


async def at_once(args: Any, **_: Any) -> str:
    return "{}"


async def slow(args: Any, **_: Any) -> str:
    await asyncio.sleep(0.2)
    return "{}"


def blocking(args: Any, **_: Any) -> str:
    time.sleep(0.1)
    return "{}"


def registered() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register("sync", "bench", {}, lambda args, **_: "{}")
    registry.register("async", "bench", {}, at_once, is_async=True)
    registry.register("slow", "bench", {}, slow, is_async=True)
    registry.register("blocking", "bench", {}, blocking)
    return registry


def microseconds(call: Callable[[], object]) -> tuple[float, float]:
    """Median and 95th percentile of one call."""
    return spread([timed(call) for _ in range(CALLS)])


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


async def awaited_microseconds(call: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    seconds = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await call()
        seconds.append(time.perf_counter() - started)
    return spread(seconds)


def spread(seconds: list[float]) -> tuple[float, float]:
    return statistics.median(seconds) * 1e6, statistics.quantiles(seconds, n=20)[-1] * 1e6


async def freeze(call: Callable[[], Awaitable[object]]) -> float:
    """The longest time, in ms, for which the loop did not come round while ``call`` ran."""
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


async def side_by_side(registry: ToolRegistry) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(registry.adispatch("blocking", {}) for _ in range(8)))
    return (time.perf_counter() - started) * 1e3


def open_files() -> int:
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.exists() else 0


async def growth(registry: ToolRegistry) -> str:
    """How many files and threads 1000 batches leave behind, without the garbage collector."""
    gc.disable()
    files, threads = open_files(), threading.active_count()
    for _ in range(BATCHES):
        names = ("sync", "async") * 4
        await asyncio.gather(*(registry.adispatch(name, {}) for name in names))
        registry.dispatch("async", {})
    gc.enable()
    return f"{open_files() - files:+d} files, {threading.active_count() - threads:+d} threads"


def show(what: str, measured: tuple[float, float] | float | str, unit: str = "") -> None:
    match measured:
        case (median, p95):
            value = f"{median:9.2f} us   (95 % below {p95:.2f} us)"
        case float():
            value = f"{measured:9.2f} {unit}"
        case _:
            value = f"   {measured}"
    print(f"{what:<52} {value}")


async def in_running_loop(registry: ToolRegistry) -> None:
    async def dispatch_slow() -> None:
        registry.dispatch("slow", {})

    show("dispatch, async tool, running loop", microseconds(lambda: registry.dispatch("async", {})))
    bare = await awaited_microseconds(lambda: at_once({}))
    through = await awaited_microseconds(lambda: registry.adispatch("async", {}))
    show("the async tool itself, awaited", bare)
    show("adispatch, async tool, running loop", through)
    show("  over the tool itself", through[0] - bare[0], "us")
    pool = await awaited_microseconds(lambda: registry.adispatch("sync", {}))
    show("adispatch, sync tool in a tool thread", pool)
    frozen = await freeze(lambda: registry.adispatch("slow", {}))
    show("loop frozen by a 200 ms tool, adispatch", frozen, "ms")
    show("loop frozen by a 200 ms tool, dispatch", await freeze(dispatch_slow), "ms")
    show("8 blocking tools of 100 ms side by side", await side_by_side(registry), "ms")
    show(f"left behind by {BATCHES} batches, collector off", await growth(registry))


def main() -> None:
    registry = registered()
    show("dispatch, sync tool", microseconds(lambda: registry.dispatch("sync", {})))
    show("dispatch, async tool, main thread", microseconds(lambda: registry.dispatch("async", {})))
    asyncio.run(in_running_loop(registry))


if __name__ == "__main__":
    main()
