import asyncio
import json
import threading
import time

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.messages import MAX_CALLS, with_own_ids
from hermes_jupyter.agent.models.base import Delta, RawCall, Reply
from hermes_jupyter.errors import ModelError
from hermes_jupyter.events import (
    BatchStarted,
    NoticeGiven,
    RetryPlanned,
    TextStreamed,
    ToolCallFinished,
)
from hermes_jupyter.testing import ScriptedModel, call
from tools.registry import tool_result


def agent_for(turn, model, steps=90, transcript=None):
    road = turn.road()
    return Agent(
        model=model,
        road=road,
        definitions=road.tools.definitions(),
        emit=turn.emit,
        budget=Budget(steps),
        transcript=[] if transcript is None else transcript,
        cwd=lambda: str(turn.folder),
    )


def is_valid(transcript):
    """Every call has its result, right behind the message that asked for it."""
    wanted = []
    for message in transcript:
        if message["role"] == "tool":
            assert message["tool_call_id"] == wanted.pop(0)
        else:
            assert not wanted
        wanted += [c["id"] for c in message.get("tool_calls") or []]
        json.dumps(message)
    return not wanted


def test_text_ends_the_turn(turn):
    outcome = asyncio.run(agent_for(turn, ScriptedModel("done")).run("go"))
    assert (outcome.text, outcome.status) == ("done", "done")
    assert "".join(event.text for event in turn.of(TextStreamed)) == "done"


@pytest.mark.parametrize(("decision", "expected"), [("once", ["a"]), ("deny", [])])
def test_guarded_call_runs_only_when_approved(turn, erased, decision, expected):
    turn.decision = decision
    model = ScriptedModel((call("erase", path="a"),), "done")
    assert asyncio.run(agent_for(turn, model).run("erase a")).text == "done"
    assert erased == expected


def test_the_model_reads_the_results(turn, erased):
    model = ScriptedModel((call("erase", path="a"),), "done")
    agent = agent_for(turn, model)
    asyncio.run(agent.run("erase a"))
    assert is_valid(agent.transcript)
    assert "denied" in model.requests[-1].messages[-1]["content"]


def test_the_budget_ends_with_a_summary(turn):
    turn.tool("look", lambda args, **_: tool_result(ok=True))
    model = ScriptedModel(*[(call("look", n=n),) for n in range(3)], "so far")
    outcome = asyncio.run(agent_for(turn, model, steps=3).run("go"))
    assert (outcome.status, outcome.text) == ("stopped", "so far")
    assert "all 3 steps" in outcome.reason
    assert model.requests[-1].tools == []


def test_a_model_that_only_asks_for_what_cannot_run_is_stopped(turn):
    model = ScriptedModel(*[(call("nothing", n=n),) for n in range(9)])
    outcome = asyncio.run(agent_for(turn, model).run("go"))
    assert outcome.status == "stopped"
    assert len(model.requests) == 3


def test_eight_reads_run_side_by_side(turn):
    all_are_there = threading.Barrier(8, timeout=10)
    turn.tool("meet", lambda args, **_: str(all_are_there.wait()), effects="read")
    model = ScriptedModel(tuple(call("meet", n=n) for n in range(8)), "done")
    asyncio.run(agent_for(turn, model).run("go"))
    assert len(turn.of(BatchStarted)) == 1
    assert not all_are_there.broken


def test_calls_of_unknown_effect_run_one_after_the_other(turn):
    inside = threading.Semaphore(1)

    def alone(args, **_):
        assert inside.acquire(blocking=False)
        time.sleep(0.01)
        inside.release()
        return "ok"

    turn.tool("alone", alone)
    model = ScriptedModel(tuple(call("alone", n=n) for n in range(4)), "done")
    asyncio.run(agent_for(turn, model).run("go"))
    assert {event.result.status for event in turn.of(ToolCallFinished)} == {"ok"}


def test_an_interrupt_leaves_a_valid_transcript(turn):
    turn.tool("wait", lambda args, cancelled, **_: cancelled.wait(30) and "x")
    model = ScriptedModel((call("wait"), call("wait", n=2)), "never")
    agent = agent_for(turn, model)

    async def interrupt():
        task = asyncio.create_task(agent.run("go"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    assert is_valid(agent.transcript)
    assert agent.transcript[-1]["role"] == "assistant"


def test_a_failed_first_call_leaves_the_transcript_as_it_was(turn):
    model = ScriptedModel(ModelError("no key", kind="auth"))
    agent = agent_for(turn, model)
    with pytest.raises(ModelError, match="no key"):
        asyncio.run(agent.run("go"))
    assert agent.transcript == []


def test_a_passing_failure_is_tried_again(turn):
    model = ScriptedModel(ModelError("busy", kind="rate_limit", retry_after=0.01), "done")
    assert asyncio.run(agent_for(turn, model).run("go")).text == "done"
    assert turn.of(RetryPlanned)[0].seconds == 0.01


def test_broken_arguments_do_not_poison_the_transcript(turn):
    turn.tool("look", lambda args, **_: "ok")
    broken = call("look")
    object.__setattr__(broken, "arguments", '{"path": "cut')
    agent = agent_for(turn, ScriptedModel((broken,), "done"))
    asyncio.run(agent.run("go"))
    sent = agent.transcript[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent)
    assert "not valid JSON" in agent.transcript[2]["content"]


def written(name, arguments):
    return RawCall(id="", name=name, arguments=arguments)


def test_a_mended_call_runs_and_is_sent_back_mended(turn, erased):
    turn.decision = "once"
    calls = (written("functions.Erase<|call|>", "{'path': 'a',}"),)
    agent = agent_for(turn, ScriptedModel(calls, "done"))
    asyncio.run(agent.run("go"))
    assert erased == ["a"]
    sent = agent.transcript[1]["tool_calls"][0]["function"]
    assert sent == {"name": "erase", "arguments": '{"path": "a"}'}


def test_a_mended_call_is_guarded_like_any_other(turn, erased):
    turn.decision = "deny"
    model = ScriptedModel((written("erase_tool", "{path: 'a'}"),), "done")
    asyncio.run(agent_for(turn, model).run("go"))
    assert erased == []


def test_the_same_mistake_ends_the_turn_at_the_third_time_although_others_run(turn):
    turn.tool("look", lambda args, **_: "ok")
    steps = [(call("look", n=n), written("erase", '{"path": "' + "a" * n)) for n in range(9)]
    turn.tool("erase", lambda args, **_: "ok")
    model = ScriptedModel(*steps)
    outcome = asyncio.run(agent_for(turn, model).run("go"))
    assert (outcome.status, len(model.requests)) == ("stopped", 3)
    assert "the same mistake 3 times: The arguments of erase" in outcome.reason


def test_a_name_that_no_server_takes_is_sent_back_in_plain_signs(turn):
    agent = agent_for(turn, ScriptedModel((written("no such tool!", "{}"),), "done"))
    asyncio.run(agent.run("go"))
    assert agent.transcript[1]["tool_calls"][0]["function"]["name"] == "no_such_tool_"
    assert is_valid(agent.transcript)


def test_an_empty_reply_is_nudged_and_costs_no_step(turn):
    model = ScriptedModel("", (Delta("reasoning", "Hm."),), "done")
    agent = agent_for(turn, model, steps=5)
    assert asyncio.run(agent.run("go")).text == "done"
    assert agent.budget.used == 1
    said = [request.messages[-1]["content"] for request in model.requests]
    assert "was empty" in said[1]
    assert "thoughts and no answer" in said[2]
    assert [message["content"] for message in agent.transcript] == ["go", "done"]


def test_a_model_that_stays_silent_is_given_up(turn):
    model = ScriptedModel(*[""] * 9)
    outcome = asyncio.run(agent_for(turn, model).run("go"))
    assert (outcome.status, len(model.requests)) == ("stopped", 3)
    assert "empty answer 3 times" in outcome.reason


def test_scripts_are_free_but_not_for_ever(turn):
    turn.tool("execute_code", lambda args, **_: tool_result(ok=True))
    model = ScriptedModel(*[(call("execute_code", code=str(n)),) for n in range(4)], "so far")
    outcome = asyncio.run(agent_for(turn, model, steps=2).run("go"))
    assert (outcome.text, outcome.reason) == ("so far", "all 2 steps are used")


class Bug(Exception):
    """Something that nobody foresaw."""


@pytest.mark.parametrize("event", ["BatchStarted", "ToolCallFinished", "StepFinished"])
def test_the_transcript_stays_valid_when_something_unforeseen_is_raised(turn, event):
    turn.tool("look", lambda args, **_: tool_result(ok=True))
    agent = agent_for(turn, ScriptedModel((call("look", n=1), call("look", n=2)), "done"))

    def emit(said):
        if type(said).__name__ == event:
            raise Bug

    agent.emit = emit
    with pytest.raises(Bug):
        asyncio.run(agent.run("go"))
    assert is_valid(agent.transcript)
    assert not agent.transcript or agent.transcript[-1]["role"] == "assistant"


def test_ids_stay_different_whatever_the_model_calls_them():
    calls = tuple(RawCall(id=name, name="t", arguments="") for name in ("a_2", "a", "a", "", ""))
    ids = [each.id for each in with_own_ids(Reply(calls=calls)).calls]
    assert len(set(ids)) == 5
    assert all(ids)


def test_of_a_flood_of_calls_the_first_are_run_and_the_person_is_told(turn):
    turn.tool("look", lambda args, **_: tool_result(ok=True), effects="read")
    model = ScriptedModel(tuple(call("look", n=n) for n in range(1_000)), "done")
    agent = agent_for(turn, model)
    asyncio.run(agent.run("go"))
    assert len(turn.of(ToolCallFinished)) == MAX_CALLS
    assert is_valid(agent.transcript)
    assert "1,000 calls at once" in turn.of(NoticeGiven)[0].text


def test_two_interrupts_in_a_row_leave_a_valid_transcript_and_end_the_tool(turn):
    started, ended = [], []

    async def stuck(args, **_):
        started.append(1)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)

    turn.tool("stuck", stuck)
    agent = agent_for(turn, ScriptedModel((call("stuck"),), "done"))

    async def main():
        running = asyncio.create_task(agent.run("go"))
        while not started:  # noqa: ASYNC110 - an Event belongs to a loop that is not there yet
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0)

    asyncio.run(main())
    assert is_valid(agent.transcript)
    assert ended == [1]


def test_a_notice_about_waiting_is_taken_back_when_the_reply_is_there(turn):
    class Waiting(ScriptedModel):
        async def reply(self, messages, tools, on_delta):
            on_delta(Delta("notice", "loading"))
            return await super().reply(messages, tools, on_delta)

    asyncio.run(agent_for(turn, Waiting("done")).run("go"))
    assert [event.text for event in turn.of(NoticeGiven)] == ["loading", ""]


def test_a_model_that_goes_in_circles_is_told_and_then_stopped(turn):
    turn.tool("look", lambda args, **_: tool_result(found=0))
    model = ScriptedModel(*[(call("look"),)] * 20)
    agent = agent_for(turn, model)
    outcome = asyncio.run(agent.run("find it"))
    assert outcome.status == "stopped"
    assert "5 steps in a row repeated calls" in outcome.reason
    assert len(model.requests) == 6
    assert "brought nothing that you did not know" in model.requests[-1].messages[-1]["content"]
    assert is_valid(agent.transcript)
    assert "did not know" not in json.dumps(agent.transcript)
