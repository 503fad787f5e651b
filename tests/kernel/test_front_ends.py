"""Front ends as they behave on the wire: which rung of the ladder each of them ends on."""

from contextlib import contextmanager

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

DELETE = conversation("delete", (call("terminal", command="rm a"),), "All is said.")
RECORD = "application/vnd.hermes.turn+json"


@pytest.fixture
def notebook(start):
    opened = start(DELETE)
    (opened.folder / "a").write_text("x")
    return opened


def asks_with(notebook, **options):
    line = next(
        line
        for line in notebook.run("%hermes status", **options).splitlines()
        if line.startswith("asks with")
    )
    return line.removeprefix("asks with").strip()


@contextmanager
def patience(notebook, seconds):
    """Let the kernel wait so long for the answer of a page."""
    notebook.run(f"import hermes_jupyter.views.turn as t; t.PROBE_SECONDS = {seconds}")
    yield
    notebook.run("t.PROBE_SECONDS = 3.0")


def test_qtconsole_which_refuses_each_widget_is_asked_with_a_prompt_at_once(notebook):
    with patience(notebook, 60.0):
        request = notebook.agent("delete", allow_stdin=True)
        player = notebook.until_widget("PlayModel")
        for comm in [*notebook.widgets("VBoxModel"), *notebook.widgets("HTMLModel"), player]:
            notebook.send("comm_close", {"comm_id": comm, "data": {}})
        assert "rm a" in notebook.answer("y")
        assert notebook.status(request) == "ok"
    assert not (notebook.folder / "a").exists()
    late = notebook.send("comm_close", {"comm_id": player, "data": {}})
    notebook.until_idle(late)
    assert "No such comm" not in notebook.stderr()
    assert asks_with(notebook, allow_stdin=True) == (
        "a prompt (input()): this front end shows no widgets"
    )


def test_vs_code_which_has_no_subshells_and_its_own_widgets_shows_buttons(notebook):
    request = notebook.execute("%%agent\ndelete", cell="W3sZmlsZQ==", stop_on_error=False)
    notebook.show_widgets()
    notebook.click(notebook.button("Allow once"))
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "a").exists()
    assert asks_with(notebook) == "buttons below the cell: this page answers with widgets"


def test_vs_code_which_draws_no_output_out_of_sight_asks_in_its_input_box(notebook):
    with patience(notebook, 0.3):
        request = notebook.execute("%%agent\ndelete", cell="W3sZmlsZQ==", stop_on_error=False)
        assert "rm a" in notebook.answer("y")
        assert notebook.status(request) == "ok"
    assert not (notebook.folder / "a").exists()
    assert asks_with(notebook) == "a prompt (input()): this front end shows no widgets"


def test_colab_whose_widgets_speak_from_a_session_of_their_own_shows_buttons(notebook):
    request = notebook.agent("delete")
    session = notebook.client.session
    ran_cells = session.session
    session.session = "of-the-output-frame"
    try:
        notebook.show_widgets()
        notebook.click(notebook.button("Allow once"))
    finally:
        session.session = ran_cells
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "a").exists()
    assert "widgets" in asks_with(notebook)


def test_a_page_without_widgets_that_has_a_panel_is_asked_there_and_not_in_a_prompt(notebook):
    control = {"protocol": 1, "do": "pending"}
    assert notebook.control("hermes_request", control)["content"]["status"] == "ok"
    with patience(notebook, 0.3):
        request = notebook.agent("delete")
        notebook.until(lambda: "Waiting for an answer" in notebook.text(request), "the hint", 20)
        asked = notebook.control("hermes_request", control)["content"]["requests"]
        answer = {"request": asked[0]["id"], "digest": asked[0]["digest"], "choice": "once"}
        notebook.control("hermes_request", {**control, "do": "answer", **answer})
        assert notebook.status(request) == "ok"
    assert not notebook.input_requests
    assert not (notebook.folder / "a").exists()
    assert asks_with(notebook).startswith("the page's own panel")


def test_voila_whose_page_comes_when_all_cells_have_run_asks_below_turns_in_the_background(start):
    notebook = start(DELETE)
    notebook.run("import os; os.environ['VOILA_BASE_URL'] = '/'")
    try:
        (notebook.folder / "a").write_text("x")
        front = notebook.agent("delete", allow_stdin=False)
        assert notebook.status(front) == "ok"
        assert "nobody could be asked" in notebook.record(front)["text/plain"]
        behind = notebook.agent("delete", "--background", allow_stdin=False)
        assert notebook.status(behind) == "ok"
        notebook.click(notebook.button("Allow once"))
        notebook.until(lambda: RECORD in str(notebook.bundles(behind)), "the record")
        assert not (notebook.folder / "a").exists()
    finally:
        notebook.run("del os.environ['VOILA_BASE_URL']")


def test_where_a_program_runs_the_cells_background_waits(notebook):
    request = notebook.agent("delete", "--background", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert "so this cell waits for its turn" in notebook.text(request)
    assert "All is said." in notebook.record(request)["text/plain"]
    assert asks_with(notebook, allow_stdin=False).startswith("nobody (the answer is no)")


def test_the_doctor_tries_each_rung_from_end_to_end(notebook):
    request = notebook.execute("%hermes doctor --ask", allow_stdin=True)
    notebook.show_widgets()
    notebook.answer("")
    assert notebook.status(request, 60) == "ok"
    said = notebook.text(request)
    for found in (
        "✓ buttons        heard while the cell was busy, after",
        "✓ control        answered after",
        "✓ prompt         answered",
        "✓ nobody         where nobody is there: deny by policy",
        "✓ asks with      buttons below the cell: this page answers with widgets",
    ):
        assert found in said
