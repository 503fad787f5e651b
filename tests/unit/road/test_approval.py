import asyncio
import threading

import pytest

from hermes_jupyter.calls import ApprovalRequest, Question, Ruling, ToolCall
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved, QuestionAsked
from hermes_jupyter.road.approval import ApprovalDesk

ABOUT = {
    "id": "r", "call": ToolCall(id="1", name="erase"), "reason": "erases", "shown": "erase a",
    "cwd": "/", "grant": "this call", "digest": "d",
}  # fmt: skip


def decide(answers, **about):
    """What the desk decides if ``answers`` are given from other threads, and what it returned."""
    desk, said, events = ApprovalDesk(), [], []

    def one(ruling, digest):
        said.append(desk.answer("r", ruling, by="x", digest=digest))

    def emit(event):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            for arguments in answers:
                thread = threading.Thread(target=one, args=arguments)
                thread.start()
                thread.join()

    answer = asyncio.run(desk.decide(ApprovalRequest(**ABOUT, **about), emit))
    return answer.value, said, events


def test_the_first_answer_counts():
    value, said, _ = decide([("deny", "d"), ("once", "d")])
    assert (value.decision, said) == ("deny", [True, False])


def test_an_answer_to_something_else_does_not_count():
    value, said, _ = decide([("once", "other"), ("deny", "d")])
    assert (value.decision, said) == ("deny", [False, True])


def test_an_answer_that_was_not_offered_does_not_count():
    edit = Ruling(decision="once", edited="erase b")
    value, said, _ = decide([("always", "d"), (edit, "d"), ("deny", "d")])
    assert (value.decision, said) == ("deny", [False, False, True])


def test_an_answer_may_bring_a_note_or_an_edit():
    edit = Ruling(decision="once", edited="erase b", note="only b")
    value, _, events = decide([(edit, "d")], editable="what")
    assert value == edit
    assert (events[-1].edited, events[-1].note) == ("erase b", "only b")


def test_listeners_hear_the_question_and_the_answer():
    _, _, events = decide([("once", "d")])
    assert [type(event) for event in events] == [ApprovalRequested, ApprovalResolved]


def test_a_question_is_answered_once():
    desk = ApprovalDesk()
    replies = []

    def emit(_event):
        if not replies:
            replies.extend(desk.reply("q", text, by="widget") for text in ("blue", "red"))

    assert asyncio.run(desk.ask(Question(id="q", text="colour?"), emit)) == "blue"
    assert replies == [True, False]


def test_silence_is_denial_and_is_called_silence():
    desk, events = ApprovalDesk(), []
    request = ApprovalRequest(**ABOUT)
    answer = asyncio.run(desk.decide(request, events.append, within=0.01))
    assert (answer.value.decision, answer.by) == ("deny", "timeout")
    assert (events[-1].decision, events[-1].by) == ("deny", "timeout")
    assert not desk.answer("r", "once", by="widget", digest="d")


def test_what_waits_is_denied_when_the_turn_ends():
    desk, events = ApprovalDesk(), []

    async def main():
        with desk.turn(events.append):
            left = asyncio.create_task(desk.decide(ApprovalRequest(**ABOUT), events.append))
            await asyncio.sleep(0)
        return await left

    answer = asyncio.run(main())
    assert (answer.value.decision, answer.by) == ("deny", "interrupt")
    assert not desk.answer("r", "once", by="widget", digest="d")


def test_an_answer_to_a_loop_that_died_is_too_late():
    desk = ApprovalDesk()

    async def left_alone():
        task = asyncio.create_task(desk.decide(ApprovalRequest(**ABOUT), lambda event: None))
        await asyncio.sleep(0)
        return task, desk._approvals["r"]

    loop = asyncio.new_event_loop()
    task, waiting = loop.run_until_complete(left_alone())
    task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    desk._approvals["r"] = waiting  # as if the loop had died without a word
    assert not desk.answer("r", "once", by="widget", digest="d")
    desk.release()


@pytest.mark.parametrize("same_loop", [True, False])
def test_a_request_of_a_child_reaches_its_parents_queue(same_loop):
    desk, events = ApprovalDesk(), []
    child = desk.child("reader").child("deeper")

    def emit(event):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            desk.answer("r", "once", by="widget", digest="d")

    def asking():
        return child.decide(ApprovalRequest(**ABOUT), lambda event: None)

    async def main():
        with desk.turn(emit):
            if same_loop:
                return await asking()
            return await asyncio.to_thread(lambda: asyncio.run(asking()))

    answer = asyncio.run(main())
    assert answer.value.decision == "once"
    assert events[0].request.asker == "reader › deeper"


def test_a_child_whose_parent_nobody_watches_is_denied():
    child, events = ApprovalDesk().child("c"), []
    answer = asyncio.run(child.decide(ApprovalRequest(**ABOUT), events.append))
    assert (answer.value.decision, answer.by) == ("deny", "policy")
    assert asyncio.run(child.ask(Question(id="q", text="?"), events.append)) is None


def test_a_child_shares_grants_and_refusals():
    desk = ApprovalDesk()
    assert desk.child("c").grants is desk.grants
    assert desk.child("c").denials is desk.denials


def test_a_childs_own_record_has_its_request_as_its_own():
    desk, heard, own = ApprovalDesk(), [], []
    child = desk.child("reader", "c1").child("deeper", "c2")

    def emit(event):
        heard.append(event)
        if isinstance(event, ApprovalRequested):
            desk.answer("r", "once", by="widget", digest="d")

    async def main():
        with desk.turn(emit), child.turn(own.append):
            await child.decide(ApprovalRequest(**ABOUT), own.append)

    asyncio.run(main())
    assert [type(event) for event in heard] == [ApprovalRequested, ApprovalResolved]
    assert {event.request.path for event in heard} == {("c1", "c2")}
    assert [type(event) for event in own] == [ApprovalRequested, ApprovalResolved]
    assert {(event.request.path, event.request.asker) for event in own} == {((), "")}


def test_a_child_says_who_asks_for_a_password():
    desk, asked = ApprovalDesk(), []

    def emit(event):
        if isinstance(event, QuestionAsked):
            asked.append(event.question.text)
            desk.reply("q", "x", by="widget")

    async def main():
        with desk.turn(emit):
            child = desk.child("reader")
            return await child.ask(Question(id="q", text="Password?", secret=True), emit)

    assert asyncio.run(main()) == "x"
    assert asked == ["reader asks: Password?"]


def test_a_child_can_be_stopped_while_it_works_and_only_then():
    desk, stopped = ApprovalDesk(), []
    with desk.child("reader").stoppable("c1", lambda: stopped.append("c1")):
        assert desk.stop("c1")
        assert not desk.stop("c2")
    assert not desk.stop("c1")
    assert stopped == ["c1"]
