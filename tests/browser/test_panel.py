"""What agents ask is answered in the side panel, whatever the kernel does."""

from __future__ import annotations

import re

from accessibility import no_serious_findings
from playwright.sync_api import expect

STUCK = "import os, time\nwhile os.path.exists('old.log'): time.sleep(0.05)"


class Panel:
    """The side panel of a page."""

    def __init__(self, page):
        self.page = page
        page.evaluate("() => window.jupyterapp.commands.execute('hermes:show-approvals')")
        self.root = page.locator("#hermes-approvals")
        expect(self.root).to_be_visible()

    @property
    def card(self):
        return self.root.get_by_role("alertdialog")

    def click(self, label):
        self.card.get_by_role("button", name=label, exact=True).click()


def deleting(notebook, *cells, line=""):
    page = notebook(f"%%agent {line}\ndelete the old log", *cells)
    (page.root / "old.log").write_text("x")
    page.run_cell(0)
    page.until_idle(0)
    return page


def test_a_call_is_allowed_in_the_panel_while_the_main_thread_sleeps(notebook):
    page = deleting(notebook, STUCK, line="--background")
    page.run_cell(1)
    panel = Panel(page.page)
    expect(panel.card).to_contain_text("rm old.log", timeout=30_000)
    expect(panel.root.get_by_role("status").first).to_have_text("1 request waits for you.")
    page.run_cell(2)
    expect(page.cell(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    page.shot("panel")
    no_serious_findings(page.page, "#hermes-approvals")
    page.theme("JupyterLab Dark")
    page.shot("panel-dark")
    no_serious_findings(page.page, "#hermes-approvals")
    page.theme("JupyterLab Light")
    page.page.set_viewport_size({"width": 640, "height": 480})
    page.shot("panel-200-percent")
    page.page.set_viewport_size({"width": 1100, "height": 900})
    panel.click("Allow once")
    page.until_idle(2)  # the loop in the main thread ends when the file is gone
    assert not (page.root / "old.log").exists()
    expect(page.output(1)).to_contain_text("Allowed")


def test_another_page_denies_with_a_note(notebook, pages):
    page = deleting(notebook)
    page.run_cell(1)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    other = notebook()
    panel = Panel(other.page)
    expect(panel.card).to_contain_text(page.name, timeout=30_000)
    panel.click("Deny with a note…")
    panel.card.get_by_label("Why not").fill("it is still needed")
    page.shot("panel-note")
    no_serious_findings(other.page, "#hermes-approvals")
    panel.click("Deny")
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("it is still needed")
    assert (page.root / "old.log").exists()
    expect(panel.card).to_have_count(0, timeout=15_000)


def test_a_reloaded_page_shows_what_waits_and_runs_the_edited_command(notebook):
    page = deleting(notebook)
    page.run_cell(1)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    page.page.on("dialog", lambda dialog: dialog.accept())
    page.page.reload()
    page.ready()
    panel = Panel(page.page)
    expect(panel.card).to_contain_text("rm old.log", timeout=30_000)
    expect(page.page.get_by_text(re.compile("Hermes: 1 wait"))).to_be_visible()
    panel.click("Edit…")
    panel.card.get_by_label("Run this instead").fill("echo kept > kept.txt")
    panel.click("Run it")
    expect(panel.card.get_by_role("status")).to_contain_text(re.compile("Edited|Allowed"))
    expect(panel.root).not_to_contain_text("Running", timeout=30_000)  # the turn has ended
    assert (page.root / "old.log").exists()
    assert (page.root / "kept.txt").read_text() == "kept\n"
