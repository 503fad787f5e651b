"""Agents of one process, each with tools of its own, at the same time."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.events import NoticeGiven
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions
from tools.registry import ToolRegistry, tool_result


@pytest.fixture
def hermes(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1"))
    yield made
    asyncio.run(made.close())


def answers_of(transcript):
    return [json.loads(m["content"]) for m in transcript if m["role"] == "tool"]


def agent_for(view, model):
    def emit(event):
        pass

    road = Road(tools=view, desk=ApprovalDesk(), policy=Policy(), emit=emit, context={})
    return Agent(
        model=model,
        road=road,
        definitions=view.definitions(),
        emit=emit,
        budget=Budget(9),
        transcript=[],
        cwd=lambda: "/",
    )


def test_two_agents_with_a_tool_of_one_name_each_get_their_own():
    registry, meeting = ToolRegistry(), threading.Barrier(2, timeout=10)

    def who(name):
        def handler(args, **_):
            meeting.wait()
            return tool_result(who=name)

        own = ToolRegistry()
        own.register("who", name, {}, handler)
        return own

    registry.register("secret", "all", {}, lambda args, **_: "told")
    names = ["ada", "bob"]
    views = [registry.view(allow=["who"], overlay=who(name)) for name in names]
    models = [ScriptedModel((call("who"), call("secret")), (call("who", n=2),), "x") for _ in names]
    agents = [agent_for(view, model) for view, model in zip(views, models, strict=True)]

    async def together():
        return await asyncio.gather(*(agent.run("go") for agent in agents))

    assert [outcome.text for outcome in asyncio.run(together())] == ["x", "x"]
    for name, agent in zip(names, agents, strict=True):
        first, secret, second = answers_of(agent.transcript)
        assert first == second == {"who": name}
        assert "There is no tool 'secret'" in secret["error"]


def test_a_tool_that_calls_tools_finds_those_of_its_own_agent():
    registry = ToolRegistry()
    registry.register("secret", "all", {}, lambda args, **_: "told")
    registry.register("plain", "all", {}, lambda args, **_: tool_result(plain=True))

    def script(args, tools, **_):
        answers = (tools.dispatch(name, {}) for name in ("plain", "secret"))
        return tool_result([*map(json.loads, answers), sorted(tools.names)])

    registry.register("script", "all", {}, script)
    agent = agent_for(registry.view(deny=["secret"]), ScriptedModel(call("script"), "done"))
    asyncio.run(agent.run("go"))
    (answer,) = answers_of(agent.transcript)
    assert answer == [{"plain": True}, {"error": "Unknown tool: secret"}, ["plain", "script"]]


def run(hermes, session, *replies, **options):
    hermes.model = lambda settings: ScriptedModel(*replies)
    return hermes.turn("go", session=session, options=TurnOptions(**options), listeners=[])


def test_a_session_has_tools_that_another_has_not(hermes):
    session, other = hermes.session("one"), hermes.session("two")
    session.overlay.register("mine", "own", {}, lambda args, **_: tool_result(mine=True))
    for each in (session, other):
        asyncio.run(run(hermes, each, call("mine"), "done"))
    assert answers_of(session.transcript) == [{"mine": True}]
    assert "There is no tool 'mine'" in answers_of(other.transcript)[0]["error"]


@pytest.mark.parametrize(
    ("options", "has_it"),
    [({}, True), ({"tools": ("own",)}, True), ({"tools": ("mine",)}, True),
     ({"tools": ("todo",)}, False), ({"no_tools": True}, False)],
)  # fmt: skip
def test_the_choice_of_a_turn_holds_for_the_sessions_own_tools_too(hermes, options, has_it):
    session = hermes.session()
    session.overlay.register("mine", "own", {}, lambda args, **_: tool_result(mine=True))
    asyncio.run(run(hermes, session, call("mine"), "done", **options))
    assert ("mine" in answers_of(session.transcript)[0]) is has_it


def test_a_disabled_tool_does_not_come_back_as_one_of_the_session(hermes):
    hermes.settings = replace(hermes.settings, disabled=("terminal",))
    session = hermes.session()
    session.overlay.register("terminal", "own", {}, lambda args, **_: tool_result(ran=True))
    asyncio.run(run(hermes, session, call("terminal", command="ls"), "done"))
    assert "There is no tool 'terminal'" in answers_of(session.transcript)[0]["error"]


def test_what_is_registered_during_a_turn_waits_for_the_next_one(hermes):
    session = hermes.session()

    def add(args, **_):
        session.overlay.register("late", "own", {}, lambda args, **_: tool_result(late=True))
        return tool_result(added=True)

    session.overlay.register("add", "own", {}, add)
    asyncio.run(run(hermes, session, call("add"), call("late"), "done"))
    asyncio.run(run(hermes, session, call("late"), "done"))
    added, unknown, late = answers_of(session.transcript)
    assert added == {"added": True}
    assert "There is no tool" in unknown["error"]
    assert late == {"late": True}


@pytest.mark.parametrize(("frontend", "has_it"), [("policy", False), ("input", True)])
def test_where_nobody_can_be_asked_no_tool_asks(hermes, frontend, has_it):
    hermes.settings = replace(hermes.settings, frontend=frontend)
    assert ("clarify" in hermes.usable(hermes.settings).names) is has_it
    named = replace(hermes.settings, toolsets=("clarify",))
    assert hermes.usable(named).names == {"clarify"}


def test_a_toolset_that_is_understood_and_not_here_is_told_of_once(hermes):
    events = []
    for _ in range(2):
        hermes.model = lambda settings: ScriptedModel("done")
        options = TurnOptions(tools=("tts_tools", "todo"))
        asyncio.run(
            hermes.turn("go", session=hermes.session(), options=options, listeners=[events.append])
        )
    told = [event.text for event in events if isinstance(event, NoticeGiven)]
    assert told == ["there are no tools here for tts_tools"]
