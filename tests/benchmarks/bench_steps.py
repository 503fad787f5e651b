"""What the harness costs for each step of a turn: all but the model and the tool."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tests.benchmarks.rows import Row
from tools.registry import ToolRegistry, tool_result

STEPS = 1_000
WARM = 5
EDGE = 100
PARAMETERS = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def rows() -> Iterator[Row]:
    command = [sys.executable, "-m", "tests.benchmarks.instant_model"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        cpu = asyncio.run(steps(url))
        assert process.stdin is not None
        process.stdin.close()
    first, last = mean(cpu[:EDGE]), mean(cpu[-EDGE:])
    yield Row(
        what="harness CPU for each step, 50 steps",
        value=mean(cpu[:50]) * 1e3,
        unit="ms",
        target=1.5,
        theirs="openai 7.7, pydantic-ai 10.8, openai-agents 12.2, hermes-agent 36.8 ms (quoted)",
    )
    yield Row(
        what=f"the last {EDGE} of {STEPS:,} steps, against the first {EDGE}",
        value=last / first,
        unit="times",
        target=1.2,
        detail=f"{first * 1e3:.2f} and {last * 1e3:.2f} ms",
    )


async def steps(url: str) -> list[float]:
    """CPU seconds of this process from each run of the tool to the next."""
    marks: list[float] = []

    def ping(args: dict[str, Any], **_: Any) -> str:
        marks.append(time.process_time())
        return tool_result(ok=args["x"])

    tools = ToolRegistry()
    schema = {"description": "Answer pong.", "parameters": PARAMETERS}
    tools.register("ping", "bench", schema, ping, effects="read")
    for count in (WARM, STEPS):
        marks.clear()
        await turn(tools, OpenAIModel(f"ping@{count}", base_url=url))
    return [after - before for before, after in itertools.pairwise(marks)]


async def turn(tools: ToolRegistry, model: OpenAIModel) -> None:
    road = Road(
        tools=tools.view(),
        desk=ApprovalDesk(),
        policy=Policy(),
        emit=lambda event: None,
        context={"cwd": "/"},
        tool_timeout=30.0,
    )
    agent = Agent(
        model=model,
        road=road,
        definitions=road.tools.definitions(),
        emit=lambda event: None,
        budget=Budget(STEPS + 1),
        transcript=[{"role": "system", "content": "You are brief. " * 50}],
        cwd=lambda: "/",
    )
    outcome = await agent.run("go")
    assert outcome.text == "done", outcome
    await model.close()


def mean(values: list[float]) -> float:
    return sum(values) / len(values)
