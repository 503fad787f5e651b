"""Whatever a model writes and a tool does: a result every time, never an exception."""

import asyncio
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_jupyter.agent.checks import checked
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tools.registry import ToolRegistry

ANY_TEXT = st.text(st.characters(), max_size=200)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)
PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": ["integer", "null"], "minimum": 0},
        "flags": {"type": "array", "items": {"type": "boolean"}},
        "tree": {"$ref": "#/$defs/node"},
        "mode": {"enum": ["fast", "slow", 3, None]},
        "either": {"anyOf": [{"type": "number"}, {"type": "object"}]},
    },
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
    "required": ["text"],
}
NAMES = ["text", "count", "flags", "tree", "mode", "either"]
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES) | ANY_TEXT, ANY_JSON, max_size=5)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def road(handler, **about):
    registry = ToolRegistry()
    registry.register("tool", "test", {"parameters": PARAMETERS}, handler, **about)
    return Road(
        tools=registry.view(),
        desk=ApprovalDesk(),
        policy=Policy(),
        emit=lambda event: None,
        context={},
    )


def both_ways(way, call):
    """The result for a caller with a loop, which is like that of one without."""
    result, here = asyncio.run(way.run(call)), way.run_here(call)
    assert (result.status, result.text) == (here.status, here.text)
    assert isinstance(result, ToolResult)
    result.text.encode("utf-8")
    return result


@MANY
@given(ARGUMENTS)
def test_any_arguments_have_a_result(args):
    way = road(lambda args, **_: "ran")
    result = both_ways(way, ToolCall(id="1", name="tool", args=args))
    assert result.text == "ran" or result.mistake


@MANY
@given(ANY_JSON.map(lambda value: json.dumps(value, default=str)) | ANY_TEXT)
def test_any_argument_text_and_any_name_have_a_result(text):
    way = road(lambda args, **_: "ran")
    for name in ("tool", text[:100]):
        (call,) = checked([RawCall(id="1", name=name, arguments=text)], ["tool"])
        assert both_ways(way, call).text


@MANY
@given(ANY_TEXT | ANY_JSON.map(lambda value: json.dumps(value, default=str)))
def test_any_answer_of_a_tool_has_a_result(answer):
    both_ways(road(lambda args, **_: answer), ToolCall(id="1", name="tool", args={"text": "x"}))


class Sulking(Exception):
    """An exception that will not even say what it is."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


class Foreign(BaseException):
    """One that is no ``Exception``."""


RAISED = [
    ValueError("plain"),
    Sulking(),
    Foreign("odd"),
    SystemExit(3),
    StopIteration(1),
    StopAsyncIteration(),
    GeneratorExit(),
    RecursionError("deep"),
    MemoryError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    asyncio.CancelledError(),
    TimeoutError(),
    ExceptionGroup("several", [ValueError("one"), Sulking()]),
    KeyError("\ud800"),
    ValueError("x" * 1_000_000),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["sync", "async", "late"])
def test_whatever_a_handler_raises_is_an_error_result(error, kind):
    def sync(args, **_):
        raise error

    async def at_once(args, **_):
        raise error

    async def late(args, **_):
        await asyncio.sleep(0)
        raise error

    handler = {"sync": sync, "async": at_once, "late": late}[kind]
    way, call = road(handler), ToolCall(id="1", name="tool", args={"text": "x"})
    for result in (asyncio.run(way.run(call)), way.run_here(call)):
        assert result.status == "error"
        assert len(result.text) < 10_000


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"children": [value]}
    return value


@pytest.mark.parametrize("depth", [50, 500, 5_000, 100_000])
def test_a_recursion_bomb_in_the_arguments_is_a_result(depth):
    call = ToolCall(id="1", name="tool", args={"text": "x", "tree": nested(depth)})
    result = asyncio.run(road(lambda args, **_: "ran").run(call))
    assert result.text == "ran" or "deep" in result.text or "Not run" in result.text


@pytest.mark.parametrize("depth", [500, 100_000])
def test_a_recursion_bomb_in_the_text_is_a_result(depth):
    text = '{"text": "x", "tree": ' + '{"children": [' * depth + "]}" * depth + "}"
    (call,) = checked([RawCall(id="1", name="tool", arguments=text)], ["tool"])
    assert asyncio.run(road(lambda args, **_: "ran").run(call)).text


@pytest.mark.parametrize(
    "args",
    [
        {"text": "x" * 10_000_000},
        {"text": "x", "flags": ["true"] * 1_000_000},
        {"text": "x", "count": "9" * 1_000_000},
        {"text": "x", **{f"key{n}": n for n in range(200_000)}},
    ],
    ids=["text", "list", "digits", "keys"],
)
def test_ten_megabytes_of_arguments_are_a_result(args):
    result = asyncio.run(
        road(lambda args, **_: "ran").run(ToolCall(id="1", name="tool", args=args))
    )
    assert result.text == "ran" or result.mistake


def test_a_handler_that_recurses_for_ever_is_an_error_result():
    def forever(args, **context):
        return forever(args, **context)

    result = asyncio.run(road(forever).run(ToolCall(id="1", name="tool", args={"text": "x"})))
    assert result.status == "error"
    assert sys.getrecursionlimit() < 10_000
