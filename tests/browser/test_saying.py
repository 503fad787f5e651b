"""The line below a running turn: something is said to the agent, by keyboard too."""

import json

import pytest
from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

RECORD = "application/vnd.hermes.turn+json"
FIELD = "Say something to the agent"


@pytest.fixture
def waiting(notebook):
    """A notebook whose second cell waits for an answer before it deletes old.log."""
    page = notebook("%%agent\ndelete old.log")
    (page.folder / "old.log").write_text("x")
    page.run_all()
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    return page


def field(page):
    """Below the turn; the panel has one, too."""
    return page.page.locator(".jp-Notebook").get_by_placeholder(FIELD)


def both_themes(page, name):
    page.shot(name)
    page.theme("JupyterLab Dark")
    page.shot(f"{name}-dark")
    page.theme("JupyterLab Light")


def test_what_is_typed_while_the_cell_runs_is_read_at_the_next_step(waiting, model):
    said = types(waiting, "by Enter")
    both_themes(waiting, "say")
    waiting.page.keyboard.press("Enter")
    is_read(waiting, model, said)


@ONE_IS_ENOUGH
def test_the_button_behind_the_field_says_it_too(waiting, model):
    said = types(waiting, "by a button")
    waiting.page.keyboard.press("Tab")
    waiting.page.keyboard.press("Enter")
    is_read(waiting, model, said)


def types(waiting, way):
    said = f"keep it until friday ({way}, {waiting.app})"
    field(waiting).click()
    waiting.page.keyboard.type(said)
    return said


def is_read(waiting, model, said):
    """The turn shows it while it runs, the model reads it, and the record keeps it."""
    expect(waiting.page.locator(".hermes-spoken")).to_contain_text(f"You: {said}")
    expect(field(waiting)).to_have_value("")
    assert waiting.is_busy(1)
    both_themes(waiting, "said")
    waiting.button("Deny").click()
    waiting.until_idle(1)
    expect(waiting.output(1)).to_contain_text("It stays until Friday.")
    assert said in json.dumps([body for _, body in model.requests])
    expect(field(waiting)).to_have_count(0)
    waiting.save()
    record = waiting.saved()["cells"][1]["outputs"][0]["data"][RECORD]
    assert [e["text"] for e in record["events"] if e["type"] == "spoken"] == [said]
    both_themes(waiting, "said-record")


@ONE_IS_ENOUGH
def test_an_empty_field_sends_nothing(waiting, model):
    before = len(model.requests)
    field(waiting).click()
    waiting.page.keyboard.press("Enter")
    waiting.page.keyboard.type("   ")
    waiting.page.keyboard.press("Enter")
    waiting.button("Deny").click()
    waiting.until_idle(1)
    expect(waiting.output(1)).to_contain_text("Done: old.log is gone.")
    assert len(model.requests) == before + 1
    expect(waiting.output(1)).not_to_contain_text("You:")


@ONE_IS_ENOUGH
def test_the_stop_button_ends_the_turn_and_the_file_stays(waiting):
    waiting.page.locator(".hermes-talk button", has_text="Stop").click()
    waiting.until_idle(1)
    expect(waiting.output(1)).to_contain_text("Interrupted")
    assert (waiting.folder / "old.log").exists()
