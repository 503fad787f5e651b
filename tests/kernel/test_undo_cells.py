"""What a turn did to the cells of a notebook is taken back, and done again."""

from __future__ import annotations

import os
import signal

import pytest
from page import Page, cells, go

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

RECORD = "application/vnd.hermes.turn+json"
PLOT = "df.plot(kind='bar')"
ALL = (
    (call("insert_cell", source="one = 1"),),
    (call("insert_cell", source="Two", type="markdown", before="title-01"),),
    (call("edit_cell", cell="plot-0001", source=PLOT),),
    (call("move_cell", cell="title-01", after="plot-0001"),),
    (call("delete_cell", cells=["load-0001"]),),
    "done",
)


def shape(page):
    return [(each["id"], each["source"], each["execution_count"]) for each in page.cells]


def test_all_that_a_turn_did_to_cells_is_taken_back_and_done_again(paged):
    notebook, page = paged(*ALL)
    page.one("load-0001")["metadata"] = {"tags": ["raw data"]}
    before, deleted = shape(page), dict(page.one("load-0001"))
    request = go(notebook, "--approve off")
    after = [each[1] for each in shape(page)]
    # On a slow machine the front end, which draws nothing, has got it as printed lines.
    told = notebook.record(request)["text/plain"] + notebook.text(request)
    assert "5 cells changed · %hermes undo" in told
    assert notebook.record(request)[RECORD]["changed"] == {"cell": 5}
    shown = notebook.run("%hermes undo", cell="undo-0001")
    assert shape(page) == before
    assert page.one("load-0001") == deleted
    assert "removes cell “one = 1”" in shown
    assert "brings back cell [1] “df = load()”" in shown
    assert "puts back cell “# Sales” (moved)" in shown
    assert "Done: 5 cells" in shown
    shown = notebook.run("%hermes redo")
    assert [each[1] for each in shape(page)] == after
    assert "removes cell [1] “df = load()”" in shown
    assert "Done: 5 cells" in notebook.run("%hermes undo")
    assert shape(page) == before


def test_a_page_that_makes_its_own_ids_is_put_back_as_well(paged):
    notebook, page = paged(*ALL)
    page.keeps_ids = False
    before = page.sources()
    go(notebook, "--approve off")
    after = page.sources()
    notebook.run("%hermes undo")
    assert page.sources() == before
    notebook.run("%hermes redo")
    assert page.sources() == after
    notebook.run("%hermes undo")
    assert page.sources() == before


def test_cells_that_the_person_changed_since_are_left_alone_and_named(paged):
    notebook, page = paged(*ALL)
    go(notebook, "--approve off")
    page.one("plot-0001")["source"] = "mine = 1"
    shown = notebook.run("%hermes undo")
    assert "not cell [2] “df.plot(kind='bar')”: changed since" in shown
    assert "--force also takes" in shown
    assert page.source("plot-0001") == "mine = 1"
    assert "df = load()" in page.sources()
    assert "Done: 1 cell" in notebook.run("%hermes undo --force")
    assert page.source("plot-0001") == "df.plot()"


def test_the_difference_shows_the_cells(paged):
    notebook, _ = paged(*ALL)
    go(notebook, "--approve off")
    request = notebook.execute("%hermes diff")
    assert notebook.status(request) == "ok"
    text = notebook.bundles(request)[-1]["text/plain"]
    assert "cell · changed · +1 −1" in text
    assert f"+{PLOT}" in text
    assert "-df = load()" in text
    assert "5 cells" in notebook.run("%hermes checkpoints")


def test_a_preview_changes_no_cell(paged):
    notebook, page = paged(*ALL)
    go(notebook, "--approve off")
    after = shape(page)
    assert "puts back cell" in notebook.run("%hermes undo --preview")
    assert shape(page) == after


def test_a_closed_notebook_is_said_plainly_and_undone_when_it_is_open_again(paged):
    notebook, page = paged(*ALL)
    before = shape(page)
    go(notebook, "--approve off")
    page.leave()
    shown = notebook.run("%hermes undo")
    assert "work.ipynb is not open with this kernel; open it and undo again" in shown
    assert "Nothing was changed." in shown
    again = Page(notebook, page.cells, client="opened again").until_ready()
    try:
        notebook.run("%hermes undo")
        assert shape(again) == before
    finally:
        again.close()


def test_the_next_kernel_takes_it_back_through_the_page_under_its_new_name(paged):
    notebook, page = paged(*ALL)
    before = shape(page)
    go(notebook, "--approve off")
    session = notebook.run(
        "import hermes_jupyter.api as api; print(api.desktop().hermes.session().id)"
    ).strip()
    notebook.run("%unload_ext hermes_jupyter\n%reload_ext hermes_jupyter")
    page.leave()
    notebook.run(f"%hermes resume {session}")
    other = Page(notebook, [], client="another notebook", notebook="other.ipynb").until_ready()
    again = Page(notebook, page.cells, client="x", notebook="renamed.ipynb").until_ready()
    try:
        assert "Done: 5 cells" in notebook.run("%hermes undo")
        assert shape(again) == before
        assert all(each["do"] == "read" for each in other.asked)
    finally:
        again.close()
        other.close()


def test_a_kernel_that_was_killed_in_the_middle_leaves_its_cells_to_the_next(start, tmp_path):
    named = {"JPY_SESSION_NAME": str(tmp_path / "work" / "work.ipynb")}
    insert, sleep = call("insert_cell", source="x = 1"), call("terminal", command="sleep 41")
    first = start((insert,), (sleep,), "never", fresh=True, env=named)
    page = Page(first, cells()).until_ready()
    first.agent("go", "--approve off", cell="agent-001")
    first.until(lambda: len(first.requests()) > 1, "the second request")
    page.close()
    os.kill(first.manager.provisioner.pid, signal.SIGKILL)
    second = start(fresh=True, env=named)
    again = Page(second, page.cells).until_ready()
    try:
        assert "its kernel ended in the middle of it" in second.run("%hermes undo")
        assert again.sources() == [each["source"] for each in cells()]
    finally:
        again.close()


def test_what_the_person_took_back_in_the_page_is_not_undone_twice(paged):
    notebook, page = paged(
        conversation("insert", (call("insert_cell", source="first = 1"),), "done"),
        conversation("edit", (call("edit_cell", cell="plot-0001", source=PLOT),), "done"),
    )
    go(notebook, "--approve off", prompt="insert")
    go(notebook, "--approve off", prompt="edit")
    page.one("plot-0001")["source"] = "df.plot()"
    shown = notebook.run("%hermes undo")
    assert "taken back already, in the notebook's page or by hand" in shown
    assert "The next %hermes undo takes back the turn before." in shown
    assert "Done: 1 cell" in notebook.run("%hermes undo")
    assert page.sources() == [each["source"] for each in cells()]


def test_of_two_windows_of_one_notebook_that_is_put_back_in_which_it_was_asked_for(paged):
    notebook, page = paged(*ALL)
    before = shape(page)
    go(notebook, "--approve off")
    other = Page(notebook, cells(), client="another window").until_ready()
    try:
        assert "Done: 5 cells" in notebook.run("%hermes undo")
        assert other.asked == []
    finally:
        other.close()
    assert shape(page) == before


@pytest.mark.parametrize("change", ["deleted", "moved"])
def test_a_new_cell_that_the_person_moved_or_deleted_is_left_alone(paged, change):
    notebook, page = paged((call("insert_cell", source="x = 1"),), "done")
    go(notebook, "--approve off")
    made = next(each for each in page.cells if each["source"] == "x = 1")
    page.cells.remove(made)
    if change == "moved":
        page.cells.insert(0, made)
    shown = notebook.run("%hermes undo")
    assert ("changed since" in shown) is (change == "moved")
    assert page.sources().count("x = 1") == (change == "moved")
