"""Agents that work for the agent, as a person sees and steers them."""

from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

pytestmark = ONE_IS_ENOUGH

NAP = """
from tools.registry import registry
async def nap(args, **context):
    import asyncio
    await asyncio.sleep(args["seconds"])
    return "rested"
registry.register("nap", "mine", {"description": "x", "parameters": {"type": "object",
    "properties": {"seconds": {"type": "integer"}}}}, nap, is_async=True)
"""
SHARE = "%%agent\nshare the work"


def test_lanes_show_what_each_agent_does_and_asks(notebook):
    page = notebook(NAP, SHARE)
    (page.folder / "old.log").write_text("x")
    for number in range(2):
        (page.folder / f"part{number}.txt").write_text("word\n" * 12)
    page.run_all()
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    output = page.output(2)
    expect(output).to_contain_text("for 1: tidy the logs")
    expect(output).to_contain_text("Writing", timeout=20_000)
    page.shot("lanes")
    page.theme("JupyterLab Dark")
    page.page.locator("button:visible", has_text="Details").first.click()
    expect(output).to_contain_text("First I look what is there.")
    page.shot("lanes-dark")
    page.page.locator("button[title='Stop 3: write a long report about the words']").click()
    page.button("Allow once").click()
    page.until_idle(2)
    assert not (page.folder / "old.log").exists()
    expect(page.output(2)).to_contain_text("stopped by the user")
    page.shot("lanes-record-dark")
    page.page.locator("summary", has_text="tidy the logs").last.click()
    page.theme("JupyterLab Light")
    page.shot("lanes-record")
