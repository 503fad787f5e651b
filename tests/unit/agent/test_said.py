"""What the person says while a turn runs reaches the model at the next step, once."""

import asyncio

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.said import WHILE_WORKING, add_for_user
from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing import ScriptedModel, call


class Box:
    """A mailbox without a store."""

    def __init__(self, *texts):
        self.texts = [*texts]

    def pending(self):
        return [*self.texts]

    def told(self, count):
        del self.texts[:count]


@pytest.fixture
def box():
    return Box()


@pytest.fixture
def run(turn, box):
    """Run a turn with these replies; the agent, and how it ended."""
    turn.tool("talk", lambda args, **_: box.texts.append("use tabs") or "ok")

    def work(*replies, steps=9):
        road = turn.road()
        agent = Agent(
            model=ScriptedModel(*replies),
            road=road,
            definitions=road.tools.definitions(),
            emit=turn.emit,
            budget=Budget(steps),
            transcript=[],
            cwd=lambda: str(turn.folder),
            mailbox=box,
        )
        return agent, asyncio.run(agent.run("go"))

    return work


def roles(agent):
    return [message["role"] for message in agent.transcript]


def test_it_stands_behind_the_results_of_the_step(run, box):
    agent, _ = run((call("talk"), call("talk", n=2)), "done")
    assert roles(agent) == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert agent.transcript[-2]["content"] == WHILE_WORKING.format(text="use tabs\n\nuse tabs")
    assert box.texts == []


def test_what_comes_with_the_answer_makes_the_turn_go_on(run, box):
    def answer(*_):
        box.texts.append("and b")
        return "a is done"

    agent, outcome = run(answer, "b is done")
    assert outcome.text == "b is done"
    assert [message["content"] for message in agent.transcript] == [
        "go", "a is done", "and b", "b is done",
    ]  # fmt: skip


def test_what_comes_when_the_steps_are_used_up_is_kept(run, box):
    def answer(*_):
        box.texts.append("and b")
        return "a is done"

    _, outcome = run(answer, steps=1)
    assert (outcome.text, outcome.status) == ("a is done", "done")
    assert box.texts == ["and b"]


def test_what_was_said_before_comes_with_the_prompt(run, box):
    box.texts.append("quickly")
    agent, _ = run("done")
    assert agent.transcript[0]["content"] == "go\n\nquickly"
    assert box.texts == []


def test_it_is_kept_when_the_model_cannot_be_asked(run, box):
    box.texts.append("quickly")
    with pytest.raises(ModelError):
        run(ModelError("no key", kind="auth"))
    assert box.texts == ["quickly"]


def test_a_later_failure_leaves_it_in_the_transcript(turn, run, box):
    with pytest.raises(ModelError):
        run((call("talk"),), ModelError("no key", kind="auth"))
    assert box.texts == []


def test_nothing_comes_between_a_call_and_its_result():
    transcript = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]
    add_for_user(transcript, "more")
    assert [message["role"] for message in transcript] == ["assistant", "tool", "user"]


def test_a_message_that_is_there_is_replaced_and_not_changed():
    asked = {"role": "user", "content": "go"}
    transcript = [asked]
    add_for_user(transcript, "more")
    assert (asked["content"], len(transcript)) == ("go", 1)
    assert transcript[0]["content"] == "go\n\nmore"
