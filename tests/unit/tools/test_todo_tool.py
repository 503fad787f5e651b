"""The list of things to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools import todo_tool  # noqa: F401  it registers itself
from tools.registry import registry


def call(stored: list[dict[str, str]], /, **args: Any) -> dict[str, Any]:
    return json.loads(registry.dispatch("todo", args, todos=stored))


def item(name: str, status: str = "pending", content: str = "do it") -> dict[str, str]:
    return {"id": name, "content": content, "status": status}


def test_without_an_agent_it_says_who_handles_it():
    assert json.loads(registry.dispatch("todo", {})) == {
        "error": "todo must be handled by the agent loop"
    }


def test_items_are_stored_in_the_sessions_list_and_counted():
    todos: list[dict[str, str]] = [item("old")]
    answer = call(todos, todos=[item("a", "completed"), item("b")])
    assert answer["todos"] == todos == [item("a", "completed"), item("b")]
    assert answer["summary"] == {
        "total": 2, "pending": 1, "in_progress": 0, "completed": 1, "cancelled": 0,
    }  # fmt: skip


def test_without_todos_the_list_is_read():
    assert call([item("a")])["todos"] == [item("a")]


def test_merging_updates_by_id_and_adds():
    todos = [item("a"), item("b")]
    call(todos, todos=[{"id": "b", "status": "completed"}, item("c")], merge=True)
    assert todos == [item("a"), item("b", "completed"), item("c")]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ([item("a", "started")], "Item 1 (id 'a'): status 'started'"),
        ([item("a"), item("b", content="")], "Item 2 (id 'b') needs content"),
        ([item("a", content="x" * 4_001)], "4001 characters"),
        ([item("a"), item("a")], "Item 2: id 'a' is there twice"),
        ([{"content": "x"}], "Item 1 needs an id"),
        (["buy milk"], "Item 1 must be an object"),
        ("buy milk", "'todos' must be a list"),
        ([item(str(number)) for number in range(257)], "257 items"),
        ([item("a", status=["pending"])], "status ['pending']"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_item_is_named_and_nothing_changes(given, named):
    todos = [item("kept")]
    assert named in call(todos, todos=given)["error"]
    assert todos == [item("kept")]
