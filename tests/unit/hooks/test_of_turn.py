"""What hooks hear of a turn, and what they may add to it."""

import asyncio
import json
import re
from pathlib import Path

import pytest

import hermes_jupyter
from hermes_jupyter import api
from hermes_jupyter.errors import ModelError
from hermes_jupyter.events import NoticeGiven, StepFinished, ToolCallFinished, TurnFinished
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.hooks import HOOKS
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions
from tools.async_bridge import loop_thread

SECRET = "sk-proj-" + "a1B2" * 12
ASKED = (
    "pre_llm_call", "pre_tool_call", "transform_terminal_output", "transform_tool_result",
    "transform_llm_output",
)  # fmt: skip
"""Those whose answer is waited for; the others listen only."""
DOCS = Path(__file__).resolve().parents[3] / "docs" / "hooks.md"


@pytest.fixture
def hermes(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1", hook_timeout=2.0))
    yield made
    asyncio.run(made.close())


@pytest.fixture
def events():
    return []


@pytest.fixture
def run(hermes, events):
    def work(*replies, prompt="go", **options):
        model = ScriptedModel(*replies)
        hermes.model = lambda settings: model
        turn = hermes.turn(
            prompt,
            session=hermes.session(),
            options=TurnOptions(**{"approve": "off", **options}),
            listeners=[events.append],
        )
        result = asyncio.run(turn)
        return result, [request.messages for request in model.requests]

    return work


@pytest.fixture
def heard(hermes):
    """What was told, by name, once somebody listens to all hooks."""
    told = []
    for name in HOOKS:
        hermes.hooks.on(name, lambda payload, name=name: told.append((name, payload)))
    return told


def named(heard, name):
    return [payload for told, payload in heard if told == name]


def test_a_turn_is_told_from_its_beginning_to_its_end(run, heard):
    run((call("terminal", command="echo hi"),), "done")
    names = [name for name, _ in heard]
    assert [name for name in names if name in ASKED] == [
        "pre_llm_call", "pre_tool_call", "transform_terminal_output", "transform_tool_result",
        "transform_llm_output",
    ]  # fmt: skip
    assert [name for name in names if name not in ASKED] == [
        "on_session_start", "pre_api_request", "post_api_request", "post_tool_call",
        "pre_api_request", "post_api_request", "post_llm_call", "on_session_end",
    ]  # fmt: skip
    (call_told,) = named(heard, "post_tool_call")
    assert (call_told.tool_name, call_told.status) == ("terminal", "ok")
    assert call_told.args == {"command": "echo hi"}
    assert "hi" in call_told.result
    (ended,) = named(heard, "on_session_end")
    assert (ended.completed, ended.session_id) == (True, "main")
    assert ended.turn_id == call_told.turn_id != ""
    (answer, _) = named(heard, "post_api_request")
    assert answer.usage["completion_tokens"] > 0


def test_a_second_turn_begins_no_conversation(hermes, run, heard):
    run("done")
    run("done")
    hermes.new_session()
    asyncio.run(hermes.hooks.settle())
    firsts = [payload.is_first_turn for payload in named(heard, "pre_llm_call")]
    assert (firsts, len(named(heard, "on_session_start"))) == ([True, False], 1)


def test_a_failure_and_a_refusal_are_told(run, heard):
    with pytest.raises(ModelError):
        run(
            (call("terminal", command="rm -rf x"),), ModelError("gone", kind="auth"), approve="deny"
        )
    (told,) = named(heard, "post_approval_response")
    assert (told.choice, told.by, told.command) == ("deny", "mode", "rm -rf x")
    (error,) = named(heard, "api_request_error")
    assert (error.error_message, error.retry_in_seconds) == ("gone", None)
    assert named(heard, "post_tool_call")[0].status == "denied"
    assert named(heard, "post_tool_call")[0].error_message
    assert not named(heard, "on_session_end")[0].completed


def test_secrets_are_masked_but_for_the_check(run, heard):
    run((call("terminal", command=f"echo {SECRET}"),), f"It is {SECRET}", prompt=f"use {SECRET}")
    seen = {name for name, payload in heard if SECRET in str(payload)}
    assert seen == {"pre_tool_call"}
    assert len(heard) > 10


def test_context_stands_behind_the_prompt_and_the_system_prompt_stays(hermes, run):
    _, (plain,) = run("done")
    hermes.new_session()
    hermes.hooks.on("pre_llm_call", lambda told: {"context": f"you were asked {told.user_message}"})
    hermes.hooks.on("pre_llm_call", lambda told: "use tabs")
    _, (messages,) = run("done")
    assert messages[0] == plain[0]
    assert messages[1]["content"] == (
        "go\n\n[Added by a hook of the user's:]\nyou were asked go\n\nuse tabs"
    )
    assert [message["role"] for message in messages] == ["system", "user"]


def test_a_result_that_a_hook_rewrites_reaches_model_and_views(hermes, run, events):
    hermes.hooks.on("transform_tool_result", lambda told: told.result.upper())
    _, requests = run((call("terminal", command="echo hello"),), "done")
    (result,) = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert "HELLO" in result.text
    assert requests[-1][-1]["content"] == result.text
    assert [message["role"] for message in requests[-1]] == ["system", "user", "assistant", "tool"]


def test_a_failed_call_stays_failed_whatever_a_hook_makes_of_its_answer(hermes, run, events):
    hermes.hooks.on("transform_tool_result", lambda told: "all is well")
    run((call("read_file", path="nowhere"), call("terminal", command="exit 3")), "done")
    failed, exited = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert (failed.text, failed.status) == ("all is well", "error")
    assert exited.exit_code == 3


def test_a_rewritten_result_is_cut_and_masked_as_any(hermes, run, events):
    hermes.hooks.on("transform_tool_result", lambda told: f"{SECRET} " + "x" * 5_000_000)
    run((call("terminal", command="true"),), "done")
    (result,) = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert len(result.text) < 200_000
    assert SECRET not in result.text


def test_the_output_of_a_command_can_be_rewritten(hermes, run, events):
    def hide(told):
        assert (told.command, told.returncode, told.env_type) == ("echo user", 0, "local")
        return told.output.replace("user", "someone")

    hermes.hooks.on("transform_terminal_output", hide)
    run((call("terminal", command="echo user"),), "done")
    (result,) = [event.result for event in events if isinstance(event, ToolCallFinished)]
    assert json.loads(result.text)["output"].strip() == "someone"


def test_an_answer_that_a_hook_rewrites_is_the_answer(hermes, run, events):
    hermes.hooks.on("transform_llm_output", lambda told: f"{told.response_text}!")
    result, _ = run("done")
    assert result.text == "done!"
    assert [event.text for event in events if isinstance(event, StepFinished)] == ["done!"]
    assert hermes.session().transcript[-1] == {"role": "assistant", "content": "done!"}


def test_a_hook_that_fails_is_said_once_and_the_turn_is_done(hermes, run, events):
    hermes.hooks.on("post_tool_call", lambda told: 1 / 0)
    hermes.hooks.on("pre_llm_call", lambda told: [].pop())
    hermes.hooks.on("transform_tool_result", lambda told: {}["x"])
    result, _ = run((call("todo"),), (call("todo", n=2),), "done")
    run("done")
    assert result.status == "done"
    said = [
        event.text for event in events if isinstance(event, NoticeGiven) and "hook" in event.text
    ]
    assert sorted(re.findall(r"\((\w+)\)$", text)[0] for text in said) == [
        "post_tool_call", "pre_llm_call", "transform_tool_result",
    ]  # fmt: skip


def test_a_call_by_hand_goes_past_the_same_hooks(hermes, heard):
    from hermes_jupyter.one_call import run_call, wanted_call

    session, options = hermes.session(), TurnOptions(approve="off")
    wanted = wanted_call(hermes, "todo", "{}", session=session, options=options)
    work = run_call(
        wanted, hermes=hermes, session=session, options=options, listeners=[], context={}
    )
    asyncio.run(work)
    assert {"pre_tool_call", "transform_tool_result", "post_tool_call"} <= {n for n, _ in heard}


def test_the_example_of_the_page_does_what_it_says(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(example.strip().splitlines()) <= 12
    api.close()
    here = api.desktop(Settings(home=tmp_path)).hermes
    names = {}
    try:
        exec(example, names)
        model = ScriptedModel((call("terminal", command="sleep 1.1"),), "done")
        monkeypatch.setattr(here, "model", lambda settings: model)
        hermes_jupyter.run("go", approve="off")
        (line,) = names["slow"]
        assert re.fullmatch(r"terminal: ok after 1\d\d\d ms", line)
        names["forget"]()
        assert not here.hooks
    finally:
        api.close()


def test_every_hook_of_the_page_is_one_and_every_one_is_on_the_page():
    table = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    assert sorted(re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in table))) == sorted(
        HOOKS
    )


def test_nothing_is_told_where_nobody_listens(run, events):
    assert run("done")[0].status == "done"
    assert isinstance(events[-1], TurnFinished)


def test_a_conversation_that_is_put_away_or_begun_anew_is_told(hermes, heard):
    hermes.session()
    hermes.new_session()
    loop_thread().run(hermes.hooks.settle())
    assert [(name, payload.session_id) for name, payload in heard] == [
        ("on_session_finalize", "main"), ("on_session_reset", "main"),
    ]  # fmt: skip
