"""What agents ask is answered in the side panel, whatever the kernel does."""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.request

import pytest
from accessibility import no_serious_findings
from applications import ONE_IS_ENOUGH
from approvals_panel import Panel
from conversations import ASLEEP as STUCK
from notebook_page import KERNEL
from playwright.sync_api import expect

pytestmark = pytest.mark.new_pages
COMPLAINTS = ("UNKNOWN CONTROL MESSAGE TYPE", "No such comm target")
"""What a kernel that has not loaded the extension logs of what it was asked."""
HIDE = """() => {
    Object.defineProperty(document, 'hidden', { get: () => window.isHidden ?? false });
    window.given = [];
    window.Notification = class extends Notification {
        constructor(...told) { super(...told); given.push({ about: this, body: this.body }); }
        close() { given.find(each => each.about === this).isClosed = true; super.close(); }
    };
}"""
"""Pretends that a page is hidden once it says so, and keeps the notices that it gives."""


def reach(page, label):
    """Press Tab until the button with this label has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == label:
            return
    raise AssertionError(f"Tab does not reach {label}")


def allow_by_keyboard(page, panel):
    """From the notebook to the panel, the answer, and back."""
    page.keyboard.press("Alt+Shift+W")
    expect(panel.card).to_be_focused()
    reach(page, "Allow once")
    page.keyboard.press("Enter")
    ending = panel.card.get_by_role("status")
    expect(ending).to_contain_text("Allowed once by you in the panel · on this page")
    expect(ending).to_be_focused()
    no_serious_findings(page, "#hermes-approvals")
    expect(panel.card).to_have_count(0, timeout=15_000)
    expect(panel.root.locator(".hermes-Panel-content")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".jp-Notebook :focus")).to_have_count(1)


def deleting(notebook, *cells, line="", prompt="delete the old log"):
    page = notebook(f"%%agent {line}\n{prompt}", *cells)
    (page.root / "old.log").write_text("x")
    page.run_cell(0)
    page.until_idle(0)
    return page


def test_a_call_is_allowed_in_the_panel_while_the_cell_sleeps_in_a_tool(notebook):
    sleeping = "%%agent --session sleeper\nsleep until it is gone"
    page = deleting(notebook, sleeping, line="--background")
    page.run_cell(1)
    panel = Panel(page.page)
    expect(panel.card).to_contain_text("rm old.log", timeout=30_000)
    expect(panel.root.get_by_role("status").first).to_have_text("1 request waits for you.")
    page.run_cell(2)
    expect(page.output(2)).to_contain_text("run_python", timeout=30_000)
    assert page.is_busy(2)
    page.shot("panel")
    no_serious_findings(page.page, "#hermes-approvals")
    page.theme("JupyterLab Dark")
    page.shot("panel-dark")
    no_serious_findings(page.page, "#hermes-approvals")
    page.theme("JupyterLab Light")
    page.page.set_viewport_size({"width": 640, "height": 480})
    page.shot("panel-200-percent")
    page.page.set_viewport_size({"width": 1100, "height": 900})
    allow_by_keyboard(page.page, panel)
    page.until_idle(2)  # the tool in the main thread ends when the file is gone
    assert not (page.root / "old.log").exists()
    expect(page.output(2)).to_contain_text("I slept until it was gone.")
    expect(page.output(1)).to_contain_text("Allowed once by you in the panel")


def test_another_page_denies_with_a_note(notebook, server):
    log = server[2].parent / "server.log"  # its kernels write there, too
    before = len(log.read_text())
    page = deleting(notebook)
    page.run_cell(1)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    other = notebook()
    panel = Panel(other.page)
    expect(panel.card).to_contain_text(page.name, timeout=30_000)
    panel.click("Deny with a note…")
    panel.card.get_by_label("Why not").fill("it is still needed")
    other.shot("panel-note")
    no_serious_findings(other.page, "#hermes-approvals")
    lost = other.page.get_by_role("dialog", name="Server Connection Error")
    other.page.add_locator_handler(
        lost, lambda dialog: dialog.get_by_role("button", name="Close").click()
    )
    other.page.context.set_offline(True)
    panel.click("Deny")
    expect(panel.card.get_by_role("alert")).to_contain_text("Whether it heard you is not known")
    assert page.is_busy(1)
    other.page.context.set_offline(False)
    own = Panel(page.page)
    panel.click("Deny")
    expect(own.card).to_contain_text("Denied by you in the panel: it is still needed")
    expect(own.card).to_contain_text("on another page")
    page.until_idle(1)
    expect(page.output(1)).to_contain_text("it is still needed")
    assert (page.root / "old.log").exists()
    expect(panel.card).to_have_count(0, timeout=15_000)
    logged = log.read_text()[before:]
    assert [complaint for complaint in COMPLAINTS if complaint in logged] == []


def test_a_reloaded_page_shows_what_waits_and_runs_the_edited_command(notebook):
    page = deleting(notebook)
    page.run_cell(1)
    expect(page.button("Allow once")).to_be_visible(timeout=30_000)
    page.page.reload()
    page.ready()
    panel = Panel(page.page)
    expect(panel.card).to_contain_text("rm old.log", timeout=30_000)
    page.page.set_viewport_size({"width": 600, "height": 900})
    expect(page.page.get_by_text("Hermes: 1 waiting")).to_be_visible()
    page.page.set_viewport_size({"width": 1100, "height": 900})
    panel.click("Edit…")
    panel.card.get_by_label("Run this instead").fill("echo kept > kept.txt")
    panel.click("Run it")
    expect(panel.card.get_by_role("status")).to_contain_text(re.compile("Edited|Allowed"))
    expect(panel.root).not_to_contain_text("Running", timeout=30_000)  # the turn has ended
    assert (page.root / "old.log").exists()
    assert (page.root / "kept.txt").read_text() == "kept\n"


@ONE_IS_ENOUGH
def test_a_question_a_word_and_the_end_of_a_turn_in_the_panel_while_a_cell_runs(notebook, model):
    page = deleting(notebook, STUCK, line="--background", prompt="paint it")
    page.run_cell(1)
    panel = Panel(page.page)
    page.run_cell(2)
    expect(panel.card).to_contain_text("Which colour?", timeout=30_000)
    expect(panel.card.get_by_role("button", name="red", exact=True)).to_be_visible()
    page.shot("panel-question")
    no_serious_findings(page.page, "#hermes-approvals")
    panel.card.get_by_label("Or in your words").fill("green")
    panel.click("Send")
    expect(panel.card.filter(has_text="rm old.log")).to_be_visible(timeout=30_000)
    assert "green" in model.requests[-1][1]["messages"][-1]["content"]
    said = f"no, leave it ({page.app})"
    panel.root.get_by_placeholder("Say something to the agent").fill(said)
    panel.root.get_by_role("button", name="Say", exact=True).click()
    expect(panel.root).to_contain_text("The agent reads it at its next step.")
    page.shot("panel-said")
    panel.root.get_by_role("button", name="Stop", exact=True).click()
    expect(panel.root).not_to_contain_text("Running", timeout=30_000)
    expect(page.output(1)).to_contain_text(f"You: {said}")
    assert page.is_busy(2)  # all of that while the main thread was stuck
    assert (page.root / "old.log").exists()
    (page.root / "old.log").unlink()
    page.until_idle(2)


def test_a_hidden_page_tells_once_and_takes_it_back(notebook):
    page = deleting(notebook, line="--fresh --new")
    page.page.context.grant_permissions(["notifications"])
    page.page.evaluate(HIDE)
    page.page.evaluate("window.isHidden = true")
    page.run_cell(1)
    page.page.wait_for_function("given.length === 1", timeout=30_000)
    assert page.page.title().startswith("(1) ")
    assert page.page.evaluate("given[0].body") == f"{page.name}: Asks to use terminal"
    answered_elsewhere(page, "deny")
    page.page.wait_for_function("given[0].isClosed")
    page.until_idle(1)
    assert not page.page.title().startswith("(")
    page.run_cell(1)
    page.page.wait_for_function("given.length === 2", timeout=30_000)
    expect(page.page.locator("#hermes-approvals")).to_be_hidden()
    page.page.evaluate("given[1].about.dispatchEvent(new Event('click'))")
    expect(page.page.locator("#hermes-approvals")).to_be_visible()
    page.page.evaluate("window.isHidden = false")
    Panel(page.page).click("Deny")
    page.until_idle(1)
    assert page.page.evaluate("given.length") == 2


def answered_elsewhere(page, choice):
    """By way of the server, as its page does."""
    with urllib.request.urlopen(f"{page.address}/hermes/api/pending", timeout=20) as answer:
        (kernel,) = (each for each in json.load(answer)["kernels"] if each["requests"])
    (shown,) = kernel["requests"]
    told = {"request": shown["id"], "digest": shown["digest"], "choice": choice, "by": "page"}
    sent = urllib.request.Request(
        f"{page.address}/hermes/api/kernels/{kernel['kernel']}/answer",
        json.dumps(told).encode(), {"Content-Type": "application/json"},
    )  # fmt: skip
    urllib.request.urlopen(sent, timeout=20).close()


ENDED = "The kernel has ended or begun anew. Nothing was allowed."


@ONE_IS_ENOUGH
def test_a_kernel_that_is_interrupted_restarted_or_killed_while_it_asks_allows_nothing(notebook):
    page = deleting(notebook, "import os\nopen('pid', 'w').write(str(os.getpid()))")
    panel = Panel(page.page)

    def asks():
        page.run_cell(1)
        expect(waits).to_be_enabled(timeout=30_000)

    waits = panel.root.locator("fieldset:enabled").get_by_role("button", name="Allow once")
    asks()
    page.page.evaluate(f"({KERNEL}).interrupt()")
    expect(panel.card).to_contain_text("Denied because the turn was interrupted")
    page.until_free(1)
    asks()
    page.page.evaluate(f"({KERNEL}).restart()")
    expect(waits).to_have_count(0)
    for number in (0, 2):
        page.run_cell(number)
        page.until_idle(number)
    asks()
    os.kill(int((page.root / "pid").read_text()), signal.SIGKILL)
    expect(panel.card.last).to_contain_text(ENDED, timeout=30_000)
    expect(waits).to_have_count(0)
    page.shot("panel-killed")
    expect(panel.card).to_have_count(0, timeout=15_000)
    expect(panel.root).to_contain_text("Nothing waits for you.")
    assert (page.root / "old.log").exists()


@ONE_IS_ENOUGH
def test_a_server_that_is_killed_while_a_kernel_asks_allows_nothing(notebook, jupyter):
    page = deleting(notebook)
    page.run_cell(1)
    panel = Panel(page.page)
    expect(panel.card).to_contain_text("rm old.log", timeout=30_000)
    jupyter.kill()
    expect(panel.card).to_contain_text("The connection to the kernel is broken", timeout=30_000)
    expect(panel.card.get_by_role("button", name="Allow once")).to_be_disabled()
    expect(panel.root).to_contain_text("The server does not answer now")
    page.shot("panel-cut")
    jupyter.start()
    expect(panel.card).to_have_count(0, timeout=60_000)
    expect(panel.root).to_contain_text("Nothing waits for you.")
    expect(panel.root).not_to_contain_text("The server does not answer now")
    assert (page.root / "old.log").exists()
