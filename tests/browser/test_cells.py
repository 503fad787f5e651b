"""The agent changes cells of its own notebook, wherever the person looks."""

from __future__ import annotations

import pytest
from accessibility import no_serious_findings
from playwright.sync_api import TimeoutError as NotInTime
from playwright.sync_api import expect

FAR = {f"cell-{number}": f"x{number} = {number}" for number in range(300)}
SOURCES = "w => Array.from(w.content.model.cells, cell => cell.sharedModel.getSource())"
OF = "name => [...window.jupyterapp.shell.widgets('main')].find(w => w.context?.path === name)"


def sources(page, name):
    return page.evaluate(f"name => ({SOURCES})(({OF})(name))", name)


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


def test_of_two_notebooks_on_one_kernel_the_one_that_asked_is_changed(notebook):
    page = notebook("%%agent --approve off\nput a cell here", {"last": "1"})
    if page.app == "notebook":
        pytest.skip("there, each notebook has a page of its own")
    page.run_cell(0)
    page.until_idle(0)
    other = "beside.ipynb"
    (page.root / other).write_text((page.root / page.name).read_text())
    open_beside(page.page, other)
    page.page.evaluate(
        f"async ([first, second]) => {{ const of = {OF};"
        " const { id } = of(first).sessionContext.session.kernel;"
        " await of(second).sessionContext.ready;"
        " await of(second).sessionContext.changeKernel({ id }); }",
        [page.name, other],
    )
    before = sources(page.page, page.name)
    page.page.evaluate(f"name => {{ ({OF})(name).content.activeCellIndex = 1; }}", other)
    page.command("notebook:run-cell")
    page.page.wait_for_function(
        f"name => ({SOURCES})(({OF})(name)).includes('here = 1')", arg=other
    )
    assert sources(page.page, other) == [*before[:2], "here = 1", *before[2:]]
    assert sources(page.page, page.name) == before
