import sqlite3
from pathlib import Path

import pytest

from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall, ToolResult, Usage
from hermes_jupyter.events import (
    ApprovalResolved,
    NoticeGiven,
    QuestionAnswered,
    ReasoningStreamed,
    StepFinished,
    TextStreamed,
    ToolCallFinished,
    ToolOutputStreamed,
    TurnFinished,
    TurnStarted,
)

LS = ToolCall(id="c1", name="terminal", args={"command": "ls -la"})
SECRET = "sk-proj-abcdefghij1234567890ABCDEFGHIJ"


def bytes_of(home):
    return b"".join(path.read_bytes() for path in Path(home, "jupyter").glob("state.db*"))


def test_nothing_is_on_disk_before_the_first_turn(talk, home):
    assert not talk.journal.is_stored
    assert not Path(home).exists()


def test_a_conversation_comes_back_as_it_was(talk):
    talk.messages.append({"role": "system", "content": "You are."})
    talk.ask("list the files")
    talk.say("I look.", LS)
    talk.answer(LS, '{"output": "a\\nb"}')
    talk.say("Two files.")
    talk.end("Two files.")
    before = [*talk.messages]
    reopened = talk.left()
    assert reopened.transcript == before
    assert not reopened.was_cut
    assert (reopened.about.messages, reopened.about.title) == (4, "list the files")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "type": "function",
         "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "assistant", "content": "", "reasoning_content": "hm"},
        {"role": "user", "content": [{"type": "text", "text": "see"},
         {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        {"role": "user", "content": "a\x00b \ud83d\ude00 \u2028 🜁"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "type": "function",
         "function": {"name": "f", "arguments": "no json"}}]},
    ],
)  # fmt: skip
def test_messages_of_every_shape_come_back(talk, message):
    talk.ask("go")
    talk.messages.append(message)
    talk.end()
    (found,) = talk.left().transcript[1:]
    if isinstance(message["content"], str):
        message = {**message, "content": message["content"].replace("\ud83d\ude00", "😀")}
    assert found == message


def test_every_event_comes_back_with_the_arguments_of_its_calls(talk, sessions):
    request = ApprovalRequest(id="r", call=LS, reason="lists", shown="ls -la", cwd="/", grant="g",
                              digest="d", effects=("reads",))  # fmt: skip
    talk.ask("go")
    talk.say("I look.", LS)
    told = [
        ApprovalResolved(request=request, decision="once", by="widget", note="fine"),
        QuestionAnswered(question=Question(id="q", text="?", choices=("a",)), answer="a", by="w"),
        NoticeGiven(text="careful", level="warning"),
        ToolCallFinished(result=ToolResult(call=LS, text="out", status="error", exit_code=2)),
        TurnFinished(status="stopped", text="so far", reason="enough", steps=3, seconds=1.5,
                     usage=Usage(prompt_tokens=5)),
    ]  # fmt: skip
    talk.tell(*told)
    events = [event for _, event in sessions.history(talk.stored)]
    assert [e for e in events if type(e) in {type(one) for one in told}] == told
    assert isinstance(events[0], TurnStarted)
    assert events[2].calls == (LS,)


def test_progress_is_not_kept(talk, sessions):
    talk.ask("go")
    talk.tell(NoticeGiven(text="loading 3 %", key="model"))
    assert [type(event) for _, event in sessions.history(talk.stored)] == [TurnStarted]


def test_what_is_streamed_is_on_disk_at_once_and_gone_when_it_is_whole(talk, home):
    talk.ask("go")
    talk.tell(ReasoningStreamed(text="I thi"), ReasoningStreamed(text="nk"))
    talk.tell(TextStreamed(text="Hel"), TextStreamed(text="lo"))
    talk.tell(ToolOutputStreamed(call=LS, text="line\n"))
    other = sqlite3.connect(Path(home, "jupyter", "state.db"))
    partials = "SELECT kind, call, text FROM partials ORDER BY part"
    assert other.execute(partials).fetchall() == [
        ("reasoning", "", "I think"), ("text", "", "Hello"), ("output", "c1", "line\n")
    ]  # fmt: skip
    talk.tell(StepFinished(number=1, text="Hello"))
    talk.tell(ToolCallFinished(result=ToolResult(call=LS, text="line\n")))
    assert other.execute(partials).fetchall() == []
    other.close()


def test_the_output_of_a_call_is_bounded(talk, home):
    talk.ask("go")
    for number in range(300):
        talk.tell(ToolOutputStreamed(call=LS, text=f"{number} " + "x" * 1_000))
    other = sqlite3.connect(Path(home, "jupyter", "state.db"))
    texts = [text for (text,) in other.execute("SELECT text FROM partials ORDER BY part")]
    other.close()
    assert sum(map(len, texts)) < 60_000
    assert "299 " in texts[-1]


def test_no_secret_is_written(talk, home):
    talk.ask(f"use {SECRET}")
    for place in range(0, len(SECRET), 4):
        talk.tell(TextStreamed(text=SECRET[place : place + 4]))
    call = ToolCall(id="c", name="terminal", args={"command": f"curl -H 'X: {SECRET}'"})
    talk.say(f"It is {SECRET}.", call)
    talk.answer(call, "«secret:sk-:1f3a9c2b»")
    talk.end()
    talk.sessions.database.checkpoint()
    assert SECRET.encode() not in bytes_of(home)
    assert SECRET[:24].encode() not in bytes_of(home)
    assert "«redacted:sk-proj-…»" in talk.left().transcript[0]["content"]


def test_the_state_beside_the_conversation_comes_back(talk):
    todos = []
    talk.journal.state = lambda: {"todos": todos}
    talk.ask("go")
    todos.append({"id": "1", "content": "first", "status": "pending"})
    talk.say("", LS)
    talk.answer(LS, "done")
    assert talk.left().about.state == {"todos": todos}


def test_a_disk_that_fails_is_told_once_and_the_next_turn_writes_all(talk, home, monkeypatch):
    talk.exchange("one", "first")
    folder = Path(home, "jupyter")

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(type(talk.journal), "_insert", full)
        talk.ask("two")
        talk.say("second")
        talk.end("second")
    assert len(talk.warnings) == 1
    assert "not stored any more" in talk.warnings[0]
    talk.tell(TurnStarted(session="main", turn="t", prompt="three", model="m", steps=9))
    talk.messages.save()
    talk.messages.append({"role": "user", "content": "three"})
    talk.say("third")
    talk.end("third")
    before = [*talk.messages]
    assert len(before) == 6
    assert talk.left().transcript == before
    assert folder.is_dir()


def test_files_are_for_the_user_alone(talk, home):
    talk.exchange("a", "b")
    modes = {path.stat().st_mode & 0o777 for path in Path(home, "jupyter").glob("state*")}
    assert modes == {0o600}
