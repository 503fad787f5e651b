"""A turn that did not come to its end can be gone on with, and one that did cannot."""

import asyncio

import pytest

from hermes_jupyter.errors import ModelError, TurnError
from hermes_jupyter.events import MessageSaid, NoticeGiven, TurnFinished
from hermes_jupyter.going_on import GO_ON, next_prompt
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn import UNREAD
from hermes_jupyter.turn_values import TurnOptions


@pytest.fixture
def hermes(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1", notebook="n.ipynb"))
    yield made
    asyncio.run(made.close())


@pytest.fixture
def events():
    return []


@pytest.fixture
def run(hermes, events):
    def work(*replies, prompt="go", listen=events.append, **options):
        hermes.model = lambda settings: ScriptedModel(*replies)
        turn = hermes.turn(
            prompt,
            session=hermes.session(),
            options=TurnOptions(approve="off", **options),
            listeners=[listen],
        )
        return asyncio.run(turn)

    return work


def test_a_failure_in_the_middle_is_gone_on_with(hermes, run):
    with pytest.raises(ModelError):
        run((call("todo"),), ModelError("gone", kind="auth"))
    assert next_prompt(hermes.session()) == GO_ON
    assert run("done", prompt=GO_ON).text == "done"
    with pytest.raises(TurnError, match="nothing to go on with"):
        next_prompt(hermes.session())


def test_a_failure_at_the_first_call_asks_the_same_once_more(hermes, run):
    with pytest.raises(ModelError):
        run(ModelError("gone", kind="auth"), prompt="count them")
    assert next_prompt(hermes.session()) == "count them"


def test_a_turn_whose_steps_are_used_up_is_gone_on_with(hermes, run):
    assert run((call("todo"),), "so far", max_steps=1).status == "stopped"
    assert next_prompt(hermes.session()) == GO_ON


def test_the_calls_that_an_interrupt_kept_from_starting_are_skipped(hermes, run, events):
    calls = tuple(call("terminal", command=command) for command in ("sleep 30", "echo 1 > one"))

    def interrupt(event):
        events.append(event)
        if type(event).__name__ == "ToolCallStarted":
            hermes.session().stop()

    with pytest.raises(asyncio.CancelledError):
        run(calls, listen=interrupt)
    first, second = [m["content"] for m in hermes.session().transcript if m["role"] == "tool"]
    assert '"interrupted"' in first
    assert "skipped: interrupted" in second
    shown = [e.result.text for e in events if type(e).__name__ == "ToolCallFinished"]
    assert shown == [first, second]
    assert next_prompt(hermes.session()) == GO_ON


def test_another_kernel_goes_on_where_the_first_one_was(hermes, run, tmp_path):
    with pytest.raises(ModelError):
        run((call("todo"),), ModelError("gone", kind="auth"))
    asyncio.run(hermes.close())
    other = Hermes(hermes.settings)
    assert next_prompt(other.session()) == GO_ON
    asyncio.run(other.close())


def test_what_is_said_while_it_runs_is_shown_and_read(hermes, run, events):
    def say(event):
        events.append(event)
        if type(event).__name__ == "ToolCallStarted":
            assert hermes.session().mailbox.say("and b")

    run((call("todo"),), "done", listen=say)
    assert MessageSaid(text="and b") in events
    assert "and b" in hermes.session().transcript[-2]["content"]


def test_what_comes_too_late_is_offered_for_the_next_turn(hermes, run, events):
    def say(event):
        events.append(event)
        if type(event).__name__ == "StepStarted":
            hermes.session().mailbox.say("and b")

    run("done", listen=say, max_steps=1)
    assert UNREAD in [event.text for event in events if isinstance(event, NoticeGiven)]
    assert isinstance(events[-1], TurnFinished)
    assert next_prompt(hermes.session()) == "and b"
    with pytest.raises(TurnError):
        next_prompt(hermes.session())


def test_the_next_prompt_brings_it_and_shows_it(hermes, run, events):
    assert not hermes.session().mailbox.say("in red")
    run("done", prompt="paint it")
    assert MessageSaid(text="in red") in events
    assert hermes.session().transcript[1]["content"] == "paint it\n\nin red"
