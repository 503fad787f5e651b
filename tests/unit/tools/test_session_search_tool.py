import json

import pytest

from hermes_jupyter.store.sessions.browsing import Browser
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript
from tools.session_search_tool import session_search


@pytest.fixture
def sessions(tmp_path):
    opened = Sessions(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def talk(sessions):
    """Store a conversation of these texts; its id."""
    from hermes_jupyter.events import TurnFinished, TurnStarted

    def store(name, *texts):
        journal = sessions.begin(About(name))
        transcript = Transcript(journal)
        journal.count = transcript.count_said
        journal.hear(TurnStarted(session=name, turn="t", prompt=texts[0], model="m", steps=3))
        for place, text in enumerate(texts):
            transcript.append({"role": ("user", "assistant")[place % 2], "content": text})
        journal.hear(TurnFinished(status="done", text=""))
        return journal.id

    return store


@pytest.fixture
def ask(sessions):
    def search(own="", **args):
        answer = session_search(args, conversations=Browser(sessions, own))
        return json.loads(answer)

    return search


def test_without_an_agent_there_is_nothing_to_search():
    assert "agent loop" in session_search({})


def test_without_arguments_the_latest_are_listed(talk, ask):
    first, second = talk("one", "plot it"), talk("two", "read it")
    answer = ask(own=second)
    assert answer["mode"] == "browse"
    assert [(s["session_id"], s["title"]) for s in answer["sessions"]] == [(first, "plot it")]


def test_a_match_comes_with_what_stands_around_it(talk, ask):
    talk("main", "begin", "ok", "one", "two", "the budget is 42", "noted", "x", "y", "z", "end")
    (found,) = ask(query="budget")["results"]
    assert (found["matched_role"], found["snippet"]) == ("user", "the budget is 42")
    assert [m["content"] for m in found["messages"]] == ["one", "two", "noted", "x"]
    assert [m["content"] for m in found["bookend_start"]] == ["begin"]
    assert [m["content"] for m in found["bookend_end"]] == ["end"]


def test_one_reads_on_around_a_match(talk, ask):
    session = talk("main", *(f"message {number}" for number in range(40)))
    (found,) = ask(query='"message 20"')["results"]
    answer = ask(session_id=session, around_message_id=found["match_message_id"], window=2)
    assert [m["content"] for m in answer["messages"]] == [f"message {n}" for n in range(18, 23)]
    assert (answer["messages_before"], answer["messages_after"]) == (18, 17)
    first = answer["messages"][0]["message_id"]
    back = ask(session_id=session, around_message_id=first, window=20)
    assert back["messages"][0]["content"] == "message 0"
    assert back["messages_before"] == 0


def test_a_session_is_read_at_both_ends(talk, ask):
    session = talk("main", *(f"message {number}" for number in range(50)))
    answer = ask(session_id=session)
    assert [m["content"] for m in answer["messages"]][-1] == "message 19"
    assert [m["content"] for m in answer["end"]] == [f"message {n}" for n in range(40, 50)]
    assert (answer["left_out"], answer["total_messages"]) == (20, 50)
    short = ask(session_id=talk("short", "a", "b"))
    assert [m["content"] for m in short["messages"]] == ["a", "b"]
    assert "end" not in short


def test_roles_narrow_the_search(talk, ask):
    talk("main", "question", "budget")
    assert ask(query="budget", role_filter="user")["results"] == []
    assert ask(query="budget", role_filter="assistant, tool")["count"] == 1
    assert "role_filter takes" in ask(query="budget", role_filter="robot")["error"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"session_id": "nope"}, "there is no session 'nope'"),
        ({"query": "x", "sort": "sideways"}, "'sort' must be one of"),
        ({"query": 5}, "'query' must be text"),
    ],
)
def test_slips_are_explained(talk, ask, args, said):
    talk("main", "a")
    assert said in ask(**args)["error"]


def test_long_messages_are_cut(talk, ask):
    session = talk("main", "x" * 9_000)
    (message,) = ask(session_id=session)["messages"]
    assert message["content"].endswith("… (9,000 characters)")
    assert len(message["content"]) < 2_100
