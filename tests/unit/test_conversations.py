"""The conversations of a kernel, through the `Hermes` that a kernel has."""

import asyncio
import json
import shutil

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import StoreError, TurnError
from hermes_jupyter.events import NoticeGiven, ToolCallStarted
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings, load
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions
from hermes_jupyter.views.record import MIME, Record
from tools.async_bridge import loop_thread

URL = "http://127.0.0.1:9/v1"


class Kernel:
    """A kernel of a notebook, from its start to its end."""

    def __init__(self, home, notebook=""):
        self.hermes = Hermes(Settings(home=home, notebook=str(notebook), base_url=URL))
        self.events = []

    def turn(self, prompt, *replies, session=""):
        model = ScriptedModel(*(replies or ("ok",)))
        self.hermes.model = lambda settings: model
        record = Record()
        asyncio.run(
            self.hermes.turn(
                prompt,
                session=self.hermes.session(session),
                options=TurnOptions(approve="off"),
                listeners=[record, self.events.append],
            )
        )
        self.asked = model.requests[0].messages if model.requests else []
        return record.bundle()

    def end(self):
        asyncio.run(self.hermes.close())

    @property
    def notices(self):
        return [event.text for event in self.events if isinstance(event, NoticeGiven)]


@pytest.fixture
def kernel(tmp_path):
    """Start a kernel; all of them are ended after the test."""
    started = []

    def start(notebook=""):
        started.append(Kernel(tmp_path / "home", notebook))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def notebook(tmp_path):
    return tmp_path / "sales.ipynb"


def save(notebook, bundle):
    """Save the record of a turn as Jupyter does."""
    outputs = [{"output_type": "display_data", "data": bundle, "metadata": {}}]
    cell = {"cell_type": "code", "source": "%%agent\ngo", "outputs": outputs, "metadata": {}}
    notebook.write_text(json.dumps({"cells": [cell], "nbformat": 4}, indent=1))


def users(messages):
    return [m["content"].rpartition("\n")[2] for m in messages if m["role"] == "user"]


def test_a_notebook_goes_on_with_its_conversation_and_says_so(kernel, notebook):
    first = kernel(notebook)
    first.turn("remember 7")
    first.end()
    second = kernel(notebook)
    second.turn("which number?")
    assert users(second.asked) == ["remember 7", "which number?"]
    assert "a new kernel" in second.asked[-1]["content"]
    assert "going on with the conversation of" in second.notices[0]
    assert "(2 messages); %hermes new begins another" in second.notices[0]
    second.turn("and again?")
    assert second.asked[-1]["content"] == "and again?"


def test_a_notebook_that_was_moved_is_known_by_the_records_in_it(kernel, notebook, tmp_path):
    first = kernel(notebook)
    bundle = first.turn("remember 7")
    first.end()
    moved = tmp_path / "moved.ipynb"
    save(moved, bundle)
    second = kernel(moved)
    second.turn("which?")
    assert users(second.asked) == ["remember 7", "which?"]
    assert second.hermes.session().id == bundle[MIME]["session_id"]


def test_a_copy_of_a_notebook_goes_on_with_a_copy(kernel, notebook, tmp_path):
    first = kernel(notebook)
    save(notebook, first.turn("remember 7"))
    copy = tmp_path / "copy.ipynb"
    shutil.copy(notebook, copy)
    second = kernel(copy)  # while the first one runs
    second.turn("which?")
    first.turn("still here?")
    assert users(second.asked) == ["remember 7", "which?"]
    assert users(first.asked) == ["remember 7", "still here?"]
    assert second.hermes.session().id != first.hermes.session().id


def test_a_notebook_that_is_open_twice_begins_anew_and_says_why(kernel, notebook, monkeypatch):
    first = kernel(notebook)
    first.turn("remember 7")
    second = kernel(notebook)
    holds = second.hermes.conversations.stored._holds
    monkeypatch.setattr(holds, "take", lambda number: False)  # as if in another process
    second.turn("which?")
    assert users(second.asked) == ["which?"]
    assert any("open in another kernel" in notice for notice in second.notices)


def test_without_a_notebook_each_kernel_begins_anew(kernel):
    first = kernel()
    first.turn("remember 7")
    first.end()
    second = kernel()
    second.turn("which?")
    assert users(second.asked) == ["which?"]
    assert len(second.hermes.conversations.stored.listing()) == 2


def test_a_notebook_begins_anew_if_that_is_set(kernel, notebook, tmp_path):
    first = kernel(notebook)
    first.turn("remember 7")
    first.end()
    made = Hermes(Settings(home=tmp_path / "home", notebook=str(notebook), reopen=False))
    assert made.session().transcript == []
    asyncio.run(made.close())


def test_named_sessions_of_a_notebook_come_back_by_name(kernel, notebook):
    first = kernel(notebook)
    first.turn("in main")
    first.turn("in other", session="other")
    first.end()
    second = kernel(notebook)
    second.turn("and?", session="other")
    assert users(second.asked) == ["in other", "and?"]


def test_new_begins_anew_and_what_was_is_stored(kernel):
    one = kernel()
    one.turn("first")
    old = one.hermes.session().id
    one.hermes.new_session()
    one.turn("second")
    assert users(one.asked) == ["second"]
    stored = one.hermes.conversations.stored
    assert one.hermes.conversations.resume(stored.get(old)).id == old
    one.turn("third")
    assert users(one.asked) == ["first", "third"]


def test_todos_and_tokens_come_back(kernel, notebook):
    first = kernel(notebook)
    item = {"id": "1", "content": "plot", "status": "pending"}
    first.turn("plan", (call("todo", todos=[item]),), "planned")
    used = first.hermes.session().usage
    first.end()
    again = kernel(notebook).hermes.session()
    assert again.todos == [item]
    assert again.usage == used
    assert used.model_calls == 2


def test_a_call_that_was_running_is_told_to_the_model_and_not_run(kernel, notebook):
    first = kernel(notebook)
    first.turn("go")
    session = first.hermes.session()
    wanted = ToolCall(id="c9", name="terminal", args={"command": "make"})
    wire = {"id": "c9", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
    from hermes_jupyter.events import TurnStarted

    session.journal.hear(TurnStarted(session="main", turn="t", prompt="x", model="m", steps=3))
    session.transcript.append({"role": "user", "content": "make it"})
    session.transcript.append({"role": "assistant", "content": None, "tool_calls": [wire]})
    session.journal.hear(ToolCallStarted(call=wanted))
    first.end()
    second = kernel(notebook)
    second.turn("and?")
    (answer,) = [m["content"] for m in second.asked if m["role"] == "tool"]
    assert "unknown whether it ran" in answer
    assert "which ended when its kernel died" in second.notices[0]


def test_a_copy_is_made_and_becomes_the_current_one(kernel):
    one = kernel()
    one.turn("first")
    conversations = one.hermes.conversations
    copy = conversations.fork(conversations.stored.get(one.hermes.session().id), "try")
    assert one.hermes.current == copy.name == "try"
    one.turn("there")
    assert users(one.asked) == ["first", "there"]
    assert len(one.hermes.session("main").transcript) == 3


def test_renaming_reaches_the_open_session(kernel):
    one = kernel()
    one.turn("first")
    conversations = one.hermes.conversations
    about = conversations.stored.get(one.hermes.session().id)
    conversations.rename(about, "sales")
    assert one.hermes.current == one.hermes.session().name == "sales"
    assert conversations.stored.get(about.id).name == "sales"
    one.turn("elsewhere", session="main")
    with pytest.raises(TurnError, match="another session"):
        conversations.rename(conversations.stored.get(about.id), "main")


def test_deleting_the_current_one_begins_anew(kernel):
    one = kernel()
    one.turn("first")
    conversations = one.hermes.conversations
    conversations.delete(conversations.stored.get(one.hermes.session().id))
    assert conversations.stored.listing() == []
    one.turn("second")
    assert users(one.asked) == ["second"]


def test_a_busy_session_is_neither_copied_nor_replaced(kernel):
    one = kernel()
    one.turn("first")
    conversations = one.hermes.conversations
    about = conversations.stored.get(one.hermes.session().id)

    async def busy():
        with one.hermes.session().occupied():
            for change in (
                lambda: conversations.fork(about, "x"),
                lambda: conversations.delete(about),
                conversations.begin,
            ):
                with pytest.raises(TurnError, match="busy"):
                    change()

    loop_thread().run(busy())
    assert len(conversations.stored.listing()) == 1


def test_a_store_that_cannot_be_used_is_said_and_the_turn_runs(kernel, tmp_path, notebook):
    (tmp_path / "home" / "jupyter").mkdir(parents=True)
    (tmp_path / "home" / "jupyter" / "state.db").mkdir()
    one = kernel(notebook)
    bundle = one.turn("go", "done")
    assert "done" in bundle["text/plain"]
    assert any("not stored" in notice for notice in one.notices)
    with pytest.raises(StoreError):
        one.hermes.conversations.stored.listing()


def test_the_tool_finds_what_was_said_elsewhere(kernel):
    first = kernel()
    first.turn("the budget is 42", "noted")
    first.end()
    second = kernel()
    second.turn("what was it?", (call("session_search", query="budget"),), "42")
    answer = second.hermes.session().transcript[-2]["content"]
    assert "the budget is 42" in answer
    assert answer.startswith("<untrusted")


def test_jupyter_tells_the_notebook():
    def notebook(named):
        return load({}, {"HERMES_HOME": "/nowhere", "JPY_SESSION_NAME": named}).notebook

    assert notebook("/work/a.ipynb") == "/work/a.ipynb"
    assert notebook("/work/console-1") == notebook("") == ""
