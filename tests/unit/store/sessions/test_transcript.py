import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript


def said(text):
    return {"role": "user", "content": text}


def texts(transcript):
    return "".join(str(message["content"]) for message in transcript)


def test_a_summary_takes_the_place_of_messages_that_can_still_be_found(talk, sessions):
    talk.ask("0")
    for number in range(1, 8):
        talk.messages.append(said(str(number)))
    talk.messages[1:5] = [said("S")]
    talk.messages.append(said("8"))
    talk.messages[1:4] = [said("T")]
    talk.messages.append(said("9"))
    assert texts(talk.messages) == "0T789"
    assert texts(talk.left().transcript)[:5] == "0T789"
    kept = [entry.text for entry in sessions.entries(talk.stored) if entry.gone == "compacted"]
    assert sorted(kept) == ["1", "2", "3", "4", "5", "6", "S"]


def test_what_is_deleted_stays_away(talk):
    for text in "abc":
        talk.messages.append(said(text))
    del talk.messages[1:]
    assert talk.messages.pop() == said("a")
    talk.messages.append(said("d"))
    talk.messages.insert(0, said("e"))
    assert texts(talk.left().transcript) == "ed"


@pytest.mark.parametrize("change", [list.sort, list.reverse])
def test_the_order_is_not_changed(talk, change):
    with pytest.raises(TypeError, match="one order"):
        getattr(talk.messages, change.__name__)()


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 3), st.just(0), st.just(0)),
        st.tuples(st.just("delete"), st.integers(0, 8), st.integers(0, 8), st.just(0)),
        st.tuples(st.just("replace"), st.integers(0, 8), st.integers(0, 8), st.integers(0, 3)),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(CHANGES)
def test_any_changes_leave_on_disk_what_is_in_memory(tmp_path_factory, changes):
    sessions = Sessions(tmp_path_factory.mktemp("home"))
    journal = sessions.begin(About("main"))
    transcript, plain, count = Transcript(journal), [], 0
    for kind, first, second, size in changes:
        fresh = [said(str(count + number)) for number in range(first if kind == "add" else size)]
        count += len(fresh)
        at = slice(min(first, second), max(first, second))
        for messages in (transcript, plain):
            if kind == "add":
                messages.extend(fresh)
            elif kind == "delete":
                del messages[at]
            else:
                messages[at] = fresh
    assert transcript == plain
    if journal.is_stored:
        journal.close()
        assert sessions.reopen(journal.id).transcript == plain
    sessions.close()
