"""Makes the pictures of the README; no part of the tests.

``python -m pytest tests/browser/pictures.py -n 0 -k lab --basetemp /tmp/work``
"""

from __future__ import annotations

import pytest
from applications import ROOT
from notebook_page import Page, write_notebook
from playwright.sync_api import expect

pytestmark = pytest.mark.new_pages
PROMPT = "Please tidy the logs: nobody needs the old one any more."
CLOSED = "() => window.jupyterapp.commands.execute('application:toggle-left-area')"
PANEL = "() => window.jupyterapp.commands.execute('hermes:show-approvals')"
SETTLED = """() => [...document.querySelectorAll('.jp-NotebookPanel-toolbar')].every(
    bar => [...bar.children].every(item => item.offsetTop < bar.clientHeight))"""


@pytest.fixture
def opened(pages, server):
    """Open a notebook with a name that can be shown, and with nothing beside it."""

    def open_notebook(name, *cells):
        app, _, root = server
        if app != "lab":
            pytest.skip("the pictures show JupyterLab")
        (root / "old.log").write_text("x")
        (root / "new.log").write_text("x")
        write_notebook(root / name, {f"{name}-{n}": cell for n, cell in enumerate(cells)})
        page = Page(pages(), server, name)
        page.open()
        page.page.evaluate(CLOSED)
        page.run_cell(0)
        page.until_idle(0)
        page.run_cell(1)
        expect(page.button("Allow once")).to_be_visible(timeout=60_000)
        expect(page.button("Allow once")).to_have_css("pointer-events", "auto")  # as it stays
        return page

    return open_notebook


def test_approval(opened):
    page = opened("logs.ipynb", "%load_ext hermes_jupyter", f"%%agent\n{PROMPT}")
    page.page.set_viewport_size({"width": 900, "height": 700})
    page.page.locator(".jp-NotebookPanel").screenshot(path=ROOT / "notebooks" / "approval.png")


def test_panel(opened):
    page = opened(
        "sales.ipynb",
        "%load_ext hermes_jupyter\nimport time",
        f"%%agent --background\n{PROMPT}",
        "for epoch in range(60):\n    time.sleep(1)  # your own work goes on",
    )
    page.page.set_viewport_size({"width": 1100, "height": 720})
    page.run_cell(2)
    page.page.evaluate(PANEL)
    card = page.page.locator("#hermes-approvals").get_by_role("alertdialog")
    expect(card).to_contain_text("rm old.log", timeout=30_000)
    page.page.evaluate("document.activeElement.blur()")
    page.page.wait_for_function(SETTLED)
    page.page.screenshot(path=ROOT / "notebooks" / "panel.png")
