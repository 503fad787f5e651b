"""What a person says while the agent works is kept until the model has read it."""

import pytest

from hermes_jupyter.events import MessageSaid, TurnFinished, TurnStarted
from hermes_jupyter.store.mailbox import Mailbox
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript


@pytest.fixture
def stored(tmp_path):
    opened = Sessions(tmp_path)
    yield opened
    opened.close()


class Kept:
    """A stored conversation in which a turn has begun."""

    def __init__(self, stored, prompt="do it", steps=9):
        self.stored = stored
        self.journal = stored.begin(About("main"))
        self.transcript = Transcript(self.journal)
        self.mailbox = Mailbox(self.journal)
        self.begin(prompt, steps)

    def begin(self, prompt, steps=9):
        self.journal.hear(
            TurnStarted(session="main", turn="t", prompt=prompt, model="m", steps=steps)
        )

    def end(self, status):
        self.journal.hear(TurnFinished(status=status, text=""))

    def ending(self):
        self.journal.close()
        return self.stored.reopen(self.journal.id).ending


@pytest.fixture
def kept(stored):
    return Kept(stored)


def test_it_is_on_disk_before_anybody_sees_it(stored, kept):
    def show(event):
        about = stored.get(kept.journal.id)
        assert MessageSaid(text="and b") in [event for _, event in stored.history(about)]
        shown.append(event.text)

    shown = []
    with kept.mailbox.read_by_turn(show):
        assert kept.mailbox.say("and b")
    assert shown == ["and b"]


def test_without_a_turn_it_waits_for_the_next_one(kept):
    assert not kept.mailbox.say("and b")
    assert kept.mailbox.pending() == ["and b"]
    kept.mailbox.told(1)
    assert kept.mailbox.pending() == []


def test_what_nobody_has_read_is_found_when_the_conversation_is_opened_again(kept):
    kept.transcript.append({"role": "user", "content": "do it"})
    kept.mailbox.say("first")
    kept.transcript.append({"role": "user", "content": "[while you work]\nfirst"})
    kept.mailbox.say("second")
    assert kept.ending().unread == ("second",)


def test_what_was_read_and_became_notes_was_read(kept):
    kept.mailbox.say("first")
    kept.transcript.append({"role": "user", "content": "first"})
    kept.transcript[0:1] = [{"role": "user", "content": "notes"}]
    assert kept.ending().unread == ()


def test_what_was_said_and_withdrawn_was_not_read(kept):
    kept.mailbox.say("first")
    kept.transcript.append({"role": "user", "content": "first"})
    del kept.transcript[-1]
    assert kept.ending().unread == ("first",)


@pytest.mark.parametrize("status", ["interrupted", "stopped", "failed"])
def test_a_turn_that_came_to_no_end_is_unfinished(kept, status):
    kept.transcript.append({"role": "user", "content": "do it"})
    kept.end(status)
    unfinished = kept.ending().unfinished
    assert (unfinished.prompt, unfinished.is_kept) == ("do it", True)


def test_a_turn_whose_prompt_was_withdrawn_is_begun_anew(kept):
    kept.transcript.append({"role": "user", "content": "do it"})
    del kept.transcript[-1]
    kept.end("failed")
    assert not kept.ending().unfinished.is_kept


def test_a_turn_that_is_done_is_finished(kept):
    kept.transcript.append({"role": "user", "content": "do it"})
    kept.end("done")
    assert kept.ending().unfinished is None


def test_a_kernel_that_died_leaves_its_turn_unfinished(kept):
    kept.transcript.append({"role": "user", "content": "do it"})
    assert kept.ending().unfinished.is_kept


def test_a_call_by_hand_leaves_the_turn_before_it_unfinished(kept):
    kept.transcript.append({"role": "user", "content": "do it"})
    kept.end("interrupted")
    kept.begin("%hermes call todo", steps=0)
    kept.end("done")
    assert kept.ending().unfinished.prompt == "do it"


def test_a_new_conversation_has_nothing_to_go_on_with(stored):
    journal = stored.begin(About("main"))
    assert not Mailbox(journal).say("hello")
    assert not journal.is_stored
