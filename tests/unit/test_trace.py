import json
from dataclasses import replace

import pytest

from hermes_jupyter.calls import ApprovalRequest, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from hermes_jupyter.trace import MAX_ARGS_CHARS, MAX_DISPATCHES, Trace, shown

STARTED = TurnStarted(session="s", turn="t1", prompt="p", model="m", steps=9)


def call(number=1, **args):
    return ToolCall(id=str(number), name="read_file", args=args)


def traced(*events, trace=None):
    trace = trace or Trace(clock=lambda: 1_000.0)
    listen = trace.listener()
    for event in (STARTED, *events):
        listen(event)
    return trace.dispatches()


def test_a_dispatch_tells_what_was_wanted_and_what_the_tool_got():
    wanted = call(path="a.txt", limit="5")
    result = ToolResult(call=wanted, text="hello", seconds=0.5, args={"path": "a.txt", "limit": 5})
    (seen,) = traced(
        BatchStarted(calls=(wanted,)), ToolCallStarted(call=wanted), ToolCallFinished(result=result)
    )
    assert (seen.turn, seen.at, seen.tool) == ("t1", 1_000.0, "read_file")
    assert json.loads(seen.args) == {"path": "a.txt", "limit": "5"}
    assert seen.changes == ('limit: "5" -> 5',)
    assert (seen.status, seen.seconds, seen.chars) == ("ok", 0.5, 5)


def test_a_call_that_did_not_come_so_far_has_no_changes():
    result = ToolResult(call=call(limit="5"), text='{"error": "unknown"}', status="error")
    (seen,) = traced(ToolCallFinished(result=result))
    assert (seen.changes, seen.error) == ((), "unknown")


def test_it_says_who_approved():
    wanted = call(path="x")
    request = ApprovalRequest(
        id="q", call=wanted, reason="r", shown="s", cwd="", grant="", digest=""
    )
    (seen,) = traced(
        ApprovalResolved(request=request, decision="once", by="widget"),
        ToolCallFinished(result=ToolResult(call=wanted, text="")),
    )
    assert seen.decisions == (("once", "widget"),)


def test_a_cut_answer_counts_whole_and_names_its_handle():
    result = ToolResult(call=call(), text="part", handle="h1", total_chars=900_000)
    (seen,) = traced(ToolCallFinished(result=result))
    assert (seen.chars, seen.handle) == (900_000, "h1")


def test_secrets_are_masked_in_arguments_and_changes():
    key = "sk-ant-abcdef0123456789abcdef"
    wanted = call(command=f"curl -H 'x: {key}'", keys=f'["{key}"]', password="hunter22hunter22")
    result = ToolResult(call=wanted, text="", args={**wanted.args, "keys": [key]})
    (seen,) = traced(ToolCallFinished(result=result))
    assert key not in repr(seen)
    assert "hunter22" not in repr(seen)
    assert "redacted" in seen.args


def test_a_secret_at_the_cut_is_not_shown_in_half():
    text = "x" * 490 + " sk-ant-abcdef0123456789abcdef0123456789 " + "y" * 2_000
    assert "sk-ant-abc" not in shown({"content": text})


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "args",
    [
        {"content": "x" * 10_000_000},
        {f"key{n}": "v" * 100 for n in range(100_000)},
        {"items": list(range(1_000_000))},
        {"n": 10**10_000},
        {"k" * 100_000: 1},
        deep(400),
        {"odd": {1, 2}, "float": float("nan")},
    ],
    ids=["long", "many", "list", "integer", "key", "deep", "odd"],
)
def test_what_is_kept_is_bounded(args):
    assert len(shown(args)) <= MAX_ARGS_CHARS + 100


def test_only_the_last_dispatches_are_kept_and_turns_are_told_apart():
    trace = Trace()
    results = [ToolCallFinished(result=ToolResult(call=call(n), text="")) for n in range(150)]
    traced(*results, trace=trace)
    second = trace.listener()
    second(replace(STARTED, turn="t2"))
    for result in results:
        second(result)
    assert len(trace.dispatches()) == MAX_DISPATCHES
    assert len(trace.dispatches("t2")) == 150
    assert len(trace.dispatches("t1")) == MAX_DISPATCHES - 150
