import json

import pytest

from hermes_jupyter.agent.tool_search.bridge import NAMES, Finder, bridge
from hermes_jupyter.agent.tool_search.deferral import BRIDGE_TOKENS, tokens_of
from tools.registry import ToolRegistry


@pytest.fixture
def finder():
    registry = ToolRegistry()
    for number in range(40):
        parameters = {"type": "object", "properties": {"order": {"type": "integer"}}}
        schema = {"description": f"Ship order {number}. " * 60, "parameters": parameters}
        registry.register(f"ship_{number}", f"mcp-{number % 20}", schema, lambda args, **_: "x")
    return Finder(registry.entries())


def answer(text):
    return json.loads(text)


def test_a_search_tells_names_sources_and_short_descriptions(finder):
    found = answer(finder.search({"query": "ship 7", "limit": 3}))
    first = found["matches"][0]
    assert (first["name"], first["source"]) == ("ship_7", "mcp-7")
    assert len(first["description"]) <= 400
    assert (found["query"], found["total_available"]) == ("ship 7", 40)


@pytest.mark.parametrize(("limit", "expected"), [(None, 5), (0, 1), (-3, 1), (500, 20)])
def test_the_number_of_matches_has_bounds(finder, limit, expected):
    args = {"query": "ship order"} | ({} if limit is None else {"limit": limit})
    assert len(answer(finder.search(args))["matches"]) == expected


def test_a_search_without_matches_says_what_there_is(finder):
    found = answer(finder.search({"query": "zzzz"}))
    assert found["matches"] == []
    assert "mcp-0 (2)" in found["hint"]


def test_a_tool_is_described_whole(finder):
    told = answer(finder.describe({"name": "Ship-3"}))
    assert told["name"] == "ship_3"
    assert len(told["description"]) > 400
    assert told["parameters"]["properties"] == {"order": {"type": "integer"}}


def test_an_unknown_tool_is_answered_with_near_ones(finder):
    assert "Did you mean ship_39" in answer(finder.describe({"name": "ship_order_39"}))["error"]
    assert "tool_search" in answer(finder.describe({"name": "zzzz"}))["error"]


def test_the_bridge_is_short_and_says_what_it_leads_to(finder):
    tools = bridge(finder, finder.tools)
    assert tuple(tool.name for tool in tools) == NAMES
    assert sum(tokens_of(tool.definition()) for tool in tools) <= BRIDGE_TOKENS
    assert "40 more" in tools[0].description
    assert "mcp-0 (2)" in tools[0].description
    assert {tool.effects for tool in tools} == {"read"}


def test_long_names_of_kinds_do_not_make_it_long():
    registry = ToolRegistry()
    for number in range(100):
        registry.register(f"t{number}", f"{number} " + "k" * 500, {}, lambda args, **_: "x")
    tools = bridge(Finder(registry.entries()), registry.entries())
    assert sum(tokens_of(tool.definition()) for tool in tools) <= BRIDGE_TOKENS


def test_searching_two_views_does_not_mix_them(finder):
    few = Finder(finder.tools[:3])
    assert answer(few.search({"query": "ship"}))["total_available"] == 3
