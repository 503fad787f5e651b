"""Pages answer requests, come late, fall silent and go."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from hermes_jupyter.kernel import pages as module
from hermes_jupyter.kernel.pages import NotebookPage, PageError, Pages, Unanswered


class Comm:
    """The kernel's end of a page; ``answer`` says at once what the page says."""

    def __init__(self, name, answer=None):
        self.comm_id, self.answer, self.sent = name, answer, []

    def on_msg(self, hear):
        self.hear = lambda data: hear({"content": {"data": data}})

    def on_close(self, closed):
        self.closed = closed

    def send(self, data):
        self.sent.append(data)
        if self.answer is not None and "do" in data:
            self.hear({"id": data["id"], **self.answer})


class Manager:
    def register_target(self, _name, opened):
        self.opened = opened


OK = {"ok": True, "result": {"said": 1}}


@pytest.fixture
def opened():
    manager = Manager()
    blocked = threading.Event()
    pages = Pages(SimpleNamespace(comm_manager=manager), blocked.is_set)
    pages.blocked = blocked

    def opened(name, notebook="a.ipynb", answer=OK, **more):
        comm = Comm(name, answer)
        about = {"protocol": 1, "notebook": notebook, "can": ["read", "edit"], **more}
        manager.opened(comm, {"header": {"session": name}, "content": {"data": about}})
        return comm

    opened.pages = pages
    return opened


@pytest.fixture
def impatient(monkeypatch):
    for name in ("SECONDS_TO_ANSWER", "SECONDS_IF_ANOTHER"):
        monkeypatch.setattr(module, name, 0.0)
    monkeypatch.setattr(module.Page.ask, "__kwdefaults__", {"seconds": 0.0, "patience": 0.0})


def page_of(opened, name, **more):
    return NotebookPage(opened.pages, opened.pages.of(name), **more)


def test_an_answer_is_brought(opened):
    opened("one")
    assert page_of(opened, "one")("read") == {"said": 1}


def test_what_a_page_cannot_do_it_is_not_asked(opened):
    comm = opened("one")
    with pytest.raises(PageError, match="cannot delete cells"):
        page_of(opened, "one")("delete")
    assert [each for each in comm.sent if "do" in each] == []


def test_silence_is_another_error_than_a_refusal(opened, impatient):
    opened("one", answer=None)
    opened("two", answer={"ok": False, "message": "no\nway"})
    with pytest.raises(Unanswered, match="did not answer"):
        page_of(opened, "one")("edit")
    with pytest.raises(PageError, match="refused: no way") as refused:
        page_of(opened, "two")("edit")
    assert not isinstance(refused.value, TimeoutError)


def test_a_silent_page_is_left_for_the_newer_one_of_its_notebook_when_it_is_read(opened, impatient):
    old = opened("old", answer=None)
    ask = page_of(opened, "old")
    opened("other", "b.ipynb")
    new = opened("new")
    with pytest.raises(Unanswered):
        ask("edit")
    assert ask("read") == {"said": 1}
    assert ask("edit") == {"said": 1}
    assert [len([e for e in comm.sent if "do" in e]) for comm in (old, new)] == [2, 2]


def test_a_page_of_the_same_window_takes_over_rather_than_a_newer_one_elsewhere(opened, impatient):
    opened("old", answer=None, window="here")
    ask = page_of(opened, "old")
    new, other = opened("new", window="here"), opened("other", window="there")
    assert ask("read") == {"said": 1}
    assert ([e for e in new.sent if "do" in e] != [], "do" in str(other.sent)) == (True, False)


def test_a_reloaded_page_that_comes_while_the_old_one_is_asked_takes_over(opened, impatient):
    old = opened("old", answer=None, window="here")
    ask = page_of(opened, "old")
    other = opened("other", window="there")
    send = old.send
    old.send = lambda data: (send(data), opened("new", window="here"))
    assert ask("read") == {"said": 1}
    assert "do" not in str(other.sent)


def test_a_page_that_was_reloaded_is_not_left_for_what_it_was_before(opened, impatient):
    old = opened("old", window="here")
    opened("new", answer=None, window="here")
    with pytest.raises(Unanswered):
        page_of(opened, "new")("read")
    assert "do" not in str(old.sent)


@pytest.mark.parametrize(("window", "seconds"), [("here", 0.0), ("there", 9.0), ("", 0.0)])
def test_a_slow_page_has_its_time_before_another_windows_copy_is_taken(
    opened, monkeypatch, window, seconds
):
    monkeypatch.setattr(module, "SECONDS_TO_ANSWER", 9.0)
    monkeypatch.setattr(module, "SECONDS_IF_ANOTHER", 0.0)
    waited = []
    wait = module.Page._wait

    def noted(page, number, given, patience):
        waited.append(given)
        return wait(page, number, 0.0, patience)

    monkeypatch.setattr(module.Page, "_wait", noted)
    opened("old", answer=None, window="here")
    opened("new", window=window)
    assert page_of(opened, "old")("read") == {"said": 1}
    assert waited[0] == seconds


def test_a_renamed_notebook_is_found_by_its_new_name(opened):
    comm = opened("one")
    comm.hear({"notebook": "b.ipynb"})
    assert opened.pages.showing("a.ipynb") is None
    assert opened.pages.showing("b.ipynb").client == "one"


def test_a_closed_page_that_nobody_follows_is_gone(opened):
    comm = opened("one")
    ask = page_of(opened, "one")
    comm.closed({})
    opened("two", "b.ipynb")
    with pytest.raises(PageError, match="closed"):
        ask("read")


def test_a_turn_in_the_background_waits_while_a_cell_keeps_the_kernel_from_hearing(
    opened, impatient
):
    comm = opened("one", answer=None)
    opened.pages.blocked.set()
    asked = threading.Event()
    send = comm.send
    comm.send = lambda data: (send(data), asked.set())
    brought = []
    ask = page_of(opened, "one", is_patient=lambda: True)
    thread = threading.Thread(target=lambda: brought.append(ask("read")))
    thread.start()
    assert asked.wait(5)
    comm.hear({"id": comm.sent[-1]["id"], **OK})
    thread.join(5)
    assert brought == [{"said": 1}]


def test_an_answer_that_nobody_waits_for_is_ignored(opened):
    comm = opened("one")
    comm.hear({"id": "7", "ok": True})
    comm.hear("nonsense")
    assert page_of(opened, "one")("read") == {"said": 1}
