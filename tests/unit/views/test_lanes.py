"""Children in the record of a turn, in text, and stored and read again."""

from __future__ import annotations

import json

import pytest

from hermes_jupyter.calls import ApprovalRequest, Child, ToolCall, ToolResult, Usage
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    StepFinished,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.record import MIME, Record
from hermes_jupyter.views.text import TextView

DELEGATE = ToolCall(id="d", name="delegate_task", args={"tasks": [{"goal": "a"}, {"goal": "b"}]})
REMOVE = ToolCall(id="d", name="terminal", args={"command": "rm old.log"})  # the same id, too
KEY = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def child(number, name="", goal=""):
    goal = goal or f"task {number}"
    return Child(
        id=f"c{number}", number=number, name=name or f"{number}: {goal}", goal=goal, steps=50
    )


def begun(*children):
    return [
        TurnStarted(session="main", turn="t", prompt="go", model="m", steps=9),
        BatchStarted(calls=(DELEGATE,)),
        ChildrenPlanned(call_id="d", number=max(2, len(children))),
        *(ChildStarted(call_id="d", child=each) for each in children),
    ]


def worked(identity, call=REMOVE, status="ok", text='{"output": "gone"}'):
    result = ToolResult(call=call, text=text, status=status, seconds=0.2)
    told = [BatchStarted(calls=(call,)), ToolCallFinished(result=result)]
    return [ChildTold(child=identity, event=event) for event in told]


def ended(each, status="completed", text="Found 3.", **about):
    usage = Usage(prompt_tokens=2_000, completion_tokens=104)
    return ChildFinished(
        call_id="d", child=each, status=status, text=text, steps=3, seconds=12, usage=usage, **about
    )


DONE = [
    ToolCallFinished(result=ToolResult(call=DELEGATE, text='{"results": []}', seconds=12.0)),
    TurnFinished(status="done", text="All is done.", model="m", steps=2, seconds=13.0),
]


def bundle(*events):
    record = Record()
    for event in events:
        record(event)
    return record.bundle()


def lanes(*events):
    (called,) = [e for e in bundle(*events)[MIME]["events"] if e["type"] == "called"]
    return called["lanes"]


def test_each_child_is_a_lane_with_its_calls_and_its_answer():
    one, two = child(1), child(2)
    events = [*begun(two, one), *worked("c1"), ended(two), ended(one), *DONE]
    first, second = lanes(*events)
    assert (first["name"], second["name"]) == ("1: task 1", "2: task 2")
    assert first["state"] == "✓ done · 3 steps · 2,104 tokens · 12 s"
    assert [part["name"] for part in first["parts"]] == ["terminal"]
    assert first["text"] == "Found 3."
    assert second["parts"] == []


def test_a_child_that_did_not_end_well_says_why_in_every_rendering():
    events = [*begun(child(1)), ended(child(1), "error", "", reason="no such model"), *DONE]
    made = bundle(*events)
    for kind in ("text/plain", "text/markdown", "text/html"):
        assert "✗ failed: no such model · 3 steps · 2,104 tokens · 12 s" in made[kind]


def test_one_that_never_began_is_a_lane_as_well():
    events = [*begun(child(1)), ended(child(1)), ended(child(2), "interrupted", ""), *DONE]
    assert [lane["status"] for lane in lanes(*events)] == ["completed", "interrupted"]


def test_a_turn_that_broke_off_shows_how_far_children_came():
    events = [*begun(child(1)), *worked("c1")]
    (lane,) = lanes(*events)
    assert (lane["status"], lane["state"]) == ("unfinished", "◼ not finished")
    assert len(lane["parts"]) == 1


def test_lanes_are_nested_as_children_are():
    inner = Child(id="g", number=1, name="1: deeper", goal="deeper")
    call = ToolCall(id="d", name="delegate_task", args={"goal": "deeper"})
    nested = [
        BatchStarted(calls=(call,)),
        ChildStarted(call_id="d", child=inner),
        ChildTold(child="g", event=ToolCallFinished(result=ToolResult(call=REMOVE, text="{}"))),
        ChildFinished(call_id="d", child=inner, status="completed", text="Deep."),
    ]
    told = [ChildTold(child="c1", event=event) for event in nested]
    made = bundle(*begun(child(1)), *told, ended(child(1)), *DONE)
    assert made["text/plain"].count("│") >= 4
    assert "1: deeper" in made["text/html"]
    (lane,) = next(e for e in made[MIME]["events"] if e["type"] == "called")["lanes"]
    assert lane["parts"][0]["lanes"][0]["text"] == "Deep."


def test_what_a_person_decided_stands_at_the_childs_own_call():
    request = ApprovalRequest(
        id="r", call=REMOVE, reason="deletes", shown="rm old.log", cwd="/", grant="", digest="d",
        asker="1: task 1", path=("c1",),
    )  # fmt: skip
    inside = ApprovalRequest(**{**_fields(request), "asker": "", "path": ()})
    direct = ApprovalResolved(request=request, decision="once", by="widget")
    own = ApprovalResolved(request=inside, decision="once", by="widget")
    told = [ApprovalRequested(request=request), ChildTold(child="c1", event=own), direct]
    events = [*begun(child(1)), *told, *worked("c1"), ended(child(1)), *DONE]
    (called,) = [e for e in bundle(*events)[MIME]["events"] if e["type"] == "called"]
    assert called["decisions"] == []
    assert called["lanes"][0]["parts"][0]["decisions"] == ["Allowed once by you"]


def _fields(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


@pytest.mark.parametrize("where", ["name", "goal", "text", "reason"])
def test_secrets_and_markup_of_children_do_not_get_into_the_record(where):
    bad = f"<script>x</script> \x1b[31m key {KEY}"
    about = {where: bad}
    one = child(1, **{key: about[key] for key in ("name", "goal") if key in about})
    more = {key: about[key] for key in ("text", "reason") if key in about}
    made = bundle(*begun(one), ended(one, "failed", **more), *DONE)
    whole = json.dumps(made)
    assert KEY not in whole
    assert "<script>" not in made["text/html"]
    assert "\\u001b" not in whole


def test_a_hundred_children_with_long_texts_stay_within_bounds():
    many = [child(number) for number in range(1, 101)]
    inside = [event for each in many for event in worked(each.id, text="long " * 20_000)]
    says = [
        ChildTold(child=each.id, event=StepFinished(number=1, text="word " * 5_000))
        for each in many
    ]
    ends = [ended(each, text="answer " * 20_000) for each in many]
    made = bundle(*begun(*many), *inside, *says, *ends, *DONE)
    for rendering in made.values():
        text = rendering if isinstance(rendering, str) else json.dumps(rendering)
        assert len(text.encode()) <= 200_000
    (called,) = [e for e in made[MIME]["events"] if e["type"] == "called"]
    assert called["more_lanes"] == 100 - len(called["lanes"]) > 0


def test_text_says_whose_lines_are_whose():
    lines = []
    view = TextView(lines.append)
    for event in [*begun(child(1)), *worked("c1"), ended(child(1)), *DONE]:
        view(event)
    text = "".join(lines)
    assert "│ 1: task 1  begins" in text
    assert "│ 1: task 1 │ ⚡ terminal  rm old.log  ✓ done · 0.2 s" in text
    assert "│ 1: task 1  ✓ done · 3 steps · 2,104 tokens · 12 s" in text


def test_a_denied_call_of_a_child_is_told_once_in_text():
    lines = []
    view = TextView(lines.append)
    request = ApprovalRequest(
        id="r", call=REMOVE, reason="x", shown="rm", cwd="/", grant="", digest="d"
    )
    own = ChildTold(
        child="c1", event=ApprovalResolved(request=request, decision="deny", by="widget")
    )
    for event in [*begun(child(1)), own, *worked("c1", status="denied"), ended(child(1)), *DONE]:
        view(event)
    assert "".join(lines).count("rm old.log") == 1
