"""What a session's model is shown, and an agent with more tools than it can be shown."""

import asyncio
import json
from dataclasses import replace

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.tool_search.arrangement import ToolSearch
from hermes_jupyter.agent.tool_search.bridge import NAMES
from hermes_jupyter.agent.tool_search.deferral import Limits, tokens_of
from hermes_jupyter.events import ApprovalRequested, ToolCallFinished
from hermes_jupyter.testing import ScriptedModel, call
from tools.registry import ToolRegistry, tool_result

LIMITS = Limits(window=32_000, share=10)
TEXT = {"type": "object", "properties": {"text": {"type": "string", "description": "x " * 40}}}


@pytest.fixture
def many(turn, erased):
    """Three hundred tools, and a guarded one called ``erase`` that nobody ever used."""
    for number in range(300):
        turn.tool(f"chat_{number:03}", lambda args, **_: tool_result(args), parameters=TEXT)
    return turn


def arranged(tools, search=None, limits=LIMITS, **used):
    return (search or ToolSearch()).arrange(tools, limits, lambda: used)


def shown(arrangement):
    return [definition["function"]["name"] for definition in arrangement.definitions]


def agent_for(turn, model):
    arrangement = arranged(turn.registry.view())
    return Agent(
        model=model,
        road=replace(turn.road(), tools=arrangement.tools),
        definitions=arrangement.definitions,
        emit=turn.emit,
        budget=Budget(9),
        transcript=[],
        cwd=lambda: str(turn.folder),
    )


def answers(agent):
    return [json.loads(m["content"]) for m in agent.transcript if m["role"] == "tool"]


def written(agent):
    calls = [one for m in agent.transcript for one in m.get("tool_calls") or ()]
    return [(one["function"]["name"], one["function"]["arguments"]) for one in calls]


def wrapped(name, arguments):
    return call("tool_call", name=name, arguments=arguments)


def test_few_tools_are_shown_as_they_are(turn, erased):
    view = turn.registry.view()
    arrangement = arranged(view)
    assert arrangement.tools.names == view.names == {"erase"}
    assert shown(arrangement) == ["erase"]


def test_of_many_tools_a_part_is_shown_and_all_may_be_called(many):
    arrangement = arranged(many.registry.view())
    assert shown(arrangement)[-3:] == list(NAMES)
    assert arrangement.tools.names == {*many.registry.get_all_tool_names(), *NAMES}
    assert sum(map(tokens_of, arrangement.definitions)) <= LIMITS.tokens


def test_the_choice_stays_whatever_is_used_meanwhile(many):
    search = ToolSearch()
    first = arranged(many.registry.view(), search)
    again = arranged(many.registry.view(), search, erase=100)
    assert again.definitions == first.definitions


def test_a_turn_with_other_tools_in_between_changes_nothing(many):
    search = ToolSearch()
    first = arranged(many.registry.view(), search)
    assert arranged(many.registry.view(allow=["erase"]), search).tools.names == {"erase"}
    assert arranged(many.registry.view(allow=[]), search).definitions == ()
    assert arranged(many.registry.view(), search, erase=9).definitions == first.definitions


def test_a_new_tool_moves_no_other(many):
    search = ToolSearch()
    before = shown(arranged(many.registry.view(), search))
    many.tool("aaa", lambda args, **_: "x", parameters=TEXT)
    after = shown(arranged(many.registry.view(), search))
    assert set(before) <= set(after)


def test_the_choice_is_made_anew_for_another_limit(many):
    search = ToolSearch()
    arranged(many.registry.view(), search)
    narrow = Limits(window=32_000, share=10, tool_limit=20)
    assert len(shown(arranged(many.registry.view(), search, narrow))) == 20


@pytest.mark.parametrize(("window", "stays"), [(200_000, True), (16_000, False)])
def test_a_window_that_becomes_known_changes_only_what_does_not_fit(many, window, stays):
    search = ToolSearch()
    first = shown(arranged(many.registry.view(), search, Limits()))
    later = shown(arranged(many.registry.view(), search, Limits(window=window)))
    assert (later == first) is stays


def test_a_tool_of_the_same_name_is_not_hidden(many):
    many.tool("tool_call", lambda args, **_: "x")
    assert len(shown(arranged(many.registry.view()))) == 302


def test_a_child_with_fewer_tools_finds_no_others(many):
    parent = arranged(many.registry.view()).tools
    child = parent.restrict(deny=["chat_007"])
    asked = {"query": "chat_007", "limit": 20}
    for tools in (child, arranged(child).tools):
        found = json.loads(tools.get_entry("tool_search").handler(asked, tools=tools))
        assert found["total_available"] == 300
        assert "chat_007" not in [match["name"] for match in found["matches"]]


def test_a_deferred_tool_is_found_described_and_run_with_its_guard(many, erased):
    many.decision = "once"
    model = ScriptedModel(
        call("tool_search", query="erase"),
        call("tool_describe", name="erase"),
        wrapped("erase", {"path": "a"}),
        "done",
    )
    agent = agent_for(many, model)
    assert asyncio.run(agent.run("go")).text == "done"
    assert erased == ["a"]
    found, described, ran = answers(agent)
    assert found["matches"][0]["name"] == described["name"] == "erase"
    assert ran == {"erased": "a"}
    (asked,) = many.of(ApprovalRequested)
    assert (asked.request.call.name, asked.request.call.args) == ("erase", {"path": "a"})
    assert "erase" not in [tool["function"]["name"] for tool in model.requests[0].tools]
    assert sum(map(tokens_of, model.requests[0].tools)) <= LIMITS.tokens


def test_the_transcript_keeps_what_the_model_wrote(many):
    agent = agent_for(many, ScriptedModel(wrapped("chat_250", {"text": "hi"}), "done"))
    asyncio.run(agent.run("go"))
    ((name, arguments),) = written(agent)
    assert name == "tool_call"
    assert json.loads(arguments) == {"name": "chat_250", "arguments": {"text": "hi"}}
    (event,) = many.of(ToolCallFinished)
    assert (event.result.call.name, event.result.args) == ("chat_250", {"text": "hi"})


def test_a_denial_holds_for_the_real_tool(many, erased):
    agent = agent_for(many, ScriptedModel(wrapped("erase", {"path": "a"}), "done"))
    asyncio.run(agent.run("go"))
    assert erased == []
    assert answers(agent)[0]["status"] == "denied"


def test_a_deferred_tool_called_by_its_name_is_served(many):
    agent = agent_for(many, ScriptedModel(call("chat_250", text="hi"), "done"))
    asyncio.run(agent.run("go"))
    assert answers(agent) == [{"text": "hi"}]


def test_the_same_call_in_two_forms_runs_once(many, erased):
    many.decision = "once"
    both = (wrapped("erase", {"path": "a"}), call("erase", path="a"))
    agent = agent_for(many, ScriptedModel(both, "done"))
    asyncio.run(agent.run("go"))
    assert erased == ["a"]


def test_wrong_arguments_are_tries_of_the_real_tool(many):
    wrong = [wrapped("erase", {"path": number}) for number in ({}, [], {"a": 1})]
    model = ScriptedModel(*wrong)
    outcome = asyncio.run(agent_for(many, model).run("go"))
    assert "Invalid arguments for erase" in outcome.reason
    assert len(model.requests) == 3


def test_a_view_of_its_own_is_all_that_an_agent_can_search(many):
    hidden = ToolRegistry()
    hidden.register("secret", "x", {"description": "secret"}, lambda args, **_: "x")
    agent = agent_for(many, ScriptedModel(call("tool_search", query="secret"), "done"))
    asyncio.run(agent.run("go"))
    assert answers(agent)[0]["matches"] == []
