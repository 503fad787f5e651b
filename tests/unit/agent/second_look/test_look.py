"""When a second look is taken, and what becomes of what it finds."""

import asyncio

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.second_look import SecondLook
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.errors import ModelError
from hermes_jupyter.events import NoticeGiven, StepFinished, ToolCallFinished
from hermes_jupyter.testing import ScriptedModel, call
from tools.registry import tool_result

REQUEST = "What is in a.txt?"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@pytest.fixture
def agent(turn):
    """An agent that can read and write, with or without a second look."""
    turn.tool("read_file", lambda args, **_: tool_result(content="1|hello"), parameters=PATH)
    turn.tool("write_file", lambda args, **_: tool_result(bytes_written=1), parameters=PATH)

    def made(model, look=None):
        road = turn.road()
        return Agent(
            model=model,
            road=road,
            definitions=road.tools.definitions(),
            emit=turn.emit,
            budget=Budget(9),
            transcript=[],
            cwd=lambda: str(turn.folder),
            second_look=look,
        )

    return made


def test_an_answer_about_a_file_that_nobody_read_is_asked_again(agent, turn):
    model = ScriptedModel("It is empty.", (call("read_file", path="a.txt"),), "It says hello.")
    made = agent(model, SecondLook(REQUEST))
    assert asyncio.run(made.run(REQUEST)).text == "It says hello."
    asked = model.requests[1].messages
    assert asked[-2] == {"role": "assistant", "content": "It is empty."}
    assert asked[-1]["must_call"] == "read_file"


def test_of_the_answer_that_did_not_count_nothing_stays_but_a_quiet_notice(agent, turn):
    model = ScriptedModel("It is empty.", (call("read_file", path="a.txt"),), "It says hello.")
    made = agent(model, SecondLook(REQUEST))
    asyncio.run(made.run(REQUEST))
    assert "It is empty." not in str(made.transcript)
    assert [event.text for event in turn.of(StepFinished)] == ["", "It says hello."]
    (notice,) = turn.of(NoticeGiven)
    assert (notice.level, notice.key) == ("info", "")
    assert made.budget.used == 2


def test_the_tokens_of_the_answer_that_did_not_count_are_counted(agent, turn):
    model = ScriptedModel("It is empty.", (call("read_file", path="a.txt"),), "It says hello.")
    asyncio.run(agent(model, SecondLook(REQUEST)).run(REQUEST))
    first, second = (event.usage for event in turn.of(StepFinished))
    assert first.prompt_tokens > second.prompt_tokens / 2
    assert first.completion_tokens > 0


def test_the_second_answer_counts_whatever_it_is(agent):
    model = ScriptedModel("It is empty.", "It is still empty.")
    assert asyncio.run(agent(model, SecondLook(REQUEST)).run(REQUEST)).text == "It is still empty."


def test_a_model_is_asked_again_once_in_a_turn():
    look = SecondLook(REQUEST)
    assert look.objection("It is empty.")
    assert look.objection("It is empty.") is None


@pytest.mark.parametrize("second", [ModelError("gone", kind="auth"), ""])
def test_the_first_answer_counts_if_there_is_no_second(agent, second):
    model = ScriptedModel("It is empty.", second)
    assert asyncio.run(agent(model, SecondLook(REQUEST)).run(REQUEST)).text == "It is empty."


def test_without_a_second_look_an_answer_is_taken_as_it_is(agent):
    assert asyncio.run(agent(ScriptedModel("It is empty.")).run(REQUEST)).text == "It is empty."


def test_a_file_that_nobody_read_is_not_replaced_at_once(agent, turn):
    (turn.folder / "a.txt").write_text("much\n")
    write, read = (call("write_file", path="a.txt"),), (call("read_file", path="a.txt"),)
    model = ScriptedModel(write, read, write, "I replaced a.txt.")
    asyncio.run(agent(model, SecondLook("Replace a.txt.")).run("Replace a.txt."))
    first, _, third = (event.result for event in turn.of(ToolCallFinished))
    assert "you have not read it" in first.text
    assert (first.status, third.status) == ("error", "ok")


def test_who_insists_may_replace_it(tmp_path):
    (tmp_path / "a.txt").write_text("much\n")
    look = SecondLook("Replace a.txt.")
    call_ = ToolCall(id="1", name="write_file", args={"path": "a.txt"})
    assert [bool(look.refusal(call_, str(tmp_path))) for _ in range(3)] == [True, True, False]


def test_a_call_that_failed_has_read_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("much\n")
    look = SecondLook("Replace a.txt.")
    failed = ToolCall(id="1", name="patch", args={"path": "a.txt"})
    look.note([ToolResult(call=failed, text="{}", status="error")])
    call_ = ToolCall(id="2", name="write_file", args={"path": "a.txt"})
    assert look.refusal(call_, str(tmp_path))


@pytest.mark.parametrize("tool", ["read_file", "write_file"])
def test_a_file_that_is_known_may_be_replaced(tmp_path, tool):
    (tmp_path / "a.txt").write_text("much\n")
    look = SecondLook("Replace a.txt.")
    look.note([ToolResult(call=ToolCall(id="1", name=tool, args={"path": "a.txt"}), text="{}")])
    call_ = ToolCall(id="2", name="write_file", args={"path": "a.txt"})
    assert look.refusal(call_, str(tmp_path)) == ""


@pytest.mark.parametrize("name", ["new.txt", "empty.txt", "", "a" * 5_000])
def test_a_new_or_empty_file_may_be_written(tmp_path, name):
    (tmp_path / "empty.txt").touch()
    call_ = ToolCall(id="1", name="write_file", args={"path": name})
    assert SecondLook("Write.").refusal(call_, str(tmp_path)) == ""


def test_files_on_another_machine_are_not_looked_for(tmp_path):
    (tmp_path / "a.txt").write_text("much\n")
    call_ = ToolCall(id="1", name="write_file", args={"path": str(tmp_path / "a.txt")})
    assert SecondLook("Write.").refusal(call_, None) == ""
