"""Run in an environment with hermes-agent: its import, its async dispatch, and the frozen loop."""

import asyncio
import contextlib
import io
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from load_probe import peak_megabytes

CALLS = 400


async def at_once(args: Any, **_: Any) -> str:
    return "{}"


async def slow(args: Any, **_: Any) -> str:
    await asyncio.sleep(0.2)
    return "{}"


async def in_running_loop(registry: Any) -> tuple[float, float]:
    seconds = []
    for _ in range(CALLS):
        began = time.perf_counter()
        registry.dispatch("bench_async", {})
        seconds.append(time.perf_counter() - began)
    began = time.perf_counter()  # nothing else of this loop can run until it is back
    registry.dispatch("bench_slow", {})
    return statistics.median(seconds), time.perf_counter() - began


def main() -> None:
    cpu = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        import model_tools  # noqa: F401 - its import is what is timed
    cpu, memory = time.process_time() - cpu, peak_megabytes()
    from tools.registry import registry

    schema = {"description": "x", "parameters": {"type": "object", "properties": {}}}
    for name, handler in (("bench_async", at_once), ("bench_slow", slow)):
        registry.register(
            name=name, toolset="bench", schema={"name": name, **schema}, handler=handler,
            is_async=True,
        )  # fmt: skip
    dispatch, frozen = asyncio.run(in_running_loop(registry))
    found = {"cpu_ms": cpu * 1e3, "memory_mb": memory, "dispatch_us": dispatch * 1e6,
             "frozen_ms": frozen * 1e3}  # fmt: skip
    print(json.dumps(found), flush=True)
    os._exit(0)


main()
