"""Results come into the transcript once for each step, whatever happens."""

import asyncio

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.testing import ScriptedModel, call


def agent_for(turn, *replies, window=0):
    road = turn.road()
    return Agent(
        model=ScriptedModel(*replies, window=window),
        road=road,
        definitions=road.tools.definitions(),
        emit=turn.emit,
        budget=Budget(90),
        transcript=[],
        cwd=lambda: str(turn.folder),
    )


def results(agent):
    return [message["content"] for message in agent.transcript if message["role"] == "tool"]


def test_the_calls_of_a_step_share_its_ceiling_though_they_run_one_after_the_other(turn):
    turn.tool("flood", lambda args, **_: "x" * 9_000)  # unknown effects: each runs alone
    calls = [call("flood", n=number) for number in range(4)]
    agent = agent_for(turn, tuple(calls), "done", window=8_192)
    asyncio.run(agent.run("go"))
    sizes = [len(text) for text in results(agent)]
    assert sum(sizes) <= 16_000
    assert max(sizes) - min(sizes) < 10


def test_an_interrupt_while_results_are_shortened_loses_none(turn, monkeypatch):
    turn.tool("echo", lambda args, **_: "it has run")
    agent = agent_for(turn, (call("echo"),), "never")

    async def main():
        shortening = asyncio.Event()

        async def for_ever(results):
            shortening.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(agent._reading, "messages", for_ever)
        running = asyncio.create_task(agent.run("go"))
        await shortening.wait()
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(main())
    assert results(agent) == ["it has run"]
