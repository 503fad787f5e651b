"""What users of notebook agents have reported of others, row by row of ``cases/reports.jsonl``.

Those that take a kernel are in ``tests/kernel``; some are where their subject is.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved, ToolCallFinished
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.run import Road
from hermes_jupyter.store.standing import StandingRules
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.views.approval_html import request_html
from tools.registry import registry, tool_result
from tools.terminal_tool import objection

TESTS = Path(__file__).resolve().parents[1]
REPORTS = TESTS.parents[1] / "shared" / "cases" / "reports.jsonl"
TWO = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TEXT = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


def run(turn, model, transcript=None, **road):
    """A turn of this model; its agent."""
    there = Road(
        tools=turn.registry.view(),
        desk=turn.desk,
        policy=turn.policy,
        emit=turn.emit,
        context={"cwd": str(turn.folder)},
        **road,
    )
    agent = Agent(
        model=model,
        road=there,
        definitions=there.tools.definitions(),
        emit=turn.emit,
        budget=Budget(30),
        transcript=[] if transcript is None else transcript,
        cwd=lambda: str(turn.folder),
    )
    asyncio.run(agent.run("go"))
    return agent


def results(turn):
    return [event.result for event in turn.of(ToolCallFinished)]


def raw(name, arguments):
    return RawCall(id="", name=name, arguments=arguments)


def test_each_row_has_a_test_with_its_id_in_its_name():
    if not REPORTS.is_file():
        pytest.skip("the reports are not here")
    rows = [json.loads(line)["id"] for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    code = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    named = set(re.findall(r"def test_(nb_\d{3})_", code))
    assert [row for row in rows if row.replace("-", "_") not in named] == []


def test_nb_006_what_hangs_on_a_loop_is_never_found_by_another_loop_at_the_same_address(turn):
    limits = []

    async def limited(args, **_):
        limits.append(asyncio.Semaphore(1))
        async with limits[-1]:
            await asyncio.sleep(0)
        return tool_result(loop=id(asyncio.get_running_loop()))

    turn.tool("limited", limited)
    for _ in range(60):  # each in a loop of its own, whose address the next one may get
        run(turn, ScriptedModel((call("limited"), call("limited", n=1)), "done"))
    assert [result.status for result in results(turn)] == ["ok"] * 120
    source = [
        *(TESTS.parent / "hermes_jupyter").rglob("*.py"),
        *(TESTS.parent / "tools").rglob("*.py"),
    ]
    by_address = re.compile(r"\bid\((?:self\._?)?(?:\w+\.)?(?:\w*loop\w*|asyncio\.get_\w+\(\))\)")
    assert [path.name for path in source if by_address.search(path.read_text("utf-8"))] == []


def test_nb_014_silence_is_told_as_silence_and_not_as_a_refusal(turn, erased, monkeypatch):
    monkeypatch.setattr(turn, "emit", turn.events.append)  # nobody clicks
    agent = run(turn, ScriptedModel((call("erase", path="a"),), "done"), approval_timeout=0.05)
    (resolved,) = turn.of(ApprovalResolved)
    assert resolved.by == "timeout"
    assert erased == []
    told = agent.transcript[2]["content"]
    assert "nobody answered" in told
    assert "user said no" not in told


def test_nb_016_calls_side_by_side_each_ask_and_a_refusal_is_for_one(turn, monkeypatch):
    asked, looked = [], []

    def look(args, **_):
        looked.append((args["path"], threading.current_thread().name))
        return tool_result(looked=True)

    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    about = {"parameters": path, "effects": "read", "guard_fn": lambda args, **_: "reads a secret"}
    turn.tool("look", look, **about)

    def emit(event):
        turn.events.append(event)
        if isinstance(event, ApprovalRequested):
            asked.append(event.request)
            if len(asked) == 2:
                loop = asyncio.get_running_loop()
                for request in asked:
                    says = "deny" if request.call.args["path"] == "b" else "once"
                    loop.call_soon(
                        lambda r=request, s=says: turn.desk.answer(
                            r.id, s, by="widget", digest=r.digest
                        )
                    )

    monkeypatch.setattr(turn, "emit", emit)
    run(turn, ScriptedModel((call("look", path="a"), call("look", path="b")), "done"))
    assert len(asked) == 2
    assert [path for path, _ in looked] == ["a"]
    assert looked[0][1] != threading.main_thread().name
    assert sorted(result.status for result in results(turn)) == ["denied", "ok"]


def shell(turn, ran):
    """A terminal that only notes what it runs, guarded as the real one is."""
    parameters = registry.get_entry("terminal").schema["parameters"]
    turn.tool(
        "terminal",
        lambda args, **_: ran.append(args["command"]) or tool_result(exit_code=0),
        guard_fn=objection,
        parameters=parameters,
    )


def test_nb_017_what_is_always_allowed_allows_nothing_that_is_joined_to_it(turn, tmp_path):
    ran = []
    shell(turn, ran)
    turn.desk.grants = Grants(StandingRules(tmp_path / "approvals.yaml"))
    turn.desk.grants.allow_always("terminal(npm install left-pad)")
    commands = (
        "npm install left-pad",
        "npm install left-pad && rm -rf x",
        "npm install left-pad;rm y",
    )
    run(turn, ScriptedModel(*[(call("terminal", command=each),) for each in commands], "done"))
    assert ran == [commands[0]]
    assert [each.request.shown for each in turn.of(ApprovalRequested)] == [*commands[1:]]


def test_nb_018_what_is_shown_is_what_runs_and_what_has_no_ink_is_made_visible(turn):
    ran = []
    shell(turn, ran)
    turn.decision = "once"
    command = "rm a.log \x1b[8m; rm b\x1b[0m # \u202etxt.\u2066" + " " * 300 + "; rm c"
    run(turn, ScriptedModel((call("terminal", command=command),), "done"))
    (asked,) = turn.of(ApprovalRequested)
    page = request_html(asked.request)
    assert ran == [command]
    assert asked.request.shown == command
    assert "⟨U+001B⟩" in page
    assert "⟨U+202E⟩" in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "; rm c" in page


@pytest.mark.parametrize("arguments", ['{"a": "x", "b": 2}', '"{\\"a\\": \\"x\\", \\"b\\": 2}"'])
def test_nb_019_arguments_reach_the_tool_one_by_one_however_they_are_wrapped(turn, arguments):
    got = []
    turn.tool("pair", lambda args, **_: got.append(dict(args)) or "{}", parameters=TWO)
    run(turn, ScriptedModel((raw("pair", arguments),), "done"))
    assert got == [{"a": "x", "b": 2}]


def test_nb_022_an_unknown_name_leaves_the_other_calls_alone_and_is_told_near_ones(turn):
    for name in ("read_file", "web_search", "search_entities"):
        turn.tool(name, lambda args, **_: tool_result(fine=True))
    agent = run(
        turn, ScriptedModel((call("read_file"), call("entitysearch"), call("web_search")), ".")
    )
    first, unknown, last = (m["content"] for m in agent.transcript if m["role"] == "tool")
    assert "fine" in first
    assert "fine" in last
    assert "There is no tool 'entitysearch'" in unknown
    assert "search_entities" in unknown


def test_nb_023_a_call_that_brings_nothing_new_is_told_then_stopped_and_twins_run_once(turn):
    ran = []
    turn.tool("run_cell", lambda args, **_: ran.append(args) or tool_result(out=1), parameters=TEXT)
    model = ScriptedModel(*[(call("run_cell", code="x"), call("run_cell", code="x"))] * 10, "over")
    run(turn, model)
    assert len(ran) == 6
    assert "brought nothing that you did not know" in str(model.requests[-2].messages)
    turn.tool("poll", lambda args, **_: tool_result(load=len(turn.events)))
    model = ScriptedModel(*[(call("poll"),)] * 10, "well")
    assert run(turn, model).transcript[-1]["content"] == "well"


def test_nb_024_control_tokens_in_a_name_are_taken_off_or_the_name_is_unknown(turn):
    turn.tool("run_cell", lambda args, **_: tool_result(ran=True))
    calls = (raw("run_cell<|channel|>commentary", "{}"), raw("assistant<|channel|>analysis", "{}"))
    agent = run(turn, ScriptedModel(calls, "done"))
    ran, unknown = (m["content"] for m in agent.transcript if m["role"] == "tool")
    assert "true" in ran
    assert "There is no tool" in unknown
    assert "run_cell" in unknown


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [("null", True), ("[1]", False), ('"x"', False), ("\x00ÿ{" * 600_000, False)],
    ids=["null", "list", "text", "garbage"],
)
def test_nb_025_arguments_that_are_no_object_are_none_or_an_error_of_bounded_length(
    turn, arguments, runs
):
    got = []
    turn.tool("look", lambda args, **_: got.append(dict(args)) or "{}")
    agent = run(turn, ScriptedModel((raw("look", arguments),), "done"))
    assert got == ([{}] if runs else [])
    (result,) = results(turn)
    assert result.status == ("ok" if runs else "error")
    assert len(json.dumps(agent.transcript)) < 10_000
    for message in agent.transcript:
        for told in message.get("tool_calls", ()):
            assert isinstance(json.loads(told["function"]["arguments"]), dict)


def test_nb_028_names_of_tools_outlive_a_summary_and_unknown_ones_are_told_the_list(turn):
    names = ("read_the_ledger", "post_the_entry")
    for name in names:
        turn.tool(name, lambda args, **_: tool_result(text="line " * 900))
    transcript = [{"role": "system", "content": "rules"}]
    for number in range(40):
        told = {"id": f"c{number}", "type": "function",
                "function": {"name": names[number % 2], "arguments": "{}"}}  # fmt: skip
        transcript += [
            {"role": "user", "content": f"wish {number}"},
            {"role": "assistant", "content": None, "tool_calls": [told]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "line\n" * 900},
            {"role": "assistant", "content": f"answer {number} " + "with words " * 60},
        ]
    writer = ScriptedModel("They keep a ledger.", window=6_000)
    compactor = Compactor(transcript=transcript, emit=turn.emit)
    assert asyncio.run(compactor.compact(writer))
    assert len(transcript) < 80
    left = {told["function"]["name"] for m in transcript for told in m.get("tool_calls") or ()}
    assert left <= set(names)
    asked = json.dumps(writer.requests[-1].messages)
    assert all(name in asked for name in names)
    agent = run(turn, ScriptedModel((call("read_ledger_now"),), "done"), transcript)
    answer = [m["content"] for m in agent.transcript if m["role"] == "tool"][-1]
    assert "There is no tool 'read_ledger_now'" in answer
    assert all(name in answer for name in names)
