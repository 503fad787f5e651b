"""Events of jobs are kept until they are told, and told once."""

import pytest

from hermes_jupyter.store.job_events import JobEvents
from tools.environments.job_events import JobEvent


def event(name):
    return JobEvent(id=name, job="proc_1", command="make", kind="ended", text="It ended.")


@pytest.fixture
def opened(tmp_path):
    return lambda session="main", owner="k": JobEvents(tmp_path, owner, session)


def ids(events):
    return [event.id for event in events.pending()]


def test_an_event_is_pending_until_it_is_told(opened):
    events = opened()
    events.add(event("a"))
    events.add(event("b"))
    assert ids(events) == ["a", "b"]
    events.told(["a"])
    assert ids(events) == ["b"]


def test_the_same_event_is_told_once_however_often_it_is_found(opened):
    events = opened()
    events.add(event("a"))
    events.add(event("a"))
    events.told(["a"])
    events.add(event("a"))
    assert ids(events) == []


def test_all_this_outlives_the_process(opened):
    events = opened()
    for name in "abc":
        events.add(event(name))
    events.told(["b"])
    events.withdraw("d")
    again = opened()
    assert ids(again) == ["a", "c"]
    assert again.pending()[0] == event("a")
    again.add(event("b"))
    again.add(event("d"))
    assert ids(again) == ["a", "c"]


def test_a_line_that_a_crash_has_cut_costs_only_itself(opened):
    events = opened()
    events.add(event("a"))
    with events.path.open("a") as file:
        file.write('\n{"event": {"id": "b"')
    again = opened()
    assert ids(again) == ["a"]
    again.add(event("c"))
    assert ids(opened()) == ["a", "c"]


def test_sessions_and_kernels_have_their_own(opened):
    opened().add(event("a"))
    assert ids(opened(session="other")) == ids(opened(owner="other")) == []


def test_what_is_known_already_is_not_told_later(opened):
    events = opened()
    events.withdraw("a")
    events.add(event("a"))
    assert ids(events) == []


def test_a_closed_conversation_leaves_nothing(opened):
    events = opened()
    events.add(event("a"))
    events.clear()
    assert ids(events) == ids(opened()) == []


def test_it_is_told_although_nothing_can_be_written(tmp_path):
    (tmp_path / "jupyter").write_text("no folder")
    events = JobEvents(tmp_path, "k", "main")
    events.add(event("a"))
    assert ids(events) == ["a"]
