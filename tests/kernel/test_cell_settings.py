"""What the metadata of a cell and its page choose for a turn, and what they cannot."""

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


def models(notebook):
    return [request["model"] for request in notebook.requests()]


def test_the_settings_of_the_page_hold_for_its_turns_until_they_change(paged):
    notebook, page = paged(DELETE, settings={"model": "of page", "mode": "deny"})
    assert notebook.status(asked(notebook, {})) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert {*models(notebook)} == {"of page"}
    assert notebook.status(asked(notebook, {}, "-m line")) == "ok"
    assert models(notebook)[-1] == "line"
    page.set({"model": "another", "mode": "plan", "max_steps": 3})
    assert notebook.status(asked(notebook, {"mode": "ask"})) == "ok"
    assert models(notebook)[-1] == "another"
    assert (notebook.folder / "old.log").exists()
    page.set({"mode": "off"})
    refused = asked(notebook, {})
    assert notebook.status(refused) == "error"
    assert "Settings > Hermes" in notebook.reply(refused)["content"]["evalue"]


def test_a_fix_heeds_the_page_too(paged):
    notebook, _ = paged("The name is wrong.", settings={"model": "of page"})
    assert notebook.status(notebook.execute("misspeled", cell="c2")) == "error"
    assert notebook.status(notebook.execute("%hermes fix --cell c2")) == "ok"
    assert models(notebook) == ["of page"]
