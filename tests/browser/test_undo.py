"""Undo as a person sees it."""

from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

pytestmark = ONE_IS_ENOUGH


def test_a_turn_is_undone_from_a_cell_below_it(notebook):
    page = notebook(
        "%%agent --approve off\nrewrite it", "%hermes diff", "%hermes undo", "%hermes checkpoints"
    )
    (page.folder / "notes.md").unlink(missing_ok=True)  # of another test
    path = page.folder / "report.py"
    path.write_text("total = 1\nprint(total)\n")
    page.run_all()
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("2 files changed · %hermes undo")
    page.until_idle(4)
    page.output(2).get_by_text("report.py").first.click()
    expect(page.output(2)).to_contain_text("+total = sum(range(10))")
    page.shot("diff")
    page.theme("JupyterLab Dark")
    page.shot("diff-dark")
    page.theme("JupyterLab Light")
    expect(page.output(3)).to_contain_text("puts back report.py")
    expect(page.output(3)).to_contain_text("Done: 2 files")
    assert path.read_text() == "total = 1\nprint(total)\n"
    assert not (page.folder / "notes.md").exists()
    expect(page.output(4)).to_contain_text("(undone by ")
