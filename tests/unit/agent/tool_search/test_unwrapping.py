import json

import pytest

from hermes_jupyter.agent.checks import check
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.tool_search.bridge import Finder, bridge
from hermes_jupyter.agent.tool_search.unwrapping import unwrapped
from tools.registry import ToolRegistry

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}


@pytest.fixture
def view():
    registry = ToolRegistry()
    for name in ("erase", "rename", "search_files"):
        registry.register(name, "mine", {"parameters": PARAMETERS}, lambda args, **_: "x")
    tools = bridge(Finder(registry.entries()), registry.entries())
    return registry.view(overlay={tool.name: tool for tool in tools})


def called(view, arguments, name="tool_call", withheld=()):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    known = {e.name: e.schema["parameters"]["properties"].keys() for e in view.entries()}

    def passed(raw):
        return check(raw, view.names, withheld=withheld, parameters=known, shown=["tool_search"])

    return unwrapped(passed(RawCall(id="7", name=name, arguments=text)), view, passed)


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "erase", "arguments": {"path": "a"}},
        {"name": "erase", "arguments": '{"path": "a"}'},
        {"name": "erase", "arguments": "{'path': 'a',}"},
        {"name": "functions.Erase", "arguments": {"path": "a"}},
        {"name": "erase", "arguments": {"arguments": {"path": "a"}}},
        "{'name': 'erase', 'arguments': {'path': 'a'}}",
    ],
)
def test_the_real_call_comes_out(view, arguments):
    call = called(view, arguments)
    assert (call.id, call.name, call.args, call.error) == ("7", "erase", {"path": "a"}, "")


@pytest.mark.parametrize("name", ["toolCall", "functions.tool_call", "tool-call", "TOOL_CALL"])
def test_the_bridge_has_its_own_slips(view, name):
    assert called(view, {"name": "erase", "arguments": {}}, name).name == "erase"


def test_a_search_in_any_spelling_is_no_other_search(view):
    for name in ("ToolSearch", "tool.search", "functions.tool_search"):
        assert called(view, {"query": "x"}, name).name == "tool_search"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "needs the name"),
        ({"name": 3, "arguments": {}}, "needs the name"),
        ({"name": "erase", "path": "a"}, "put what belongs to erase into arguments: path"),
        ({"name": "erase", "arguments": [1]}, "must be an object"),
        ({"name": "erase", "arguments": 7}, "must be an object"),
        ({"name": "tool_call", "arguments": {"name": "erase", "arguments": {}}}, "call itself"),
        ({"name": "ToolCall", "arguments": {}}, "call itself"),
        ('{"name": "erase", "arguments": {', "are not valid JSON"),
    ],
)
def test_a_wrong_wrapping_is_the_mistake_of_the_bridge(view, arguments, says):
    call = called(view, arguments)
    assert call.name == "tool_call"
    assert says in call.error
    assert call.mistake in call.error


def test_wrong_arguments_are_the_mistake_of_the_real_tool(view):
    call = called(view, {"name": "erase", "arguments": '{"path": "a'})
    assert call.name == "erase"
    assert "The arguments of erase are not valid JSON" in call.mistake


def test_an_unknown_tool_is_answered_with_near_ones_and_the_search(view):
    call = called(view, {"name": "rename_file_now", "arguments": {}})
    assert "There is no tool 'rename_file_now'" in call.error
    assert "tool_search finds them" in call.error


def test_a_withheld_tool_cannot_be_reached(view):
    assert "There is no tool 'format'" in called(
        view, {"name": "format", "arguments": {}}, withheld={"format"}
    ).error  # fmt: skip


def test_without_a_bridge_a_tool_of_that_name_is_a_tool_like_others():
    registry = ToolRegistry()
    registry.register("tool_call", "mine", {}, lambda args, **_: "x")
    call = called(registry.view(), {"name": "erase"})
    assert (call.name, call.args) == ("tool_call", {"name": "erase"})
