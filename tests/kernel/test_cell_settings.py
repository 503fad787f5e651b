"""What the metadata of a cell choose for its turn, and what they cannot."""

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

DELETE = conversation("delete", (call("terminal", command="rm old.log"),), "Done.")


def asked(notebook, said, line=""):
    (notebook.folder / "old.log").write_text("x")
    return notebook.agent("delete it", line, cell="c1", metadata={"hermes": said})


def test_the_cells_metadata_choose_model_and_mode(start):
    notebook = start(DELETE)
    request = asked(notebook, {"model": "another", "mode": "deny"})
    assert notebook.status(request) == "ok"
    assert notebook.requests()[-1]["model"] == "another"
    assert (notebook.folder / "old.log").exists()


def test_metadata_cannot_switch_approvals_off(start):
    notebook = start(DELETE)
    request = asked(notebook, {"mode": "off"})
    assert notebook.status(request) == "error"
    assert "stricter" in notebook.reply(request)["content"]["evalue"]
    assert (notebook.folder / "old.log").exists()
    assert not notebook.requests()
