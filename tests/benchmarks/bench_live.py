"""Live variables and scripts: looking at a huge table, and calling tools from a script."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tests.benchmarks.rows import Row, spread
from tools.async_bridge import loop_thread
from tools.discovery import discover_builtin
from tools.environments.local import LocalEnvironment
from tools.registry import ToolRegistry, registry, tool_result

ROWS = 10_000_000
SCRIPTS, CALLS = 15, 150
START = "import time; print(time.monotonic())"
CALL = f"""
import time
from hermes_tools import answer
answer()
taken = []
for _ in range({CALLS}):
    began = time.perf_counter()
    answer()
    taken.append(time.perf_counter() - began)
print(*taken)
"""


def rows() -> Iterator[Row]:
    discover_builtin()
    yield from _inspecting()
    with tempfile.TemporaryDirectory() as folder, LocalEnvironment(folder) as environment:
        yield from _scripts(_road(environment))


def _inspecting() -> Iterator[Row]:
    what = f"inspect_variable, DataFrame of {ROWS:,} rows"
    if find_spec("pandas") is None:
        yield Row(what=what, target=50, unit="ms", detail="pandas is not installed")
        return
    import numpy
    import pandas

    numbers = numpy.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "id": numpy.arange(ROWS),
            "price": numbers.random(ROWS),
            "name": pandas.Series(["x"] * ROWS, dtype=object),
        }
    )
    taken = spread([_inspect(frame) for _ in range(15)], 1e3)
    yield Row(what=what, value=taken.median, unit="ms", target=50, detail=taken.detail("ms"))
    tracemalloc.start()
    _inspect(frame)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    yield Row(what="the same, memory that it needs", value=peak, unit="MB", target=5)


class _Live:
    """Stands for the kernel of a notebook."""

    def __init__(self, **variables: Any) -> None:
        self._variables = variables

    def namespace(self) -> dict[str, Any]:
        return self._variables


def _inspect(frame: Any) -> float:
    began = time.perf_counter()
    answer = registry.dispatch("inspect_variable", {"name": "df"}, live=_Live(df=frame))
    seconds = time.perf_counter() - began
    assert json.loads(answer)["shape"][0] == ROWS
    return seconds


def _scripts(road: Road) -> Iterator[Row]:
    starts = []
    for _ in range(SCRIPTS):
        began = time.monotonic()
        starts.append(float(_output(road, START)) - began)
    taken = spread(starts, 1e3)
    yield Row(
        what="execute_code, until its script runs",
        value=taken.median,
        unit="ms",
        target=60,
        detail=taken.detail("ms"),
        theirs="hermes-agent 0.19.0: 53 ms in all, first 952 ms (quoted)",
    )
    calls = spread([float(each) for each in _output(road, CALL).split()], 1e3)
    yield Row(
        what="tool call from a script",
        value=calls.median,
        unit="ms",
        target=1,
        detail=calls.detail("ms"),
        theirs="hermes-agent 0.19.0: 4.4 ms (quoted)",
    )


def _road(environment: LocalEnvironment) -> Road:
    tools = ToolRegistry()
    entry = registry.get_entry("execute_code")
    assert entry is not None
    overlay = {"execute_code": entry}
    tools.register("answer", "bench", {}, lambda args, **_: tool_result(n=1))
    return Road(
        tools=tools.view(overlay=overlay),
        desk=ApprovalDesk(),
        policy=Policy("off"),
        emit=lambda event: None,
        context={"environment": environment, "cwd": str(Path.cwd())},
    )


def _output(road: Road, code: str) -> str:
    call = ToolCall(id="bench", name="execute_code", args={"code": code})
    text = asyncio.run_coroutine_threadsafe(road.run(call), loop_thread().loop).result().text
    answer = json.loads(text)
    if answer.get("error"):
        raise RuntimeError(f"the script failed: {text[:300]}")
    return str(answer["output"])
