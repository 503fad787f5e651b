"""Commands of an agent within bounds, in a notebook."""

import shutil

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True

WHERE = (call("terminal", command="cat /proc/1/comm; pwd"),)


@pytest.fixture
def notebook(start):
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return start(WHERE, "done", WHERE, "done")


def told(notebook):
    """What the model read of its last call."""
    return notebook.requests()[-1]["messages"][-1]["content"]


def test_commands_run_within_the_bounds_that_are_configured(notebook):
    notebook.run("%config Hermes.containment = 'bubblewrap'; ")
    notebook.run("%config Hermes.network = 'off'")
    status = notebook.run("%hermes status")
    assert "contained  bubblewrap, network off" in status
    notebook.run("%%agent --plain\nwhere?")
    assert '"output":"bwrap' in told(notebook).replace('": "', '":"')


def test_the_bounds_can_change_between_turns(notebook):
    notebook.run("%config Hermes.containment = 'bubblewrap'")
    notebook.run("%%agent --plain\nwhere?")
    assert "bwrap" in told(notebook)
    notebook.run("%config Hermes.containment = 'off'")
    notebook.run("%%agent --plain\nwhere?")
    assert "bwrap" not in told(notebook)
    assert "containment is now: off" in told(notebook)


def test_bounds_that_cannot_be_had_keep_commands_from_running(notebook):
    notebook.run("import os; path = os.environ['PATH']; os.environ['PATH'] = '/none'")
    try:
        notebook.run("%config Hermes.containment = 'bubblewrap'")
        notebook.run("%%agent --plain\nwhere?")
        assert "bubblewrap is not installed" in told(notebook)
        assert "⚠ bubblewrap is not possible" in notebook.run("%hermes status")
    finally:
        notebook.run("os.environ['PATH'] = path")
