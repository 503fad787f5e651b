"""The record of a turn, drawn by the extension in a notebook that has no kernel."""

import json

import pytest
import records
from accessibility import no_serious_findings
from applications import ONE_IS_ENOUGH
from notebook_page import ARTEFACTS
from playwright.sync_api import expect

DRAWN_WITHIN = """async () => {
  const shown = [...window.jupyterapp.shell.widgets('main')].find(w => w.content?.rendermime);
  const output = shown.content.widgets[0].model.outputs.get(0);
  const times = [];
  for (let n = 0; n < 5; n++) {
    const renderer = shown.content.rendermime.createRenderer('%s');
    const host = document.body.appendChild(document.createElement('div'));
    host.style.cssText = 'position: fixed; inset: 0; overflow: auto';
    const began = performance.now();
    host.append(renderer.node);
    await renderer.renderModel(output);
    host.getBoundingClientRect();
    times.push(performance.now() - began);
    renderer.dispose();
    host.remove();
  }
  return Math.min(...times);
}"""


@pytest.fixture
def opened(pages, server, request):
    """Open a notebook whose cells have these outputs, without a kernel."""
    app, address, root = server

    def open_notebook(*bundles):
        name = f"{request.node.originalname}.ipynb"
        cells = [
            {"cell_type": "code", "id": f"cell-{n}", "metadata": {}, "execution_count": 1,
             "source": "%%agent\nTidy up the report",
             "outputs": [{"output_type": "display_data", "data": data, "metadata": {}}]}
            for n, data in enumerate(bundles)
        ]  # fmt: skip
        content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (root / name).write_text(json.dumps(content), encoding="utf-8")
        page = pages()
        page.goto(f"{address}/" + {"lab": f"lab/tree/{name}?reset"}.get(app, f"notebooks/{name}"))
        page.locator(".jp-Dialog-button", has_text="No Kernel").click(timeout=60_000)
        return page

    return open_notebook


def test_a_record_is_drawn_without_a_kernel_and_loads_nothing(opened):
    asked = []
    page = opened(records.rich())
    page.on("request", lambda request: asked.append(request.url))
    record = page.locator(".hermes-record")
    expect(record).to_contain_text("The report")
    expect(record.locator("h2")).to_contain_text("The report")
    expect(record).to_contain_text("Allowed once by you")
    expect(record.locator(".hermes-lanes .hermes-track")).to_have_count(3)
    expect(record.locator("img")).to_have_count(0)
    record.get_by_text("patch", exact=True).click()
    expect(record.locator(".hermes-Diff-added").first).to_be_visible()
    expect(record.get_by_role("button", name="Ask again")).to_be_visible()
    expect(record.get_by_role("button", name="Eject to cells")).to_be_hidden()
    assert not [url for url in asked if "spy" in url]


@ONE_IS_ENOUGH
def test_what_is_folded_is_found_by_keyboard(opened):
    page = opened(records.rich())
    page.get_by_role("button", name="Find").click()
    page.keyboard.type("needle")
    expect(page.get_by_role("search")).to_contain_text("1 of 3")
    expect(page.get_by_text("12 lines, a needle").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("2 of 3")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_be_hidden()
    expect(page.locator(".jp-Cell")).to_have_count(1)  # no key was a command of the notebook


@ONE_IS_ENOUGH
def test_ask_again_puts_the_prompt_below_and_runs_nothing(opened):
    page = opened(records.rich())
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".jp-CodeCell")).to_have_count(2)
    below = page.locator(".jp-CodeCell").nth(1)
    expect(below.locator(".cm-content")).to_be_focused()
    page.keyboard.type(", please")
    expect(below.locator(".cm-content")).to_contain_text("Tidy up the report, please")
    expect(below.locator(".jp-InputPrompt")).to_have_text("[ ]:")


@ONE_IS_ENOUGH
def test_a_version_to_come_falls_back_to_html(opened):
    newer = records.rich()
    newer[records.MIME]["v"] = 9
    page = opened(newer, {records.MIME: {"v": 9}})
    expect(page.locator(".jp-OutputArea-output").nth(0)).to_contain_text("The report")
    expect(page.locator(".jp-OutputArea-output").nth(1)).to_contain_text("newer version")
    expect(page.locator(".hermes-record")).to_have_count(0)


@ONE_IS_ENOUGH
def test_a_thousand_parts_are_drawn_at_once(opened, record_property):
    page = opened(records.long())
    expect(page.locator(".hermes-body > *")).to_have_count(1_000)
    expect(page.locator(".hermes-text strong").first).to_have_text("part 0")
    record_property("milliseconds", page.evaluate(DRAWN_WITHIN % records.MIME))
    # What is far out of sight is not made yet: that is why it is quick.
    assert page.locator(".hermes-unformatted").count() > 400


def test_a_record_at_200_percent_is_accessible_and_no_wider_than_its_notebook(opened, server):
    page = opened(records.rich())
    record = page.locator(".hermes-record")
    expect(record).to_contain_text("The report")
    record.get_by_role("button", name="Find").click()
    for folded in ("patch", "terminal"):
        record.get_by_text(folded, exact=True).first.click()
    page.set_viewport_size({"width": 640, "height": 900})  # what is left of 1280 points then
    if server[0] == "lab":
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme',"
                      " {theme: name})", theme)  # fmt: skip
        page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        assert record.evaluate("e => e.scrollWidth <= e.clientWidth")
        no_serious_findings(page, ".hermes-record")
        page.screenshot(path=f"{ARTEFACTS}/{server[0]}-record-200-{theme[11:].lower()}.png")
