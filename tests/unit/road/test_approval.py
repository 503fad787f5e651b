import asyncio
import threading

from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved
from hermes_jupyter.road.approval import ApprovalDesk

REQUEST = ApprovalRequest(
    id="r", call=ToolCall(id="1", name="erase"), reason="erases", shown="erase a", cwd="/",
    grant="this call", digest="d",
)  # fmt: skip


def decide(answers):
    """What the desk decides if ``answers`` are given from other threads, and what it returned."""
    desk, said, events = ApprovalDesk(), [], []

    def one(decision, digest):
        said.append(desk.answer("r", decision, by="x", digest=digest))

    def emit(event):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            for arguments in answers:
                thread = threading.Thread(target=one, args=arguments)
                thread.start()
                thread.join()

    answer = asyncio.run(desk.decide(REQUEST, emit))
    return answer.value, said, events


def test_the_first_answer_counts():
    value, said, _ = decide([("deny", "d"), ("once", "d")])
    assert (value, said) == ("deny", [True, False])


def test_an_answer_to_something_else_does_not_count():
    value, said, _ = decide([("once", "other"), ("deny", "d")])
    assert (value, said) == ("deny", [False, True])


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
