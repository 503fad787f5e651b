"""A turn in the background, as a person sees it."""

from __future__ import annotations

import re

import pytest
from applications import ONE_IS_ENOUGH

sync_api = pytest.importorskip("playwright.sync_api")

BUSY = """import os, time
print("began")
while not os.path.exists("go"):
    time.sleep(0.05)"""


@ONE_IS_ENOUGH
def test_a_turn_in_the_background_asks_and_ends_below_its_own_cell(notebook):
    page = notebook("%%agent --background\ndelete the log", BUSY, "%hermes jobs", "print('after')")
    (page.root / "go").unlink(missing_ok=True)
    log = page.root / "old.log"
    log.write_text("x")
    page.run_all()
    sync_api.expect(page.output(2)).to_contain_text("began", timeout=30_000)
    page.button("Allow once").click()
    page.cell(1).scroll_into_view_if_needed()  # out of sight, a text is not formatted yet
    # On ipykernel 7 it does not wait for the cell that keeps the kernel busy.
    sync_api.expect(page.output(1)).to_contain_text("is gone", timeout=20_000)
    assert not log.exists()
    assert page.is_busy(2)
    page.shot("background")
    (page.root / "go").touch()
    page.until_idle(4)
    sync_api.expect(page.output(3)).to_contain_text(re.compile(r"1 +turn +cell \[\d+\].*done:"))
    sync_api.expect(page.output(4)).to_have_text("after")
    page.save()
    outputs = page.saved()["cells"][1]["outputs"]
    assert "gone" in "".join(outputs[0]["data"]["text/plain"])
