"""Models that fail, loop and ask for nonsense: the others go on, and the parent hears of it."""

import asyncio
import json

import pytest
from delegating import ECHO, delegating

from hermes_jupyter.agents_settings import DelegationSettings
from hermes_jupyter.events import ChildStarted, ChildTold, StepFinished, ToolCallFinished
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import Conversation, Refusal, Step, conversation
from hermes_jupyter.turn_values import TurnOptions


def dying(match, *before):
    """A model that answers so far, and then no more."""
    kept = conversation(match, *before).steps
    return Conversation(match=match, steps=(*kept, Step(reply=Refusal(status=401))))


def test_a_child_whose_model_dies_is_an_error_and_the_others_go_on(open_desk):
    desk = open_desk(
        dying("^die", ("I begin.", *ECHO)),
        conversation("^live", ECHO, "I live."),
        delegating("die", "live"),
    )
    assert desk.run().text == "All is done."
    died, lived = desk.results
    assert (died["status"], died["exit_reason"]) == ("error", "error")
    assert "401" in died["error"] or "key" in died["error"]
    assert died["summary"] == "I begin."
    assert [each["tool"] for each in died["tool_trace"]] == ["terminal"]
    assert lived["summary"] == "I live."


def test_a_child_that_cannot_begin_is_an_error(open_desk):
    desk = open_desk(dying("^die"), delegating("die"))
    desk.run()
    (report,) = desk.results
    assert (report["status"], report["summary"], report["tool_trace"]) == ("error", "", [])


def test_a_child_that_runs_in_circles_is_stopped(open_desk):
    missing = (call("read_file", path="none.txt"),)
    desk = open_desk(delegating("loop"), conversation("", *[missing] * 40))
    desk.run()
    (report,) = desk.results
    assert (report["status"], report["exit_reason"]) == ("failed", "stopped")
    assert report["error"]
    assert report["api_calls"] < 20


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "'goal' is empty"),
        ({"goal": ""}, "'goal' is empty"),
        ({"goal": "   \n "}, "'goal' is empty"),
        ({"tasks": []}, "'goal' is empty"),
        ({"tasks": [{"goal": "a"}, {"goal": " "}]}, "'tasks[1].goal' is empty"),
        ({"goal": "a", "toolsets": ["flie"]}, "named 'flie'"),
        ({"goal": "a", "toolsets": ["memory"]}, "you have no tool of memory that a child may have"),
        ({"goal": "a", "toolsets": ["web"]}, "you have no tool of web that a child may have"),
        ({"goal": "x" * 1_000_000}, "1,000,000 characters"),
        ({"goal": "a", "context": "x" * 1_000_000}, "1,000,000 characters"),
        ({"tasks": [{"goal": "a"}] * 101}, "101 tasks are too many"),
    ],
)
def test_what_cannot_be_given_away_is_said_and_nothing_begins(open_desk, args, why):
    desk = open_desk(conversation("^share", (call("delegate_task", **args),), "I see."))
    assert desk.run().text == "I see."
    assert why in desk.answer["error"]
    assert not desk.of(ChildStarted)


def test_a_child_deeper_than_allowed_is_refused_whoever_asks(open_desk):
    from hermes_jupyter.delegation.delegation import Delegation

    desk = open_desk("x")
    lent = type("Lent", (), {"settings": desk.hermes.settings, "depth": 1})()
    with pytest.raises(ValueError, match="down to a depth of 1"):
        asyncio.run(Delegation(desk.hermes, lent).run([], call_id="c", cancelled=None, say=len))


def test_fifty_tasks_are_worked_off_three_at_a_time(open_desk):
    desk = open_desk(
        conversation("^task", ECHO, "One more."), delegating(*(f"task {n}" for n in range(50)))
    )
    desk.run()
    assert [each["status"] for each in desk.results] == ["completed"] * 50
    assert [each["task_index"] for each in desk.results] == list(range(50))
    open_now, most = 0, 0
    for event in desk.events:
        open_now += isinstance(event, ChildStarted)
        open_now -= type(event).__name__ == "ChildFinished"
        most = max(most, open_now)
    assert most == 3


def test_lone_surrogates_reach_nobody(open_desk):
    bad = "count \ud800 them"
    desk = open_desk(
        conversation("^count", (call("terminal", command="echo \udfff"),), "One \udc00."),
        conversation("^share", (call("delegate_task", goal=bad, context=bad),), "Done."),
    )
    assert desk.run().text == "Done."
    (report,) = desk.results
    assert report["status"] == "completed"
    json.dumps(report, ensure_ascii=False).encode()
    stored = desk.hermes.conversations.stored
    (child,) = stored.children(stored.get(desk.hermes.session().id))
    child.title.encode()


def test_a_child_that_fails_by_a_bug_of_ours_ends_alone(open_desk, monkeypatch):
    from hermes_jupyter.delegation import turn as module

    real = module.child_prompt
    calls = []

    def broken(*args, **kwargs):
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError("of ours")
        return real(*args, **kwargs)

    monkeypatch.setattr(module, "child_prompt", broken)
    desk = open_desk(
        conversation("^count", "Counted."),
        delegating("count a", "count b"),
        delegation=DelegationSettings(max_concurrent_children=1),
    )
    desk.run()
    assert [each["status"] for each in desk.results] == ["error", "completed"]
    assert "ZeroDivisionError" in desk.results[0]["error"]


def interrupted(desk, when):
    """Run a turn and interrupt it once ``when`` sees an event that it likes."""

    async def main():
        task = asyncio.get_running_loop().create_task(desk.turn())
        seen = asyncio.Event()
        desk.on_event = lambda event: seen.set() if when(event) else None
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)  # what goes on behind the interrupt, on a loop that stays

    asyncio.run(main())


def is_napping(event):
    return isinstance(event, ChildTold) and type(event.event).__name__ == "ToolCallStarted"


NAP = ("I begin to nap.", call("terminal", command="sleep 40"))


def test_an_interrupt_keeps_what_children_have_done(open_desk):
    desk = open_desk(
        conversation("^nap", NAP, "never"),
        delegating("nap", "wait"),
        delegation=DelegationSettings(max_concurrent_children=1),
    )
    interrupted(desk, is_napping)
    result = desk.of(ToolCallFinished)[-1].result
    assert result.status == "interrupted"
    napping, waiting = json.loads(json.loads(result.text)["partial_result"])["results"]
    assert (napping["status"], napping["summary"]) == ("interrupted", "I begin to nap.")
    assert (waiting["status"], waiting["api_calls"]) == ("interrupted", 0)
    last = desk.hermes.session().transcript[-2]
    assert "I begin to nap." in last["content"]


def test_an_interrupt_leaves_valid_transcripts_in_parent_and_child(open_desk):
    desk = open_desk(
        conversation("^nap", NAP, "never"), delegating("nap"), conversation("^and now", "Good.")
    )
    interrupted(desk, is_napping)
    desk.events.clear()
    assert desk.run("and now").text == "Good."
    stored = desk.hermes.conversations.stored
    (child,) = stored.children(stored.get(desk.hermes.session().id))
    assert not child.running
    messages = stored.reopen(child.id).transcript
    assert [message["role"] for message in messages][-3:] == ["assistant", "tool", "assistant"]


def test_a_tool_that_does_not_end_holds_up_neither_the_parent_nor_its_report(open_desk):
    import threading

    from tools.registry import ToolRegistry, registry

    tools, released = ToolRegistry(), threading.Event()
    tools.restore(registry.saved())
    tools.register("stuck", "mine", {"description": "x"}, lambda args, **_: str(released.wait(20)))
    desk = open_desk(
        conversation("^hang", ("I hang.", call("stuck")), "never"), delegating("hang"), tools=tools
    )
    interrupted(desk, is_napping)
    released.set()
    result = desk.of(ToolCallFinished)[-1].result
    (report,) = json.loads(json.loads(result.text)["partial_result"])["results"]
    assert (report["status"], report["summary"]) == ("interrupted", "I hang.")


def test_a_person_stops_one_child_and_the_others_go_on(open_desk):
    desk = open_desk(
        conversation("^nap", NAP, "never"),
        conversation("^work", ECHO, "Worked."),
        delegating("nap", "work"),
    )

    def stop(event):
        if is_napping(event) and "sleep" in str(event.event.call.args):
            assert desk.hermes.session().desk.stop(event.child)

    desk.on_event = stop
    assert desk.run().text == "All is done."
    stopped, other = desk.results
    assert (stopped["status"], stopped["error"]) == ("interrupted", "stopped by the user")
    assert stopped["summary"] == "I begin to nap."
    assert other["summary"] == "Worked."
    assert not desk.hermes.session().desk.stop(desk.started[0].id)


def test_a_conversation_of_a_child_that_was_killed_can_be_read(open_desk, tmp_path):
    """As if the kernel had died: nothing is closed, and another one looks."""
    from hermes_jupyter.hermes import Hermes

    desk = open_desk(conversation("^nap", NAP, "never"), delegating("nap"))

    async def main():
        task = asyncio.get_running_loop().create_task(desk.turn())
        seen = asyncio.Event()
        desk.on_event = lambda event: seen.set() if is_napping(event) else None
        await seen.wait()
        other = Hermes(desk.hermes.settings)
        stored = other.conversations.stored
        (about,) = stored.listing()
        (child,) = stored.children(about)
        told = [event for _, event in stored.history(child) if isinstance(event, StepFinished)]
        entries = stored.history(about)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await other.close()
        return told, [event for _, event in entries if isinstance(event, ChildStarted)]

    told, started = asyncio.run(main())
    assert [event.text for event in told] == ["I begin to nap."]
    assert [event.child.goal for event in started] == ["nap"]


def test_options_of_the_turn_hold_for_children(open_desk):
    desk = open_desk(conversation("^count", "1"), delegating("count"))
    asyncio.run(
        desk.hermes.turn(
            "share",
            session=desk.hermes.session(),
            options=TurnOptions(model="chosen"),
            listeners=[desk.hear],
        )
    )
    assert desk.results[0]["model"] == "chosen"


def test_a_key_in_a_goal_is_half_shown_nowhere(open_desk):
    key = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    desk = open_desk(
        conversation("^use", f"I used {key}."), delegating(f"use the key {key} for all of it")
    )
    desk.run()
    told = repr([*desk.started, *desk.finished])
    assert key[:12] not in told
    assert key in desk.asked("use")[0]["messages"][-1]["content"]


@pytest.mark.parametrize("command", ["sleep 40", "trap '' INT TERM; sleep 40"])
def test_nothing_is_told_of_children_after_the_turn_has_ended(open_desk, command):
    nap = ("I begin.", call("terminal", command=command))
    desk = open_desk(conversation("^nap", nap, "never"), delegating("nap a", "nap b"))
    interrupted(desk, is_napping)
    names = [type(event).__name__ for event in desk.events]
    assert names.index("TurnFinished") == len(names) - 1
    assert names.count("ChildFinished") == 2
    stored = desk.hermes.conversations.stored
    entries = stored.entries(stored.get(desk.hermes.session().id))
    assert [entry.kind for entry in entries if not entry.is_message][-1] == "TurnFinished"
