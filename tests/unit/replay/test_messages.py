from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import (
    BatchStarted,
    StepFinished,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.replay.comparing import difference
from hermes_jupyter.replay.messages import UNANSWERED, messages_of

ONE, TWO = (ToolCall(id=f"c{n}", name="terminal", args={"command": f"ls {n}"}) for n in (1, 2))


def recording(*events, text="Done.", reason=""):
    start = TurnStarted(session="s", turn="t", prompt="p", model="m", steps=9)
    end = TurnFinished(status="done", text=text, reason=reason)
    return Recording(
        turn="t", session_id="", prompt_sha256="", line="", cell="", at="", travels=False,
        events=(start, *events, end),
    )  # fmt: skip


def test_batches_of_one_step_are_one_message_with_all_its_calls():
    events = [
        StepFinished(number=1, text="I look."),
        BatchStarted(calls=(ONE,)),
        ToolCallFinished(result=ToolResult(call=ONE, text="one")),
        BatchStarted(calls=(TWO,)),
        ToolCallFinished(result=ToolResult(call=TWO, text="two")),
        StepFinished(number=2, text="Done."),
    ]
    user, assistant, one, two, answer = messages_of(recording(*events), "p")
    assert user == {"role": "user", "content": "p"}
    assert [call["id"] for call in assistant["tool_calls"]] == ["c1", "c2"]
    assert [one["content"], two["content"]] == ["one", "two"]
    assert answer == {"role": "assistant", "content": "Done."}


def test_a_call_without_a_result_gets_one_and_the_end_is_the_assistants():
    events = [StepFinished(number=1, text=""), BatchStarted(calls=(ONE,))]
    messages = messages_of(recording(*events, text="", reason="no steps left"), "p")
    assert messages[2]["content"] == UNANSWERED
    assert messages[-1] == {"role": "assistant", "content": "[The turn ended: no steps left]"}


def result(text, **more):
    return ToolResult(call=ONE, text=text, **more)


def test_time_and_handles_are_no_difference():
    text = '{"output": "see %s", "exit_code": 0}'
    one = result(text % "r3", seconds=1.0, handle="r3")
    assert difference(one, result(text % "r7", seconds=9.0, handle="r7")) == ""


def test_a_difference_says_what_was_and_what_is():
    said = difference(result("a\nb"), result("a\nc", status="error"))
    assert said.splitlines()[0] == "terminal: ok when recorded, error now"
    assert {"-b", "+c"} <= set(said.splitlines())
    assert "exit code 2 now" in difference(result("a"), result("a", exit_code=2))


def test_a_long_difference_is_cut():
    said = difference(result("a\n" * 90), result("b\n" * 90))
    assert len(said.splitlines()) < 50
    far = "x" * 300_000
    assert "differ behind 200,000 characters" in difference(result(far + "a"), result(far + "b"))
