"""What is told of turns and processes in the background."""

from types import SimpleNamespace

import pytest

from hermes_jupyter.background import MOST_ENDED, Background
from hermes_jupyter.calls import ApprovalRequest, Place, Question, ToolCall, ToolResult
from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputStreamed,
    TurnFinished,
    TurnStarted,
)

CALL = ToolCall(id="c1", name="terminal", args={"command": "rm a"})
REQUEST = ApprovalRequest(
    id="r1", call=CALL, reason="deletes a", shown="rm a", cwd="", grant="", digest="d"
)


class FakeJob:
    id = "proc_1"
    status = "running"
    record = SimpleNamespace(command="sleep 600", started_at=0.0, place="local")
    killed = False

    def kill(self):
        self.killed = True


class FakeSession:
    name = "main"
    busy = True
    stopped = False

    def __init__(self, *jobs):
        processes = SimpleNamespace(all=lambda: list(jobs))
        self.terminals = SimpleNamespace(local=SimpleNamespace(processes=processes))

    def stop(self):
        self.stopped = True

    def must_be_free(self):
        if self.busy:
            raise TurnError("busy in front")


def started(session, background=None):
    background = background or Background(lambda: [session])
    turn = background.follow(session, Place(number=3))
    turn(TurnStarted(session="main", turn="t", prompt="p", model="m", steps=90))
    turn(StepStarted(number=2))
    return background, turn


def test_a_turn_tells_its_cell_its_step_and_what_it_does():
    background, turn = started(FakeSession())
    assert (turn.where, turn.steps, turn.state) == ("cell [3]", "step 2 of 90", "thinks")
    turn(ToolCallStarted(call=CALL))
    assert turn.state == "runs terminal"
    turn(ToolOutputStreamed(call=CALL, text="one\ntwo\n"))
    assert turn.state == "runs terminal: two"
    turn(ToolCallFinished(result=ToolResult(call=CALL, text="ok")))
    assert turn.state == "thinks"
    assert background.told().startswith("1  turn  cell [3]  step 2 of 90  0 s  thinks\n")


def test_what_waits_for_an_answer_is_told_first():
    background, turn = started(FakeSession())
    turn(ToolCallStarted(call=CALL))
    turn(ApprovalRequested(request=REQUEST))
    turn(QuestionAsked(question=Question(id="q", text="Which?")))
    assert turn.state == "waits for your answer: terminal rm a (and 1 more)"
    assert "%hermes attach" in background.told()
    turn(ApprovalResolved(request=REQUEST, decision="deny", by="widget"))
    assert turn.state == "waits for your answer: Which?"


def test_an_end_stays_in_the_list_for_some_turns():
    session = FakeSession()
    background, first = started(session)
    first(TurnFinished(status="done", text="All is said."))
    first.end()
    assert first.state == "done: All is said."
    assert first.age.endswith(" ago")
    for _ in range(MOST_ENDED + 1):
        started(session, background)[1].end()
    assert first not in background.turns()
    assert len(background.turns()) <= MOST_ENDED + 1


def test_a_number_stops_a_turn_or_a_process_and_stays_the_same():
    job = FakeJob()
    session = FakeSession(job)
    background, turn = started(session)
    assert [process.number for process in background.processes()] == [2]
    assert [process.number for process in background.processes()] == [2]
    assert background.stop(2) == "Ended proc_1: sleep 600"
    assert job.killed
    assert background.stop(1) == "Stopping the turn of cell [3]."
    assert session.stopped
    turn.end()
    with pytest.raises(TurnError, match="no background job 1 runs"):
        background.stop(1)


def test_a_busy_conversation_is_told_by_its_job():
    session = FakeSession()
    background, turn = started(session)
    with pytest.raises(TurnError, match=r"cell \[3\], which runs in the background \(job 1\)"):
        background.must_be_free(session)
    turn.end()
    with pytest.raises(TurnError, match="busy in front"):
        background.must_be_free(session)


def test_secrets_are_masked():
    job = FakeJob()
    job.record = SimpleNamespace(
        command="curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz012345'",
        started_at=0.0,
        place="local",
    )
    told = Background(lambda: [FakeSession(job)]).told()
    assert "abcdefghijklmnop" not in told
