import asyncio
from dataclasses import replace

import pytest

from hermes_jupyter.calls import ApprovalRequest, Question, Ruling, ToolCall
from hermes_jupyter.control.answering import Answering
from hermes_jupyter.control.watch import Watch
from hermes_jupyter.events import (
    ApprovalRequested,
    QuestionAsked,
    StepStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.kernel.control import Refusal
from hermes_jupyter.road.approval import ApprovalDesk

REQUEST = ApprovalRequest(
    id="r", call=ToolCall(id="1", name="terminal", args={"command": "rm a"}), reason="deletes a",
    shown="rm a", cwd="/", grant="this call", digest="d", editable="command",
)  # fmt: skip
SECRET = Question(id="q", text="Password?", secret=True)


class Talked:
    name = "default"

    def __init__(self):
        self.desk, self.mailbox, self.stopped = ApprovalDesk(), self, False
        self.said = []

    def stop(self):
        self.stopped = True
        return True

    def say(self, text):
        self.said.append(text)
        return True


class Kernel:
    """A session whose turn is watched; ``ask`` does a request on the control channel."""

    def __init__(self):
        self.told, self.session = [], Talked()
        self.watch = Watch(lambda event, **about: self.told.append((event, about)), lambda: 1.0)
        self._answering = Answering(self.watch, dict)
        self.turn = self.watch.listener(self.session, "c1")
        self.turn(TurnStarted(session="default", turn="t1", prompt="go", model="m", steps=9))

    def ask(self, do, **about):
        return self._answering({"protocol": 1, "do": do, **about})

    def refused(self, do, **about):
        with pytest.raises(Refusal) as refusal:
            self.ask(do, **about)
        return refusal.value.code

    def answer(self, **about):
        (shown,) = self.ask("pending")["requests"]
        asked = {"request": "r", "digest": shown["digest"], "choice": "once"}
        return self.ask("answer", **{**asked, **about})


def decided(act, request=REQUEST):
    """The ruling on a request during which ``act(kernel)`` is done."""
    kernel = Kernel()

    def emit(event):
        kernel.turn(event)
        if isinstance(event, ApprovalRequested):
            act(kernel)

    return asyncio.run(kernel.session.desk.decide(request, emit)).value, kernel


def test_an_answer_decides():
    ruling, kernel = decided(lambda kernel: kernel.answer(note="fine"))
    assert ruling == Ruling(decision="once", note="fine")
    assert kernel.ask("pending")["requests"] == []


def test_clients_hear_what_is_asked_and_how_it_was_answered():
    _, kernel = decided(lambda kernel: kernel.answer(choice="deny"))
    asked = dict(kernel.told)["asked"]["request"]
    answered = dict(kernel.told)["answered"]["request"]
    assert (asked["id"], asked["turn"], asked["asked_at"]) == ("r", "t1", 1.0)
    said = {"decision": "deny", "by": "message", "said": "Denied by you on another page"}
    assert answered == {"id": "r", "turn": "t1", "outcome": said}


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("panel", "Denied by you in the panel: no"),
        ("page", "Denied by you on the server's page: no"),
        (None, "Denied by you on another page: no"),
    ],
)
def test_it_is_told_what_an_answer_came_from(by, said):
    _, kernel = decided(lambda kernel: kernel.answer(choice="deny", note="no", by=by))
    outcome = dict(kernel.told)["answered"]["request"]["outcome"]
    assert outcome == {"decision": "deny", "by": by or "message", "said": said}


def test_an_unchanged_edit_is_the_call_itself():
    ruling, _ = decided(lambda kernel: kernel.answer(edited="rm a"))
    assert ruling == Ruling(decision="once")


def test_the_second_answer_is_refused():
    def both(kernel):
        kernel.session.desk.answer("r", "deny", by="widget", digest="d")
        with pytest.raises(Refusal, match="changed nothing"):
            kernel.answer()

    ruling, _ = decided(both)
    assert ruling.decision == "deny"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"digest": "\ud800"}, "digest"),
        ({"digest": ""}, "invalid"),
        ({"choice": "always"}, "invalid"),  # there is no rule
        ({"choice": "edit"}, "invalid"),
        ({"by": "rule"}, "invalid"),  # nobody answers in the name of another
        ({"edited": "  "}, "invalid"),
        ({"edited": "rm \ud800"}, "invalid"),
        ({"note": ["x"]}, "invalid"),
        ({"note": "x" * 4_001}, "invalid"),
        ({"x": 1}, "invalid"),
        ({"request": {}}, "invalid"),
    ],
)
def test_what_does_not_fit_is_refused_and_decides_nothing(wrong, code):
    def act(kernel):
        with pytest.raises(Refusal) as refusal:
            kernel.answer(**wrong)
        assert refusal.value.code == code
        assert len(kernel.ask("pending")["requests"]) == 1
        kernel.answer(choice="deny")

    assert decided(act)[0].decision == "deny"


@pytest.mark.parametrize("change", [{"shown": "rm b"}, {"digest": "e"}, {"cwd": "/tmp"}])
def test_an_answer_to_a_call_does_not_count_for_another_one_with_its_id(change):
    """As after a restart, if ids were used again."""
    old = []
    decided(lambda kernel: old.append(kernel.ask("pending")["requests"][0]) or kernel.answer())

    def act(kernel):
        with pytest.raises(Refusal) as refusal:
            kernel.answer(digest=old[0]["digest"])
        assert refusal.value.code == "digest"
        kernel.answer(choice="deny")

    assert decided(act, replace(REQUEST, **change))[0].decision == "deny"


def test_an_answer_in_the_wrong_turn_does_not_count():
    """The same call, asked in another turn of another cell."""
    old = []
    decided(lambda kernel: old.append(kernel.ask("pending")["requests"][0]) or kernel.answer())
    kernel = Kernel()
    other = kernel.watch.listener(kernel.session, "c2")
    other(TurnStarted(session="default", turn="t2", prompt="go", model="m", steps=9))
    other(ApprovalRequested(request=REQUEST))
    asked = {"request": "r", "digest": old[0]["digest"], "choice": "once"}
    assert kernel.refused("answer", **asked) == "digest"


def test_an_answer_to_a_question_is_not_told_to_others():
    kernel = Kernel()

    def emit(event):
        kernel.turn(event)
        if isinstance(event, QuestionAsked):
            (shown,) = kernel.ask("pending")["questions"]
            assert kernel.refused("answer", request="q", digest="x", choice="once") == "unknown"
            kernel.ask("reply", question="q", digest=shown["digest"], text="hunter2")

    assert asyncio.run(kernel.session.desk.ask(SECRET, emit)) == "hunter2"
    assert "hunter2" not in str(kernel.told)


def test_a_turn_is_found_by_its_id_as_long_as_it_runs():
    kernel = Kernel()
    assert kernel.ask("say", turn="t1", text="more") == {"read_by_turn": True}
    assert kernel.refused("say", turn="t1", text=" ") == "invalid"
    assert kernel.refused("stop", turn="t2") == "unknown"
    assert kernel.ask("stop", turn="t1") == {"stopping": True}
    kernel.turn(TurnFinished(status="interrupted", text=""))
    assert kernel.refused("stop", turn="t1") == "unknown"
    assert kernel.ask("pending")["turns"] == []


def test_what_waits_when_a_turn_is_gone_is_stale():
    kernel = Kernel()
    kernel.turn(ApprovalRequested(request=REQUEST))
    kernel.turn.close()
    assert kernel.refused("answer", request="r", digest="x", choice="once") == "stale"


def test_a_step_counts_from_its_beginning_as_below_the_cell():
    kernel = Kernel()
    kernel.turn(StepStarted(number=1))
    (turn,) = kernel.ask("pending")["turns"]
    assert turn["steps"] == 1
    assert kernel.told[-1][0] == "turn"


def test_where_nobody_may_answer_nothing_is_asked():
    kernel = Kernel()
    headless = kernel.watch.listener(kernel.session, "c2", is_attended=False)
    headless(TurnStarted(session="s", turn="t2", prompt="go", model="m", steps=9))
    headless(ApprovalRequested(request=REQUEST))
    assert kernel.ask("pending")["requests"] == []
