"""What one agent may call: a fixed choice of tools."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.registry import ToolEntry, ToolRegistry, tool_result

NAMES = ["clarify", "look", "send", "write"]


def says(text):
    return lambda args, **_: tool_result(said=text)


def entry(name, text="overlay", toolset="own"):
    return ToolEntry(name=name, toolset=toolset, schema={}, handler=says(text))


def made(*names, text="catalog"):
    registry = ToolRegistry()
    for name in names or NAMES:
        registry.register(name, "all", {"description": f"{name}s"}, says(text), emoji="👀")
    return registry


def said(view, name):
    return json.loads(view.dispatch(name, {})).get("said")


@pytest.mark.parametrize(
    ("allow", "deny", "expected"),
    [
        (None, (), NAMES),
        ((), (), []),
        (["look", "send"], (), ["look", "send"]),
        (["look", "unknown"], (), ["look"]),
        (None, ["look"], ["clarify", "send", "write"]),
        (["look", "send"], ["look"], ["send"]),
        (frozenset(NAMES), dict.fromkeys(NAMES), []),
    ],
)
def test_a_view_holds_what_is_allowed_and_not_denied(allow, deny, expected):
    view = made().view(allow, deny)
    assert view.get_all_tool_names() == expected
    assert view.names == set(expected)
    assert view.withheld == set(NAMES) - set(expected)


def test_a_tool_out_of_view_does_not_exist_for_it():
    view = made().view(allow=["look"])
    assert view.get_entry("write") is None
    assert view.get_schema("write") is None
    assert json.loads(view.dispatch("write", {})) == {"error": "Unknown tool: write"}
    assert "Unknown tool" in asyncio.run(view.adispatch("write", {}))
    assert view.get_emoji("write") == "⚡"


def test_a_tool_in_view_is_described_and_called_as_from_the_registry():
    registry = made()
    view = registry.view(allow=["look"])
    assert view.get_entry("look") is registry.get_entry("look")
    assert view.get_schema("look")["description"] == "looks"
    assert (view.get_emoji("look"), view.get_max_result_size("look")) == ("👀", 100_000)
    assert said(view, "look") == "catalog"
    assert json.loads(asyncio.run(view.adispatch("look", {}))) == {"said": "catalog"}


def test_the_context_reaches_the_handler():
    registry = ToolRegistry()
    registry.register("tell", "t", {}, lambda args, **context: tool_result(context))
    assert json.loads(registry.view().dispatch("tell", {}, cwd="/")) == {"cwd": "/"}


def test_a_view_stays_as_it_was():
    registry = made()
    view = registry.view()
    registry.register("late", "all", {}, says("late"))
    registry.register("look", "all", {}, says("changed"))
    registry.deregister("send")
    assert view.get_all_tool_names() == NAMES
    assert (said(view, "look"), said(view, "send")) == ("catalog", "catalog")
    assert registry.generation == view.generation + 3


def test_nothing_can_be_added_to_a_view():
    view = made().view()
    with pytest.raises(TypeError):
        view._tools["more"] = entry("more")
    assert not hasattr(view, "register")


@pytest.mark.parametrize("kind", ["mapping", "registry", "view"])
def test_an_overlay_adds_tools_and_wins_over_namesakes(kind):
    own = {"look": entry("look"), "query": entry("query")}
    if kind != "mapping":
        registered = made("look", "query", text="overlay")
        own = registered if kind == "registry" else registered.view()
    registry = made()
    view = registry.view(overlay=own)
    assert view.names == {*NAMES, "query"}
    assert (said(view, "look"), said(view, "query")) == ("overlay", "overlay")
    assert said(registry, "look") == "catalog"
    assert registry.get_entry("query") is None
    assert registry.view().names == set(NAMES)


def test_a_deny_wins_over_an_overlay():
    view = made().view(deny=["look", "query"], overlay={"look": entry("look")})
    assert view.names == {"clarify", "send", "write"}
    assert "look" in view.withheld


def test_what_is_not_allowed_comes_by_no_overlay():
    view = made().view(allow=["look"], overlay={"query": entry("query")})
    assert view.names == {"look"}
    assert "query" in view.withheld


NAME_SETS = st.frozensets(st.sampled_from([*NAMES, "unknown"]))


@given(NAME_SETS, NAME_SETS, st.none() | NAME_SETS, NAME_SETS)
def test_a_child_never_has_more_than_its_parent(allow, deny, child_allow, child_deny):
    parent = made().view(allow, deny)
    child = parent.restrict(child_allow, child_deny)
    assert child.names <= parent.names
    assert not child.names & child_deny
    assert child_allow is None or child.names <= child_allow
    assert child.names | child.withheld == set(NAMES)
    assert child.generation == parent.generation


@pytest.mark.parametrize("words", [{"allow": "look"}, {"deny": "look"}])
def test_a_single_text_is_not_taken_for_a_collection_of_letters(words):
    with pytest.raises(TypeError, match="collection of names"):
        made().view(**words)


def test_definitions_are_made_once_and_in_order():
    view = made("b", "a").view()
    definitions = view.definitions()
    assert [each["function"]["name"] for each in definitions] == ["a", "b"]
    assert view.definitions() is definitions
    definitions[0]["function"]["description"] = "spoiled"
    assert view.get_schema("a")["description"] == "as"


def test_a_view_of_many_tools_is_quickly_made():
    registry = made(*(f"tool_{number}" for number in range(5_000)))
    began = time.perf_counter()
    registry.view().restrict(registry.get_all_tool_names(), ["tool_1"])
    assert time.perf_counter() - began < 0.2
