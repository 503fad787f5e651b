"""The agent reads and changes cells of the notebook that its own cell stands in."""

from __future__ import annotations

import pytest
from page import Page, cell, cells, go, told

from hermes_jupyter.testing import call


def test_cells_are_read_with_ids_outputs_and_which_is_the_agents(paged):
    notebook, _ = paged((call("read_cells"),), "done")
    go(notebook)
    (answer,) = told(notebook)
    assert [each["id"] for each in answer["cells"]] == [
        "title-01", "load-0001", "agent-001", "plot-0001"
    ]  # fmt: skip
    assert answer["cells"][1]["output"] == "3 rows"
    assert answer["cells"][2]["yours"] is True


def test_new_cells_go_below_the_agents_own_in_order(paged):
    notebook, page = paged(
        (call("insert_cell", source="one = 1"),),
        (call("insert_cell", source="Two", type="markdown"),),
        (call("insert_cell", source="first()", before="title-01"),),
        "done",
    )
    go(notebook)
    sources = [each["source"] for each in page.cells]
    assert sources == [
        "first()", "# Sales", "df = load()", "%%agent\ngo", "one = 1", "Two", "df.plot()"
    ]  # fmt: skip
    assert len({each.get("turn") for each in page.asked if each["do"] == "insert"}) == 1


def test_an_edit_asks_with_a_diff_and_is_made_when_it_is_allowed(paged):
    edit = call("edit_cell", cell="plot-0001", source="df.plot(kind='bar')")
    notebook, page = paged((edit,), "done")
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Allow once")
    assert page.source("plot-0001") == "df.plot()"
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert page.source("plot-0001") == "df.plot(kind='bar')"
    (answer,) = told(notebook)
    assert "+df.plot(kind='bar')" in answer["diff"]
    assert "-df.plot()" in str(notebook.published)


def test_a_cell_that_was_changed_in_the_meantime_is_not_overwritten(paged):
    notebook, page = paged((call("edit_cell", cell="plot-0001", source="new"),), "done")
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Allow once")
    page.cells[-1]["source"] = "the user's own change"
    read = page._read
    page._read = lambda request: {"cells": cells()}
    notebook.click(button)
    assert notebook.status(request) == "ok"
    page._read = read
    assert page.source("plot-0001") == "the user's own change"
    assert "changed in the meantime" in told(notebook)[0]["error"]


def test_cells_are_moved_and_the_place_is_verified(paged):
    notebook, page = paged((call("move_cell", cell="plot-0001", after="title-01"),), "done")
    go(notebook)
    assert page.order() == ["title-01", "plot-0001", "load-0001", "agent-001"]
    assert told(notebook)[0]["order"] == page.order()


def test_deleting_cells_asks(paged):
    delete = call("delete_cell", cells=["plot-0001", "load-0001"])
    notebook, page = paged((delete,), "done")
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Deny")
    assert "deletes 2 cells" in str(notebook.published)
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert len(page.cells) == 4


def test_the_agents_own_cell_is_not_deleted(paged):
    notebook, page = paged((call("delete_cell", cells=["agent-001"]),), "done")
    go(notebook)
    assert "your own cell" in told(notebook)[0]["error"]
    assert len(page.cells) == 4


def test_only_the_notebook_of_the_cell_is_touched(paged):
    notebook, page = paged((call("insert_cell", source="here = 1"),), "done")
    other = Page(notebook, cells(), client="another page", notebook="other.ipynb")
    try:
        other.until_ready()
        go(notebook)
    finally:
        other.close()
    assert [each["source"] for each in page.cells].count("here = 1") == 1
    assert other.asked == []


def test_a_page_that_is_reloaded_while_the_turn_runs_is_found_again(paged):
    notebook, page = paged(
        (call("terminal", command="rm a"),), (call("insert_cell", source="here = 1"),), "done"
    )
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Deny")
    page.leave()
    again = Page(notebook, page.cells, client="the same page, reloaded").until_ready()
    try:
        notebook.click(button)
        assert notebook.status(request) == "ok"
    finally:
        again.close()
    assert [each["source"] for each in again.cells].count("here = 1") == 1


def test_a_page_that_was_reloaded_without_a_word_is_left_for_the_new_one(paged):
    notebook, page = paged((call("insert_cell", source="here = 1"),), "done")
    page.silent = True
    again = Page(notebook, cells(), client="the same page, reloaded").until_ready()
    try:
        go(notebook)
    finally:
        again.close()
    assert again.sources().count("here = 1") == 1
    assert [each["do"] for each in page.asked] == ["read"]


def test_a_notebook_that_is_renamed_while_the_turn_runs_is_found_by_its_new_name(paged):
    notebook, page = paged(
        (call("terminal", command="rm a"),), (call("insert_cell", source="here = 1"),), "done"
    )
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Deny")
    page.rename("sales.ipynb")
    page.leave()
    other = Page(notebook, cells(), client="another").until_ready()  # has its old name now
    again = Page(notebook, cells(), client="x", notebook="sales.ipynb").until_ready()
    try:
        notebook.click(button)
        assert notebook.status(request) == "ok"
    finally:
        again.close()
        other.close()
    assert again.sources().count("here = 1") == 1
    assert other.asked == []


def test_a_page_that_opens_while_the_first_turn_runs_is_used(start):
    notebook = start(
        (call("terminal", command="rm a"),), (call("insert_cell", source="here = 1"),), "done"
    )
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Deny")
    page = Page(notebook, cells()).until_ready()
    try:
        notebook.click(button)
        assert notebook.status(request) == "ok"
    finally:
        page.close()
    assert page.sources().count("here = 1") == 1


def test_the_status_says_how_far_the_agent_gets_with_cells(paged):
    notebook, page = paged("done")
    assert "cells      through the page of work.ipynb" in notebook.run("%hermes status")
    page.rename("folder/sales.ipynb")
    assert "through the page of sales.ipynb" in notebook.run("%hermes status")
    page.leave()
    assert "no page is connected: read, and one new cell" in notebook.run("%hermes status")


def test_another_notebook_under_the_same_name_is_not_changed(paged):
    notebook, page = paged((call("insert_cell", source="here = 1"),), "done")
    page.cells[:] = [each for each in page.cells if each["id"] != "agent-001"]
    go(notebook)
    assert "may show another notebook" in told(notebook)[0]["error"]
    assert len(page.cells) == 3


def test_many_cells_ask_whatever_the_mode_is_and_are_all_deleted_or_none(paged):
    empty = [cell(f"empty-{n:03}", "") for n in range(3)]
    delete = call("delete_cell", cells=[each["id"] for each in empty])
    notebook, page = paged((delete,), "done", there=[*cells(), *empty])
    request = notebook.agent("go", "--approve edits", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Allow once")
    assert "deletes 3 cells" in str(notebook.published)
    page.one("empty-001")["source"] = "mine"
    notebook.click(button)
    notebook.click(notebook.button("Allow once", 2))
    assert notebook.status(request) == "ok"
    assert page.order() == ["title-01", "load-0001", "agent-001", "plot-0001"]


def test_a_page_that_is_closed_is_a_clear_error(paged):
    notebook, page = paged(
        (call("read_cells"),), (call("edit_cell", cell="plot-0001", source="x"),), "done"
    )
    page.silent = True
    request = notebook.agent("go", "--approve edits", cell="agent-001")
    notebook.until(lambda: page.asked, "the request")
    page.leave()
    assert notebook.status(request) == "ok"
    assert "page was closed" in str(told(notebook)[0]["error"])


def test_an_unknown_cell_is_named(paged):
    notebook, _ = paged((call("edit_cell", cell="nope", source="x"),), "done")
    go(notebook)
    assert "there is no cell 'nope'" in told(notebook)[0]["error"]


def test_interrupt_while_the_page_is_silent_ends_the_turn(paged):
    notebook, page = paged((call("read_cells"),), "never")
    page.silent = True
    request = notebook.agent("go", cell="agent-001")
    notebook.until(lambda: page.asked, "the request")
    notebook.interrupt()
    assert notebook.status(request, 5) == "error"


def test_a_turn_in_the_background_says_that_no_cell_can_appear(start):
    notebook = start((call("insert_cell", source="x = 1"),), "done")
    notebook.run("%%agent --background --plain\ngo")
    notebook.until(lambda: len(notebook.requests()) > 1, "the second request")
    assert "has no cell below which a new one could appear" in told(notebook)[0]["error"]


def test_where_a_program_runs_the_notebook_no_cell_is_promised(start):
    notebook = start()
    code = "import hermes_jupyter as h\nprint(h.call('insert_cell', source='x = 1').text)"
    said = notebook.run(code, allow_stdin=False)
    assert "it is run by a program" in said


def test_the_file_of_the_own_notebook_is_not_written_and_others_are(start, tmp_path):
    path = tmp_path / "work" / "mine.ipynb"
    text = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    notebook = start(
        (
            call("write_file", path="mine.ipynb", content=text),
            call("write_file", path="other.ipynb", content=text),
        ),
        "done",
        fresh=True,
        env={"JPY_SESSION_NAME": str(path)},
    )
    notebook.status(notebook.agent("go", "--approve edits"))
    refused, written = told(notebook)
    assert "the notebook in which you were asked" in refused["error"]
    assert "edit_cell" in refused["error"]
    assert not path.exists()
    assert written["bytes_written"] == len(text)


def test_without_a_page_a_cell_appears_when_the_turn_has_ended(start):
    notebook = start(
        (call("read_cells"), call("insert_cell", source="answer = 42")),
        (call("edit_cell", cell="run 1", source="x"),),
        "done",
    )
    notebook.run("x = 1")
    request = go(notebook)
    (payload,) = notebook.reply(request)["content"]["payload"]
    assert (payload["source"], payload["text"]) == ("set_next_input", "answer = 42")
    read, inserted, edited = told(notebook)
    assert any(each["source"] == "x = 1" for each in read["cells"])
    assert "when your turn has ended" in inserted["note"]
    assert "needs the notebook's page" in edited["error"]


@pytest.mark.parametrize(
    "answer", [{"ok": True}, {"ok": False}, {"ok": True, "result": {"cells": [{"id": 3}]}}, {}]
)
def test_answers_that_are_none_are_clear_errors(paged, answer):
    notebook, page = paged((call("read_cells"),), "done")
    page.answer = lambda request: answer
    go(notebook)
    assert "page" in told(notebook)[0]["error"]


def test_an_unknown_version_of_the_protocol_is_refused(start):
    notebook = start("done")
    page = Page(notebook, [], protocol=9)
    try:
        notebook.until(
            lambda: any("version 1" in str(said.get("error")) for said in page._said()), "refusal"
        )
    finally:
        page.close()
