"""Asking from a notebook: prompts as prose, the buttons of cells, what runs in the toolbar."""

import json

import pytest
from accessibility import no_serious_findings
from playwright.sync_api import expect

PROMPT = "%%agent -m scripted\nDon't print {total}, if it is None; sum @sales."


@pytest.fixture
def set_to_plan(server):
    """The settings of the extension say how cells begin that it makes."""
    folder = server[2].parent / "settings" / "hermes-jupyter-labextension"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "notebook.jupyterlab-settings"
    path.write_text(json.dumps({"mode": "plan", "max_steps": 7}))
    yield
    path.unlink()


def test_prompts_are_prose_and_ask_puts_one_below(set_to_plan, notebook):
    page = notebook(PROMPT)
    expect(page.cell(1).locator(".hermes-prompt-value")).to_have_text("{total}")
    expect(page.cell(1).locator(".hermes-prompt-mention")).to_have_text("@sales")
    words = page.cell(1).locator(".cm-line").nth(1).locator("span")
    colours = words.evaluate_all("all => all.map(e => getComputedStyle(e).color)")
    assert len(set(colours)) == 1  # those of None, if and the quote are not Python's
    label = ".hermes-prompt[data-hermes-label]"
    expect(page.cell(1).locator(label)).to_have_attribute("data-hermes-label", "Agent")
    page.cell(1).locator(".jp-InputPrompt").click()
    page.page.keyboard.press("Alt+Shift+A")
    expect(page.page.locator(".jp-CodeCell")).to_have_count(3)
    expect(page.cell(2).locator(".cm-content")).to_be_focused()
    page.page.keyboard.type("don't")
    expect(page.cell(2).locator(".cm-content")).to_have_text("%%agentdon't")
    page.save()
    expect(page.page.locator(".jp-mod-dirty")).to_have_count(0)
    assert page.saved()["cells"][2]["metadata"]["hermes"] == {"mode": "plan", "max_steps": 7}
    page.shot("asking")


def test_a_failed_cell_is_fixed_from_its_toolbar(notebook):
    page = notebook("misspelled = 3\nprint(misspeled)", "print('all is well')")
    page.run_cell(0)
    page.until_idle(0)
    page.run_cell(2)
    page.until_idle(2)
    fix = page.page.locator("[data-command='hermes:fix-cell']:visible")
    expect(fix).to_have_count(0)
    page.run_cell(1)
    page.until_idle(1)
    fix.click()
    expect(page.cell(2).locator(".cm-content")).to_contain_text("%hermes fix --cell")
    expect(page.output(2)).to_contain_text("The name has two of them.", timeout=30_000)
    expect(page.cell(3).locator(".cm-content")).to_contain_text("print(misspelled)")
    expect(page.page.locator(".jp-CodeCell")).to_have_count(5)
    page.shot("fixed")
    no_serious_findings(page.page, ".jp-cell-toolbar [data-command^='hermes:']", ".hermes-turn")


def test_what_runs_is_accessible_and_stopped_from_the_toolbar(notebook):
    page = notebook("%%agent\ndelete old.log")
    (page.folder / "old.log").write_text("x")
    running = page.page.locator(".hermes-RunningTurn")
    expect(running).to_be_hidden()
    page.run_all()
    expect(running).to_contain_text("Asks you", timeout=30_000)
    expect(running).to_contain_text("of 90")
    page.shot("toolbar")
    parts = (".hermes-RunningTurn", ".hermes-turn", ".hermes-prompt")
    no_serious_findings(page.page, *parts)
    page.button("Edit").click()
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.theme(theme)
        no_serious_findings(page.page, *parts)
    running.get_by_role("button", name="Stop the agent").click()
    page.until_idle(1)
    expect(page.output(1).locator(".hermes-record")).to_be_visible()
    expect(page.output(1).locator(".hermes-turn")).to_have_count(1)  # no widget is left
    expect(running).to_be_hidden()
    assert (page.folder / "old.log").exists()
    page.page.reload()
    page.ready()
    expect(page.page.locator(".hermes-turn")).to_have_count(0)  # it was not saved


def test_eject_puts_the_code_below(notebook):
    page = notebook("%%agent --approve off\nrewrite it")
    (page.folder / "report.py").write_text("total = 1\n")
    page.run_all()
    page.until_idle(1)
    page.output(1).get_by_role("button", name="Eject to cells").click()
    expect(page.page.locator(".jp-CodeCell")).to_have_count(3)
    expect(page.cell(2).locator(".cm-content")).to_contain_text("without the agent")
    (page.folder / "notes.md").unlink()  # others make it anew
