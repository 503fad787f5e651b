"""What a person sees and clicks, in JupyterLab and Notebook 7."""

import json

import pytest
from accessibility import no_serious_findings
from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

DELETE = "%%agent\ndelete old.log"
RECORD = "application/vnd.hermes.turn+json"
STREAMING = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].some(
    cell => cell.querySelector('.jp-InputPrompt').innerText.includes('*')
        && cell.querySelector('.jp-OutputArea').innerText.includes('A report'))"""
"""A text has begun to appear in a cell that runs."""


@pytest.fixture
def waiting(notebook):
    """A notebook whose second cell waits for an answer before it deletes old.log."""
    page = notebook(DELETE)
    (page.folder / "old.log").write_text("x")
    page.run_all()
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    return page


def outputs(page):
    page.save()
    return page.saved()["cells"][1]["outputs"]


def test_allow_deletes_the_file_while_the_cell_runs(waiting):
    assert waiting.is_busy(1)
    expect(waiting.output(1)).to_contain_text("rm old.log")
    waiting.shot("approval")
    waiting.theme("JupyterLab Dark")
    waiting.shot("approval-dark")
    no_serious_findings(waiting.page, ".hermes-turn")
    waiting.button("Allow once").click()
    waiting.until_idle(1)
    assert not (waiting.folder / "old.log").exists()
    expect(waiting.output(1)).to_contain_text("gone")
    waiting.shot("done-dark")
    waiting.theme("JupyterLab Light")
    waiting.shot("done")


@ONE_IS_ENOUGH
def test_deny_keeps_the_file(waiting):
    waiting.button("Deny").click()
    waiting.until_idle(1)
    assert (waiting.folder / "old.log").exists()
    expect(waiting.output(1)).to_contain_text("Denied")


def test_enter_approves_nothing(waiting):
    waiting.page.keyboard.press("Enter")
    waiting.page.keyboard.press("Escape")
    assert waiting.page.evaluate("document.activeElement.tagName") != "BUTTON"
    assert waiting.is_busy(1)
    assert (waiting.folder / "old.log").exists()
    waiting.button("Deny").click()
    waiting.until_idle(1)


@ONE_IS_ENOUGH
def test_the_keyboard_reaches_the_buttons(waiting):
    waiting.button("Deny").focus()
    waiting.page.keyboard.press("Enter")
    waiting.until_idle(1)
    assert (waiting.folder / "old.log").exists()


@ONE_IS_ENOUGH
def test_the_request_is_announced_to_a_screen_reader(waiting):
    card = waiting.page.get_by_role("alertdialog").first
    expect(card).to_be_attached()
    assert card.get_attribute("aria-label")
    waiting.button("Deny").click()
    waiting.until_idle(1)


@pytest.mark.new_pages
def test_a_reloaded_page_can_still_answer(waiting):
    waiting.save()
    waiting.page.reload()
    waiting.ready()
    expect(waiting.button("Allow once")).to_be_visible(timeout=30_000)
    waiting.shot("reloaded")
    waiting.button("Allow once").click()
    expect(waiting.output(1)).to_contain_text("gone", timeout=30_000)
    assert not (waiting.folder / "old.log").exists()


@ONE_IS_ENOUGH
@pytest.mark.new_pages
def test_attach_shows_the_turn_after_a_reload_of_an_unsaved_page(notebook):
    page = notebook(DELETE, "%hermes attach")
    (page.folder / "old.log").write_text("x")
    page.save()
    page.run_cell(0)
    page.run_cell(1)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    page.page.reload()
    page.ready()
    page.run_cell(2)
    expect(page.button("Allow once")).to_be_visible(timeout=15_000)
    page.button("Allow once").click()
    expect(page.output(2)).to_contain_text("gone", timeout=30_000)
    assert not (page.folder / "old.log").exists()


@ONE_IS_ENOUGH
def test_the_saved_notebook_holds_the_record_and_no_widget(waiting):
    waiting.button("Allow once").click()
    waiting.until_idle(1)
    found = outputs(waiting)
    bundles = [output["data"] for output in found if "data" in output]
    assert [set(bundle) for bundle in bundles] == [
        {"text/plain", "text/markdown", "text/html", RECORD}
    ]
    assert "widget" not in json.dumps(found)
    assert "widgets" not in json.dumps(waiting.saved()["metadata"])


@ONE_IS_ENOUGH
def test_text_streams(notebook):
    page = notebook("%%agent\nstream a report")
    page.run_all()
    page.page.wait_for_function(STREAMING, timeout=30_000)
    page.shot("streaming")
    page.until_idle(1)
    expect(page.output(1).locator("table").first).to_be_visible()
    page.shot("report")


@ONE_IS_ENOUGH
def test_a_batch_shows_its_lanes(notebook):
    page = notebook("%%agent\nbatch of parts")
    for number in range(4):
        (page.folder / f"part{number}.txt").write_text(f"part {number}\n")
    page.run_all()
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("Four parts")
    page.shot("batch")


@ONE_IS_ENOUGH
def test_a_running_batch_shows_its_progress(notebook):
    page = notebook(
        "import os, time\nfrom tools.registry import registry\n"
        "def nap(args, on_output, **_):\n"
        "    on_output('resting')\n"
        "    while not os.path.exists(f'rested{args[\"seconds\"]}'):\n        time.sleep(0.05)\n"
        "    return 'rested'\n"
        "registry.register('nap', 'mine', {'description': 'x'}, nap, effects='read', emoji='💤')",
        "%%agent\nlanes",
    )
    (page.folder / "rested1").touch()
    page.run_all()
    expect(page.output(2)).to_contain_text("1 of 3", timeout=30_000)
    assert page.is_busy(2)
    page.shot("lanes")
    for number in (2, 3):
        (page.folder / f"rested{number}").touch()
    page.until_idle(2)
    expect(page.output(2)).to_contain_text("Rested.")


@ONE_IS_ENOUGH
def test_a_question_is_answered_with_a_click(notebook, model):
    page = notebook("%%agent\nask me")
    page.run_all()
    expect(page.button("blue")).to_be_visible(timeout=30_000)
    page.shot("question")
    no_serious_findings(page.page, ".hermes-turn")
    page.button("blue").click()
    page.until_idle(1)
    told = [body["messages"][-1] for _, body in model.requests if body.get("messages")]
    assert any("blue" in str(m["content"]) for m in told if m["role"] == "tool")


def test_interrupt_in_the_page_ends_the_turn(waiting):
    waiting.command("notebook:interrupt-kernel")
    waiting.until_idle(1)
    expect(waiting.output(1)).to_contain_text("nterrupted")
    assert (waiting.folder / "old.log").exists()
    waiting.shot("interrupted")


def test_a_restart_while_waiting_leaves_a_usable_notebook(waiting):
    waiting.restart()
    expect(waiting.output(1)).to_contain_text("%hermes continue")  # no button that nobody hears
    waiting.run_all()
    expect(waiting.button("Deny")).to_be_visible(timeout=30_000)
    waiting.button("Deny").click()
    waiting.until_idle(1)
