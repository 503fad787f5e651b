"""What a person may answer beside yes and no: a note, an edit, and an answer that comes late."""

from pathlib import Path

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True
HELD_CLOCK = Path(__file__).with_name("held_clock.py")
DELETE = (call("terminal", command="rm old.log"),)


@pytest.fixture
def waiting(start):
    """A turn that waits for a person before it deletes ``old.log``; ``new.log`` is there, too."""
    notebook = start(DELETE, "That is all.")
    for name in ("old.log", "new.log"):
        (notebook.folder / name).write_text("x")
    request = notebook.agent("delete old.log")
    notebook.show_widgets()
    return notebook, request


def left(notebook):
    return sorted(path.name for path in notebook.folder.glob("*.log"))


def fill(notebook, comm_id, text):
    notebook.until_shown(comm_id)  # nobody types before
    notebook.comm(comm_id, {"method": "update", "state": {"value": text}})


def note_of(notebook):
    """The field for a note on a denial."""
    return notebook.until_widget("TextModel", placeholder="and say why: the model reads it")


def told(notebook):
    """What the model reads of its call."""
    return notebook.requests()[-1]["messages"][-1]["content"]


def edit(notebook):
    """Press Edit; the field and the button below it."""
    notebook.click(notebook.button("Edit"))
    notebook.show_widgets(2)  # so that the focus goes to the field
    return notebook.until_widget("TextareaModel"), notebook.button("Run edited")


def test_the_edited_command_runs_and_not_the_other(waiting):
    notebook, request = waiting
    field, run = edit(notebook)
    fill(notebook, field, "rm new.log")
    notebook.click(run)
    notebook.show_widgets(3)
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["old.log"]
    record = notebook.record(request)["text/plain"]
    assert "rm old.log" in record
    assert "Edited by you, then run:\n        rm new.log\n" in record


def test_a_text_that_comes_after_the_click_is_the_one_that_runs(waiting):
    """A page keeps a change back until the last one was answered, but not a click."""
    notebook, request = waiting
    field, run = edit(notebook)
    fill(notebook, field, "rm old.log new.log")
    notebook.click(run)
    fill(notebook, field, "rm new.log")
    notebook.show_widgets(3)
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["old.log"]


def test_the_model_learns_what_ran_instead(waiting):
    notebook, request = waiting
    field, run = edit(notebook)
    fill(notebook, field, "rm new.log")
    notebook.click(run)
    notebook.show_widgets(3)
    notebook.status(request)
    assert "rm new.log" in told(notebook)


def test_a_note_reaches_the_model_and_the_record(waiting):
    notebook, request = waiting
    fill(notebook, note_of(notebook), "use the staging folder")
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["new.log", "old.log"]
    assert "use the staging folder" in told(notebook)
    assert "Denied by you: use the staging folder" in notebook.record(request)["text/plain"]


def test_enter_in_the_note_denies_with_the_text_that_follows_it(waiting):
    notebook, request = waiting
    note = note_of(notebook)
    notebook.until_shown(note)
    notebook.comm(note, {"method": "custom", "content": {"event": "submit"}})
    fill(notebook, note, "not today")
    notebook.show_widgets(2)
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["new.log", "old.log"]
    assert "Denied by you: not today" in notebook.record(request)["text/plain"]


def test_the_first_of_two_clicks_counts(waiting):
    notebook, request = waiting
    allow, deny = notebook.button("Allow once"), notebook.button("Deny")
    notebook.click(deny)
    notebook.click(allow)
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["new.log", "old.log"]
    assert "Denied by you" in notebook.record(request)["text/plain"]


def test_a_click_after_the_turn_does_nothing(waiting):
    notebook, request = waiting
    allow = notebook.button("Allow once")
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"
    notebook.click(allow)
    assert notebook.run("print('alive')") == "alive\n"
    assert left(notebook) == ["new.log", "old.log"]


@pytest.mark.parametrize("typed_ahead", [1, 3])
def test_an_answer_that_was_typed_ahead_is_asked_again(start, typed_ahead):
    notebook = start(DELETE, "done")
    notebook.run(f"%run {HELD_CLOCK}")
    for name in ("old.log", "held"):
        (notebook.folder / name).write_text("x")
    request = notebook.agent("delete old.log", allow_stdin=True)
    for _ in range(typed_ahead):
        notebook.answer("y", reads_for=0)
    notebook.until(lambda: notebook.input_requests, "the question once more")
    (notebook.folder / "held").unlink()
    assert "typed before" in notebook.answer("n")
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["old.log"]


def test_an_edit_at_the_prompt_runs_after_a_second_look(start):
    notebook = start(DELETE, "done")
    for name in ("old.log", "new.log"):
        (notebook.folder / name).write_text("x")
    request = notebook.agent("delete old.log", allow_stdin=True)
    for typed in ("e", "rm new.log"):
        notebook.answer(typed)
    assert "      rm new.log\n" in notebook.answer("y")
    assert notebook.status(request) == "ok"
    assert left(notebook) == ["old.log"]
