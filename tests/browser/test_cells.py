"""The agent changes cells of its own notebook, wherever the person looks."""

from __future__ import annotations

import pytest
from accessibility import no_serious_findings
from approvals_panel import Panel
from cell_sources import OF, SOURCES, edits, sources
from notebook_page import Page
from playwright.sync_api import TimeoutError as NotInTime
from playwright.sync_api import expect

pytestmark = pytest.mark.new_pages
FAR = {f"cell-{number}": f"x{number} = {number}" for number in range(300)}


def open_beside(page, name):
    """Another notebook in the same window, which is looked at from now on."""
    page.evaluate(
        "async name => { const a = window.jupyterapp;"
        " const w = await a.commands.execute('docmanager:open', {path: name});"
        " await w.context.ready; a.shell.activateById(w.id); }",
        name,
    )


def test_far_cells_are_edited_while_another_notebook_is_active_and_one_undo_restores_all(
    notebook, server
):
    page = notebook("%%agent --approve off\ntidy the far end", FAR)
    page.page.evaluate(
        f"name => {{ const n = ({OF})(name).content;"
        " n.notebookConfig = {...n.notebookConfig, windowingMode: 'full'}; }",
        page.name,
    )
    before = sources(page.page, page.name)
    page.run_cell(0)
    page.until_idle(0)
    page.run_cell(1)
    if page.app == "lab":
        other = "another.ipynb"
        (page.root / other).write_text((page.root / page.name).read_text())
        open_beside(page.page, other)
    page.page.wait_for_function(
        f"name => ({SOURCES})(({OF})(name)).includes('# New') &&"
        f" ({OF})(name).content.widgets[1].prompt !== '*'",
        arg=page.name,
    )
    edited = sources(page.page, page.name)
    assert "far = 'edited'" in edited
    assert len(edited) == len(before) + 1 - 2
    if page.app == "lab":
        assert sources(page.page, other) == before
        page.page.evaluate(
            f"name => window.jupyterapp.shell.activateById(({OF})(name).id)", page.name
        )
    bar = page.page.get_by_role("group", name="Changed by Hermes")
    show = bar.get_by_role("button", name="Show the difference")
    for last in (False, False, False, True):  # windowing may still move what came into sight
        page.page.evaluate(f"name => ({OF})(name).content.scrollToItem(250, 'center')", page.name)
        try:
            show.click(timeout=10_000)
            break
        except NotInTime:
            if last:
                raise
    expect(bar).to_contain_text("+far = 'edited'")
    page.shot("changed-cell")
    no_serious_findings(page.page, ".hermes-ChangeBar")
    page.command("notebook:undo-cell-action")
    page.page.wait_for_function(
        f"([name, count]) => ({OF})(name).content.model.cells.length === count",
        arg=[page.name, len(before)],
    )
    assert sources(page.page, page.name) == before
    expect(bar).to_have_count(0)


def test_of_two_notebooks_on_one_kernel_the_one_that_asked_is_changed(notebook, pages, server):
    page = notebook("%%agent --approve off\nput a cell here", {"last": "1"})
    page.run_cell(0)
    page.until_idle(0)
    other = "beside.ipynb"
    (page.root / other).write_text((page.root / page.name).read_text())
    window = page.page
    if page.app == "lab":
        open_beside(window, other)
    else:  # each notebook has a window of its own
        beside = Page(pages(), server, other)
        beside.open()
        window = beside.page
    kernel = f"name => ({OF})(name).sessionContext.session.kernel.id"
    window.evaluate(
        f"async ([name, id]) => {{ const {{ sessionContext }} = ({OF})(name);"
        " await sessionContext.ready; await sessionContext.changeKernel({ id }); }",
        [other, page.page.evaluate(kernel, page.name)],
    )
    before = sources(page.page, page.name)
    window.evaluate(
        f"name => {{ ({OF})(name).content.activeCellIndex = 1;"
        " window.jupyterapp.commands.execute('notebook:run-cell'); }",
        other,
    )
    window.wait_for_function(f"name => ({SOURCES})(({OF})(name)).includes('here = 1')", arg=other)
    assert sources(window, other) == [*before[:2], "here = 1", *before[2:]]
    assert sources(page.page, page.name) == before


def test_a_renamed_notebook_is_changed_and_of_a_closed_one_the_agent_is_told(notebook, model):
    ask = "%%agent\nchange the first cell"
    page = notebook(ask, f"{ask}, again", {"first-01": "a = 1"})
    page.run_cell(0)
    page.until_idle(0)
    page.run_cell(1)
    expect(page.output(1)).to_contain_text("edit_cell“a = 1” asks you", timeout=30_000)
    name = f"renamed-{page.name}"
    page.page.evaluate(
        "([old, now]) => window.jupyterapp.serviceManager.contents.rename(old, now)",
        [page.name, name],
    )
    page.name = name
    page.button("Allow once").click()
    page.until_idle(1)
    assert sources(page.page, name)[3] == "a = 'the agent'"
    if page.app == "notebook":
        return  # there, a notebook is closed with its page
    edits(page, 3, "a = 2")
    page.run_cell(2)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    page.save()
    page.page.evaluate(f"name => ({OF})(name).close()", name)
    panel = Panel(page.page)
    panel.waiting.get_by_role("button", name="Allow once", exact=True).click()
    expect(panel.root).not_to_contain_text("Running", timeout=30_000)
    said = [m["content"] for _, body in model.requests for m in body.get("messages", ())]
    assert any("the notebook's page was closed" in str(text) for text in said)
    open_beside(page.page, name)
    assert sources(page.page, name)[3] == "a = 2"
