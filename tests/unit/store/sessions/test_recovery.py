"""A kernel that dies: the conversation opens, is valid, and tells what it does not know."""

import json

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import TextStreamed, ToolCallStarted, ToolOutputStreamed, TurnFinished

ONE = ToolCall(id="c1", name="write_file", args={"path": "a"})
TWO = ToolCall(id="c2", name="terminal", args={"command": "make"})


def answers(reopened):
    return {
        message["tool_call_id"]: json.loads(message["content"])
        for message in reopened.transcript
        if message["role"] == "tool"
    }


def last_event(sessions, talk):
    return [event for _, event in sessions.history(talk.stored)][-1]


def test_a_call_that_had_begun_is_unknown_and_the_others_are_said_exactly(talk, sessions):
    talk.ask("go")
    third = ToolCall(id="c3", name="terminal", args={"command": "ls"})
    talk.say("I work.", ONE, TWO, third)
    talk.run(ONE, '{"written": 3}')
    talk.tell(ToolCallStarted(call=TWO), ToolOutputStreamed(call=TWO, text="cc main.c\n"))
    reopened = talk.left()
    told = answers(reopened)
    assert told["c1"] == {"written": 3}
    assert told["c2"]["status"] == "unknown whether it ran"
    assert told["c2"]["partial_output"] == "cc main.c\n"
    assert told["c3"]["status"] == "not run"
    assert reopened.transcript[-1]["role"] == "assistant"
    assert reopened.was_cut
    finished = last_event(sessions, talk)
    assert isinstance(finished, TurnFinished)
    assert (finished.status, finished.reason) == ("interrupted", "the kernel ended while it ran")


def test_text_that_was_streaming_is_kept(talk, sessions):
    talk.ask("go")
    talk.tell(TextStreamed(text="The answer "), TextStreamed(text="is 4"))
    reopened = talk.left()
    assert reopened.transcript[-1] == {
        "role": "assistant", "content": "The answer is 4\n\n[interrupted]"
    }  # fmt: skip
    assert any(
        isinstance(event, TextStreamed) and event.text == "The answer is 4"
        for _, event in sessions.history(talk.stored)
    )


def test_a_step_that_was_finished_but_not_added_is_kept(talk):
    from hermes_jupyter.events import StepFinished

    talk.ask("go")
    talk.tell(TextStreamed(text="Done."), StepFinished(number=1, text="Done."))
    assert talk.left().transcript[-1]["content"] == "Done.\n\n[interrupted]"


def test_a_prompt_without_any_reply_is_closed(talk):
    talk.ask("go")
    assert [message["role"] for message in talk.left().transcript] == ["user", "assistant"]


def test_a_turn_is_closed_once(talk, sessions):
    talk.ask("go")
    talk.say("I look.", ONE)
    first = [*talk.left().transcript]
    talk.journal.close()
    sessions._holds.give_up(talk.stored.number)
    again = sessions.reopen(talk.id)
    assert again.transcript == first
    assert not again.was_cut


def test_it_goes_on_after_it_was_closed(talk, taken_up):
    talk.ask("go")
    talk.say("", ONE)
    after = taken_up(talk.left())
    after.exchange("and now?", "Now it is done.")
    assert [m["role"] for m in after.left().transcript][-2:] == ["user", "assistant"]


def test_the_call_of_a_person_leaves_the_transcript_alone(talk, taken_up):
    from hermes_jupyter.events import BatchStarted, TurnStarted

    talk.exchange("a", "b")
    before = [*talk.messages]
    talk.tell(
        TurnStarted(session="main", turn="t", prompt="%hermes call x {}", model="", steps=0),
        BatchStarted(calls=(ONE,)),
        ToolCallStarted(call=ONE),
    )
    assert talk.left().transcript == before


def two_steps(talk):
    talk.ask("go")
    talk.say("I work.", ONE, TWO)
    talk.run(TWO, "{}")
    talk.answer(ONE, "{}")
    talk.messages.append({"role": "tool", "tool_call_id": TWO.id, "content": "{}"})
    talk.say("Done.")
    talk.end("Done.")
    talk.ask("never")


@pytest.mark.parametrize("broken", range(1, 14))
def test_wherever_it_breaks_every_call_has_one_result(talk, broken):
    """Stop after the n-th write of a turn with two steps."""
    steps = iter(range(broken))
    hear, add = talk.journal.hear, talk.journal.add

    def limited(write):
        def wrapped(*args):
            if next(steps, None) is None:
                raise KeyboardInterrupt
            return write(*args)

        return wrapped

    talk.journal.hear, talk.journal.add = limited(hear), limited(add)
    with pytest.raises(KeyboardInterrupt):
        two_steps(talk)
    transcript = talk.left().transcript
    open_calls = []
    for message in transcript:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
        else:
            assert not open_calls
            open_calls = [call["id"] for call in message.get("tool_calls", ())]
    assert not open_calls
    assert not transcript or transcript[-1]["role"] == "assistant"
