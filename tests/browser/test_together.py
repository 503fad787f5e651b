"""A notebook that two people share (jupyter-collaboration), and an agent that one of them asked."""

from __future__ import annotations

import pytest
from applications import Jupyter
from approvals_panel import Panel
from cell_sources import OF, SOURCES, edits, sources
from notebook_page import Page
from playwright.sync_api import expect

pytestmark = pytest.mark.new_pages
CELLS = {"first-01": "a = 1", "second-1": "b = 2", "third-01": "c = 3", "show-001": "print(6 * 7)"}
STEPS = f"name => ({OF})(name).content.model.sharedModel.undoManager.undoStack.length"
SHOWN = f"name => [...({OF})(name).content.model.cells].at(-1).outputs.toJSON().map(o => o.text)"


@pytest.fixture(scope="module")
def jupyter(model, tmp_path_factory):
    """JupyterLab with collaboration."""
    pytest.importorskip("jupyter_server_ydoc")
    running = Jupyter("lab", tmp_path_factory.mktemp("together"), model.url, off=())
    yield running
    running.stop()


@pytest.fixture(scope="module")
def server(jupyter):
    return jupyter.app, jupyter.address, jupyter.root


@pytest.fixture
def two(notebook, pages):
    """Both people's pages of one notebook, with cells that ask the agent, and others."""

    def open_both(*cells):
        mine = notebook(*cells, CELLS)
        theirs = Page(pages(), (mine.app, mine.address, mine.root), mine.name)
        theirs.open()
        mine.run_cell(0)
        mine.until_idle(0)
        return mine, theirs

    return open_both


def steps(*pages):
    """How many steps of undo each has."""
    return [page.page.evaluate(STEPS, page.name) for page in pages]


def until(page, texts):
    """Wait until its cells below those that ask have these texts."""
    page.page.wait_for_function(
        f"([name, texts]) => JSON.stringify(({SOURCES})(({OF})(name)).slice(-texts.length))"
        " === JSON.stringify(texts)",
        arg=[page.name, texts],
    )


def test_what_the_agent_does_is_seen_by_both_and_undone_in_one_step(two):
    mine, theirs = two("%%agent --approve off\nrearrange the cells")
    before = sources(theirs.page, theirs.name)
    mine.run_cell(1)
    mine.until_idle(1)
    arranged = ["c = 3", "a = 10", "# Between", "print(6 * 7)"]
    for page in (mine, theirs):
        until(page, arranged)
        page.page.wait_for_function(f"name => ({SHOWN})(name)[0] === '42\\n'", arg=page.name)
    assert steps(mine, theirs) == [1, 0]
    # The server has written its own files meanwhile.
    expect(mine.output(1)).to_contain_text("s · 5 cells changed")
    mine.shot("together")
    mine.command("notebook:undo-cell-action")
    until(theirs, before)
    until(mine, before)


def test_the_other_persons_words_are_not_lost_and_either_page_answers(two):
    mine, theirs = two("%%agent\nchange the first cell")
    mine.run_cell(1)
    expect(mine.button("Allow once")).to_be_visible(timeout=30_000)
    edits(theirs, 2, "a = 'theirs'")
    until(mine, ["a = 'theirs'", "b = 2", "c = 3", "print(6 * 7)"])
    mine.button("Allow once").click()
    card = Panel(theirs.page).waiting
    expect(card).to_contain_text("-a = 'theirs'", timeout=30_000)  # it asks once more
    assert sources(mine.page, mine.name)[2] == "a = 'theirs'"
    mine.page.reload()
    mine.ready()
    card.get_by_role("button", name="Allow once", exact=True).click()
    for page in (mine, theirs):
        until(page, ["a = 'the agent'", "b = 2", "c = 3", "print(6 * 7)"])
    assert steps(mine, theirs) == [1, 0]
    mine.page.reload()
    mine.ready()
    expect(mine.page.get_by_role("group", name="Changed by Hermes")).to_contain_text("Put back")
