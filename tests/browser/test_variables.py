"""The agent's code in the kernel, and its scripts, as a person sees them."""

import pytest
from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

pytestmark = ONE_IS_ENOUGH

SALES = "sales = {'Jan': 3, 'Feb': 2, 'Mar': 5, 'Apr': 7}"
CHART = """import matplotlib.pyplot as plt
plt.figure(figsize=(4, 2))
plt.plot([1, 2, 4])
plt.show()"""
PICTURE = "img[src^='data:image/png'], .jp-RenderedImage img"


def test_a_plot_appears_below_the_turn_and_stays(notebook):
    pytest.importorskip("matplotlib")
    page = notebook(SALES, "%%agent\nplot sales")
    page.run_all()
    page.until_idle(2)
    expect(page.cell(2).locator(PICTURE)).to_have_count(1)
    expect(page.output(2)).to_contain_text("April is the best month")
    page.shot("plot")
    page.output(2).locator("summary", has_text="failed").click()
    page.output(2).locator("summary", has_text="In full").click()
    expect(page.output(2)).to_contain_text("Traceback (most recent call last)")
    page.shot("plot-error")
    page.save()
    kinds = [sorted(output["data"]) for output in page.saved()["cells"][2]["outputs"]]
    assert ["image/png", "text/plain"] in kinds


def test_the_model_gets_the_pictures_that_the_person_sees(notebook, model):
    pytest.importorskip("matplotlib")
    page = notebook(SALES, "%%agent\nplot sales", CHART, "%%agent\nwhat is in the picture?")
    before = len(model.requests)
    page.run_all()
    page.until_idle(4)
    expect(page.output(4)).to_contain_text("A rising line")
    seen = [page.cell(n).locator(PICTURE).get_attribute("src") for n in (2, 3)]
    sent = [images_in(body) for _, body in model.requests[before:]]
    assert [plain(url) for url in sent[-1]] == [plain(url) for url in seen]
    page.shot("vision-light")
    page.theme("JupyterLab Dark")
    page.cell(2).scroll_into_view_if_needed()
    page.shot("vision-dark")
    page.theme("JupyterLab Light")


def plain(uri):
    """The base64 of an image."""
    return uri.partition(",")[2].replace("%0A", "").replace("\n", "").strip()


def images_in(body):
    """The images of a request to the model."""
    parts = [
        part
        for message in body.get("messages", ())
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def test_a_script_asks_in_its_own_card(notebook):
    page = notebook("%%agent\nsweep")
    (page.folder / "old.log").write_text("x")
    page.run_all()
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    expect(page.output(1)).to_contain_text("a script of the agent")
    assert page.output(1).locator(".hermes-name").count() == 1
    page.shot("script-asks")
    page.button("Allow once").click()
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("The old log is gone.")
    page.shot("script-done")
    assert not (page.folder / "old.log").exists()
