"""What the model is told of the notebook's cells."""

from __future__ import annotations

import json


def asked(notebook, number=-1):
    """The last message of the user in a request."""
    return notebook.requests()[number]["messages"][-1]["content"].strip()


def test_the_cells_above_and_their_outputs_are_told(start):
    notebook = start("fine", "fine")
    notebook.run("x = 41\nprint('the answer is', x + 1)")
    notebook.run("x * 2")
    notebook.status(notebook.agent("What is x?"))
    told = asked(notebook)
    assert "x = 41" in told
    assert "the answer is 42" in told
    assert "82" in told
    assert told.endswith("What is x?")
    assert "load_ext" not in told


def test_a_failed_cell_is_told_with_its_error(start):
    notebook = start("fine")
    notebook.status(notebook.execute("{}['missing']"))
    notebook.status(notebook.agent("What went wrong?"))
    assert "KeyError: 'missing'" in asked(notebook)


def test_only_what_is_new_is_told_again(start):
    notebook = start("one", "two", "three")
    notebook.run("first = 'alpha'")
    notebook.status(notebook.agent("One"))
    notebook.status(notebook.agent("Two"))
    assert asked(notebook) == "Two"
    notebook.run("second = 'beta'")
    notebook.status(notebook.agent("Three"))
    assert "beta" in asked(notebook)
    assert "alpha" not in asked(notebook)


def test_nothing_is_told_if_that_is_wanted(start):
    notebook = start("fine")
    notebook.run("private = 1")
    notebook.status(notebook.agent("Hello", "--no-context"))
    assert asked(notebook) == "Hello"


def test_secrets_in_cells_are_masked(start):
    notebook = start("fine")
    secret = "sk-" + "abcDEF123456" * 4
    notebook.run(f"key = '{secret}'\nprint(key)")
    notebook.status(notebook.agent("Hello"))
    assert secret not in json.dumps(notebook.requests())
    assert "key = " in asked(notebook)


def test_the_order_is_that_of_the_file_and_markdown_is_told(start, tmp_path):
    path = tmp_path / "work" / "report.ipynb"
    notebook = start("fine", fresh=True, env={"JPY_SESSION_NAME": str(path)})
    cells = [
        {"id": "a", "cell_type": "markdown", "source": "# Sales of 2025", "metadata": {}},
        {"id": "b", "cell_type": "code", "source": "late = 1", "metadata": {}, "outputs": [],
         "execution_count": None},
        {"id": "me", "cell_type": "code", "source": "%%agent\nHi", "metadata": {}, "outputs": [],
         "execution_count": None},
        {"id": "c", "cell_type": "code", "source": "below = 1", "metadata": {}, "outputs": [],
         "execution_count": None},
    ]  # fmt: skip
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    notebook.status(notebook.agent("Hi", cell="me"))
    told = asked(notebook)
    assert told.index("# Sales of 2025") < told.index("late = 1")
    assert "not run in this kernel" in told
    assert "below" not in told


def test_much_output_costs_little(start):
    notebook = start("fine")
    notebook.run("for n in range(200_000): print('line', n)", timeout=60)
    notebook.status(notebook.agent("Hi"), timeout=60)
    told = asked(notebook)
    assert len(told) < 6_000
    assert "line 199999" in told
