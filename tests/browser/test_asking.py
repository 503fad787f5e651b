"""Asking from a notebook: prompts as prose, the buttons of cells, what runs in the toolbar."""

import json

import pytest
from accessibility import no_serious_findings
from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

PROMPT = "%%agent -m scripted\nDon't print {total}, if it is None; sum @sales."


@pytest.fixture
def set_to_deny(server):
    """The settings of the extension say what holds for turns."""
    folder = server[2].parent / "settings" / "hermes-jupyter-labextension"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "notebook.jupyterlab-settings"
    path.write_text(json.dumps({"mode": "deny", "max_steps": 7}))
    yield
    path.unlink()


def test_what_is_set_holds_for_turns_from_the_first_one_on(set_to_deny, notebook):
    page = notebook("%%agent\ndelete old.log", "%%agent\nand now delete old.log")
    (page.folder / "old.log").write_text("x")
    page.run_cell(0)
    page.run_cell(1)
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("enied")
    assert (page.folder / "old.log").exists()
    if page.app == "notebook":  # its settings are another page
        return
    page.command("settingeditor:open")
    page.page.locator(".jp-PluginList").get_by_text("Hermes", exact=True).click()
    approvals = page.page.get_by_role("group", name="Hermes").get_by_role("combobox")
    page.shot("settings")
    with page.page.expect_response("**/api/settings/**"):
        approvals.select_option("As the kernel says")
    page.page.get_by_role("tab", name=page.name).click()
    page.run_cell(2)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    expect(page.page.locator(".hermes-RunningTurn")).to_contain_text("of 7")
    page.button("Deny").click()
    page.until_idle(2)


def test_prompts_are_prose_and_ask_puts_one_below_that_tab_completes(notebook):
    page = notebook(PROMPT, "sales = {}")
    page.run_cell(0)
    page.run_cell(2)
    page.until_idle(2)
    expect(page.cell(1).locator(".hermes-prompt-value")).to_have_text("{total}")
    expect(page.cell(1).locator(".hermes-prompt-mention")).to_have_text("@sales")
    words = page.cell(1).locator(".cm-line").nth(1).locator("span")
    colours = words.evaluate_all("all => all.map(e => getComputedStyle(e).color)")
    assert len(set(colours)) == 1  # those of None, if and the quote are not Python's
    label = ".hermes-prompt[data-hermes-label]"
    expect(page.cell(1).locator(label)).to_have_attribute("data-hermes-label", "Agent")
    page.cell(1).locator(".jp-InputPrompt").click()
    page.page.keyboard.press("Alt+Shift+A")
    expect(page.page.locator(".jp-CodeCell")).to_have_count(4)
    editor = page.cell(2).locator(".cm-content")
    expect(editor).to_be_focused()
    page.page.keyboard.type("don't")
    expect(editor).to_have_text("%%agentdon't")
    page.shot("asking")
    for typed, offered in (
        ("%%agent\nuse /", "/run_python"),  # the first of this kernel
        ("%%agent\nsum @sal", "@sales"),
        ("%hermes un", "undo"),
    ):
        editor.fill(typed)
        page.page.keyboard.press("Tab")
        among = page.page.locator(".jp-Completer").get_by_text(offered, exact=True)
        expect(among).to_be_visible()
    page.page.keyboard.press("Enter")
    expect(editor).to_have_text("%hermes undo")


@pytest.mark.new_pages
def test_a_failed_cell_is_fixed_from_its_error(notebook):
    page = notebook("misspelled = 3\nprint(misspeled)", "print('all is well')")
    page.run_cell(0)
    page.until_idle(0)
    page.run_cell(2)
    page.until_idle(2)
    in_toolbar = page.page.locator("[data-command='hermes:fix-cell']:visible")
    below = page.page.locator(".hermes-Fix-button")
    expect(in_toolbar).to_have_count(0)
    expect(below).to_have_count(0)
    page.run_cell(1)
    page.until_free(1)
    expect(in_toolbar).to_have_count(1)
    expect(below).to_be_visible()
    page.shot("failed")
    no_serious_findings(page.page, ".hermes-Fix")
    below.focus()
    page.page.keyboard.press("Enter")
    expect(page.cell(2).locator(".cm-content")).to_contain_text("%hermes fix --cell")
    expect(page.output(2)).to_contain_text("The name has two of them.", timeout=30_000)
    expect(page.cell(3).locator(".cm-content")).to_contain_text("print(misspelled)")
    expect(page.page.locator(".jp-CodeCell")).to_have_count(5)
    page.shot("fixed")
    no_serious_findings(page.page, ".jp-cell-toolbar [data-command^='hermes:']", ".hermes-turn")
    # After a restart nothing has run, and nothing is loaded: the page knows what went wrong.
    page.command("notebook:clear-all-cell-outputs")
    expect(below).to_have_count(0)
    page.run_cell(1)
    expect(below).to_be_visible()
    page.save()
    page.restart()
    page.page.reload()
    page.ready()
    below.click()
    expect(page.output(2)).to_contain_text("The name has two of them.", timeout=30_000)
    assert "hermes-Fix" not in json.dumps(page.saved())


@pytest.mark.new_pages
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


@ONE_IS_ENOUGH
def test_each_notebook_shows_its_own_turn_and_stops_it_while_its_thread_is_busy(notebook):
    asking, busy = notebook("%%agent\ndelete old.log"), notebook("%%agent --approve off\nstay busy")
    asking.run_all()
    busy.run_all()
    of_asking, of_busy = (each.page.locator(".hermes-RunningTurn") for each in (asking, busy))
    expect(of_asking).to_contain_text("Asks you", timeout=30_000)
    expect(busy.output(1)).to_contain_text("run_python", timeout=30_000)
    expect(of_busy).to_contain_text("Step 1 of 90")
    of_busy.get_by_role("button", name="Stop the agent").click()
    busy.until_idle(1)
    expect(of_busy).to_be_hidden()
    expect(of_asking).to_contain_text("Asks you")
    assert asking.is_busy(1)
    asking.button("Deny").click()
    asking.until_idle(1)


@ONE_IS_ENOUGH
def test_eject_puts_the_code_below(notebook):
    page = notebook("%%agent --approve off\nrewrite it")
    (page.folder / "report.py").write_text("total = 1\n")
    page.run_all()
    page.until_idle(1)
    page.output(1).get_by_role("button", name="Eject to cells").click()
    expect(page.page.locator(".jp-CodeCell")).to_have_count(3)
    expect(page.cell(2).locator(".cm-content")).to_contain_text("without the agent")
    (page.folder / "notes.md").unlink()  # others make it anew
