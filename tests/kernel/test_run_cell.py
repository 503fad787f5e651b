"""The agent runs a cell of the notebook: in the user's namespace, shown in that cell."""

from __future__ import annotations

import pytest
from page import cell, cells, go, told

from hermes_jupyter.testing import call

ANY_KERNEL = True

RECORD = "application/vnd.hermes.turn+json"
RUN = call("run_cell", cell="load-0001")
FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


def with_source(source, *more):
    there = cells()
    there[1]["source"] = source
    return [*there, *more]


def outputs(page, name="load-0001"):
    return page.one(name)["outputs"]


def test_a_cell_runs_on_the_users_variables_and_shows_its_output_and_number(paged):
    code = "print('loaded')\nrows = n + 1\nrows"
    notebook, page = paged((RUN,), "done", there=with_source(code))
    notebook.run("n = 41")
    request = go(notebook)
    (answer,) = told(notebook)
    assert answer == {"output": "loaded\n", "value": "42", "new_variables": ["rows: 42"]}
    printed, value = outputs(page)
    assert printed == {"output_type": "stream", "name": "stdout", "text": "loaded\n"}
    assert (value["output_type"], value["data"]["text/plain"]) == ("execute_result", "42")
    number = notebook.reply(request)["content"]["execution_count"]
    assert page.one("load-0001")["execution_count"] == value["execution_count"] == number
    assert "loaded" in str(notebook.published)
    assert notebook.run("print(rows, [x for x in In if x[7:9] == 'lo'])") == "42 []\n"


def test_an_error_is_shown_in_the_cell_and_short_for_the_model(paged):
    notebook, page = paged((RUN,), "done", there=with_source("a = 1\na / 0"))
    go(notebook)
    (answer,) = told(notebook)
    assert answer["error"] == "ZeroDivisionError: division by zero"
    assert answer["line"] == "2: a / 0"
    (error,) = outputs(page)
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert any("a / 0" in line for line in error["traceback"])


def test_displays_and_results_come_in_their_order_and_updates_in_place(paged):
    code = (
        "import sys\nprint('one'); h = display('first', display_id='x')\n"
        "print('two', file=sys.stderr)\nh.update('changed')\n3"
    )
    notebook, page = paged((RUN,), "done", there=with_source(code))
    go(notebook)
    one, shown, two, value = outputs(page)
    assert (one["text"], two["text"], two["name"]) == ("one\n", "two\n", "stderr")
    assert shown["data"]["text/plain"] == "'changed'"
    assert value["data"]["text/plain"] == "3"


def test_what_a_cell_does_is_asked_about_like_code(paged):
    notebook, page = paged((RUN,), "done", there=with_source("import os\nos.remove('old.log')"))
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Deny")
    assert "deletes old.log" in str(notebook.published)
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert all(each["do"] != "show" for each in page.asked)


def test_another_text_than_the_one_that_was_allowed_does_not_run(paged):
    notebook, page = paged((RUN,), "done", there=with_source("import os\nos.remove('old.log')"))
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("go", cell="agent-001")
    notebook.show_widgets()
    button = notebook.button("Allow once")
    reads = []

    def changed_late(request):
        """The gate still sees the text that was allowed; the handler sees another one."""
        reads.append(request)
        if len(reads) > 1:
            page.one("load-0001")["source"] = "evil = 1"
        return {"cells": page.cells}

    page._read = changed_late
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert "changed in the meantime" in told(notebook)[0]["error"]
    assert notebook.run("print('evil' in dir())") == "False\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("agent-001", "your own cell is running"),
        ("title-01", "a markdown cell: there is nothing to run"),
        ("other-001", "it asks an agent"),
        ("steer-001", "it asks an agent"),
        ("empty-001", "the cell is empty"),
        ("nope", "there is no cell 'nope'"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(paged, name, said):
    more = [
        cell("other-001", "%%agent --new\nDelete all."),
        cell("steer-001", "x = 1\n%hermes undo"),
        cell("empty-001", " \n"),
    ]
    notebook, page = paged((call("run_cell", cell=name),), "done", there=[*cells(), *more])
    go(notebook)
    assert said in told(notebook)[0]["error"]
    assert all(each["do"] == "read" for each in page.asked)


def test_without_a_page_run_python_is_the_remedy(start):
    notebook = start((RUN,), "done")
    go(notebook)
    assert "run it with run_python" in told(notebook)[0]["error"]


def test_a_page_that_is_closed_while_the_cell_runs_loses_only_the_picture(paged):
    code = "open('begun', 'w').close()\nimport time\nwhile not go: time.sleep(.01)\nkept = 1"
    notebook, page = paged((RUN,), "done", there=with_source(code))
    notebook.run("go = []\nimport threading, os, time")
    notebook.run(
        "def wait():\n    while not os.path.exists('on'): time.sleep(.01)\n    go.append(1)\n"
        "threading.Thread(target=wait, daemon=True).start()"
    )
    request = notebook.agent("go", "--approve off", cell="agent-001")
    notebook.until(lambda: len(page.asked) > 1, "the reading of the cell")
    notebook.until((notebook.folder / "begun").exists, "the cell's code")
    page.leave()
    (notebook.folder / "on").touch()
    assert notebook.status(request) == "ok"
    assert "its output is not shown in the cell" in told(notebook)[0]["note"]
    assert notebook.run("print(kept)") == "1\n"


def test_interrupt_ends_the_cell_and_the_turn(paged):
    code = "open('begun', 'w').close()\nimport time\ntime.sleep(31)"
    notebook, _ = paged((RUN,), "never", there=with_source(code))
    request = notebook.agent("go", "--approve off", cell="agent-001")
    notebook.until((notebook.folder / "begun").exists, "the cell's code")
    notebook.interrupt()
    assert notebook.status(request, 5) == "error"
    assert notebook.run("print('alive')") == "alive\n"


def test_figures_are_shown_in_the_cell_and_below_the_turn(paged):
    pytest.importorskip("matplotlib")
    notebook, page = paged((RUN,), "done", there=with_source(FIGURE))
    request = go(notebook)
    assert [each for each in outputs(page) if "image/png" in each.get("data", {})]
    assert [each for each in notebook.bundles(request) if "image/png" in each]


def test_a_later_turn_knows_that_the_cell_has_run(paged):
    notebook, _ = paged((RUN,), "done", "fine", there=with_source("print('seen' * 2)"))
    go(notebook)
    go(notebook, "--new")
    assert "seenseen" in notebook.requests()[-1]["messages"][-1]["content"]


def test_what_a_cell_showed_before_it_was_run_is_shown_again(paged):
    notebook, page = paged((call("run_cell", cell="load-0001"),), "done")
    page.one("load-0001")["source"] = "ran = 'now'\nprint(ran)"
    picture = {"output_type": "display_data", "data": {"image/png": "x" * 900}, "metadata": {}}
    page.one("load-0001")["outputs"].append(picture)
    before = dict(page.one("load-0001"))
    request = go(notebook)
    assert page.one("load-0001")["outputs"][0]["text"] == "now\n"
    assert notebook.record(request)[RECORD]["changed"] == {"variable": 1, "cell": 1}
    shown = notebook.run("%hermes undo")
    assert page.one("load-0001") == before
    assert "puts back cell “ran = 'now'” (run)" in shown
    assert notebook.run("print('ran' in dir())") == "False\n"
    notebook.run("%hermes redo")
    assert page.one("load-0001")["outputs"][0]["text"] == "now\n"
