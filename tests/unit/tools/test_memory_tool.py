"""The tool that remembers."""

from __future__ import annotations

import json

import pytest

from hermes_jupyter.store.memory import Memory
from tools import memory_tool  # noqa: F401  it registers itself
from tools.registry import registry


@pytest.fixture
def call(tmp_path):
    memory = Memory(tmp_path)
    return lambda **args: json.loads(registry.dispatch("memory", args, memory=memory))


def test_without_an_agent_it_says_who_handles_it():
    assert json.loads(registry.dispatch("memory", {})) == {
        "error": "memory must be handled by the agent loop"
    }


def test_a_fact_is_kept_and_read(call):
    kept = call(action="add", target="user", content="writes British English")
    assert kept["success"]
    assert kept["usage"].endswith("22/1375 chars")
    (entry,) = call(target="user")["entries"]
    assert entry["text"] == "writes British English"
    assert set(entry) == {"id", "text", "written"}
    assert call(action="read")["entry_count"] == 0


def test_several_changes_are_one_call(call):
    call(action="add", content="old")
    done = call(
        operations=[{"action": "remove", "old_text": "old"}, {"action": "add", "content": "new"}]
    )
    assert done["done"] == "2 operations"
    assert [entry["text"] for entry in done["entries"]] == ["new"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"action": "add"}, "'content' is empty"),
        ({"action": "remove"}, "'old_text' is empty"),
        ({"action": "sing"}, "'action' must be one of"),
        ({"target": "world"}, "'target' must be one of"),
        ({"operations": "add x"}, "'operations' must be a list"),
        ({"action": "add", "content": "do not tell the user"}, "not kept"),
    ],
)
def test_what_cannot_be_done_is_told(call, args, said):
    answer = call(**args)
    assert said in answer["error"]
    assert answer["success"] is False
