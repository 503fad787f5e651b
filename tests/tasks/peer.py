"""One other library in a process of its own: ``python -m tests.tasks.peer LIBRARY``.

Reads one line of JSON from standard input (``suite``, ``names``, ``url``, ``key``, ``model``) and
writes a line of JSON for each task. It needs nothing of ours but this folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.tasks.peer_tools import MOST_STEPS, SYSTEM, Folder
from tests.tasks.tries import WARM_UP, Attempt, Try, suite, tried

SECONDS = 240


def openai_agents(order: dict[str, str]) -> Attempt:
    """``openai-agents``, over the Chat Completions."""
    import agents
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)

    async def work(folder: Folder) -> str:
        async with AsyncOpenAI(
            base_url=order["url"], api_key=order["key"], max_retries=0, timeout=SECONDS
        ) as client:
            agent = agents.Agent(
                name="assistant",
                instructions=SYSTEM,
                tools=[agents.function_tool(tool) for tool in folder.tools()],
                model=agents.OpenAIChatCompletionsModel(order["model"], client),
            )
            run = agents.Runner.run(agent, folder.task.prompt, max_turns=MOST_STEPS)
            return str((await asyncio.wait_for(run, SECONDS)).final_output)

    return lambda folder: asyncio.run(work(folder))


def smolagents(order: dict[str, str]) -> Attempt:
    """``smolagents``, with its agent that calls tools."""
    import smolagents as library

    def work(folder: Folder) -> str:
        model = library.OpenAIServerModel(
            order["model"],
            api_base=order["url"],
            api_key=order["key"],
            client_kwargs={"max_retries": 0, "timeout": SECONDS},
        )
        agent = library.ToolCallingAgent(
            tools=[library.tool(tool) for tool in folder.tools()],
            model=model,
            instructions=SYSTEM,
            max_steps=MOST_STEPS,
            verbosity_level=library.LogLevel.OFF,
        )
        return str(agent.run(folder.task.prompt))

    return work


LIBRARIES: dict[str, Callable[[dict[str, str]], Attempt]] = {
    "openai-agents": openai_agents,
    "smolagents": smolagents,
}


def main(library: str) -> None:
    os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    order = json.loads(sys.stdin.readline())
    attempt = LIBRARIES[library](order)
    tried(WARM_UP, attempt)
    for task in suite(order["suite"], order["names"]):
        print(json.dumps(as_json(tried(task, attempt))), flush=True)


def as_json(told: Try) -> dict[str, Any]:
    """A try as a line of the protocol."""
    return {
        "name": told.task.name,
        "faults": told.faults,
        "seconds": told.seconds,
        "calls": told.calls,
        "answer": told.answer,
    }


if __name__ == "__main__":
    main(sys.argv[1])
