"""The same stream in a page: does it answer to a person while the text comes in?"""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_page import lab, notebook
from tests.benchmarks.bench_stream import SECONDS, TOKENS, Stream
from tests.benchmarks.rows import Row, number, spread
from tests.browser import chromium

WHAT = f"{TOKENS:,} tokens a second for {SECONDS} s in JupyterLab"
KEY_SECONDS = 0.25
"""Between two keys that are typed into another cell."""
Kept = dict[str, list[float]]
WATCH = """
() => {
  const kept = window.kept = {blocks: [], frames: [], keys: []};
  new PerformanceObserver(list => list.getEntries().forEach(e => kept.blocks.push(e.duration)))
    .observe({type: 'longtask'});
  new PerformanceObserver(list => list.getEntries().forEach(e => {
    if (e.name === 'keydown') kept.keys.push(e.duration); }))
    .observe({type: 'event', durationThreshold: 16});
  let last = performance.now();
  const frame = now => { kept.frames.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""


def rows() -> Iterator[Row]:
    missing = None if chromium.path() else chromium.MISSING
    if importlib.util.find_spec("playwright") is None:
        missing = "no playwright; pip install 'hermes-jupyter[test]'"
    if missing:
        yield Row(what=f"{WHAT}: longest block of the page", unit="ms", target=200, detail=missing)
        return
    kept, ending, keys, received, text = watched()
    blocks = spread(kept["blocks"] or [0.0])
    yield Row(
        what=f"{WHAT}: longest block of the page",
        value=blocks.largest,
        unit="ms",
        target=200,
        detail=f"{len(kept['blocks'])} over 50 ms; {blocks.detail('ms')}",
    )
    slow = spread(kept["keys"] or [16.0])
    yield Row(
        what=f"{WHAT}: a key typed meanwhile until it is painted, max",
        value=slow.largest,
        unit="ms",
        target=200,
        detail=f"{len(kept['keys'])} of {keys} over 16 ms; {slow.detail('ms')}",
    )
    yield Row(
        what=f"{WHAT}: longest block when its record takes its place",
        value=spread(ending["blocks"] or [0.0]).largest,
        unit="ms",
    )
    yield Row(
        what=f"{WHAT}: time between frames, p99",
        value=spread(kept["frames"]).p99,
        unit="ms",
        detail=spread(kept["frames"]).detail("ms"),
    )
    yield Row(
        what=f"{WHAT}: bytes to the page / bytes of text, its record included",
        value=received / text,
        detail=f"{number(received / 1e3)} kB for {number(text / 1e3)} kB",
    )


def watched() -> tuple[Kept, Kept, int, int, int]:
    """What the page noted while text came and then, keys typed, its bytes, those of the text."""
    from playwright.sync_api import sync_playwright

    from tests.browser.notebook_page import Page

    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        Stream(SECONDS) as server,
    ):
        root = Path(home) / "root"
        root.mkdir()
        cells = [
            f"import os; os.environ |= {{'OPENAI_BASE_URL': {server.url!r}, 'OPENAI_API_KEY': ''}}"
            "\n%load_ext hermes_jupyter",
            "%%agent\ntell me all",
            "# typed: ",
        ]
        (root / "stream.ipynb").write_text(json.dumps(notebook(cells)), encoding="utf-8")
        with lab(Path(home), root) as address:
            browser = playwright.chromium.launch(
                executable_path=chromium.path(), args=chromium.FLAGS
            )
            opened = browser.new_page(viewport={"width": 1100, "height": 900})
            sizes: list[int] = []
            opened.on("websocket", lambda socket: socket.on(
                "framereceived", lambda payload: sizes.append(len(payload))))  # fmt: skip
            page = Page(opened, ("lab", address, root), "stream.ipynb")
            page.open()
            page.run_cell(0)
            page.until_idle(0)
            keys = type_while_it_runs(page, server, sizes)
            kept = opened.evaluate("window.kept")
            opened.evaluate("() => { Object.values(window.kept).forEach(a => a.length = 0); }")
            page.until_idle(1)
            opened.wait_for_timeout(3_000)
            ending = opened.evaluate("window.kept")
            browser.close()
    return kept, ending, keys, sum(sizes), server.text_bytes


def type_while_it_runs(page: Any, server: Stream, sizes: list[int]) -> int:
    """Run the turn, and type into another cell until it has ended; how many keys."""
    page.run_cell(1)
    page.output(1).locator(".hermes-text").first.wait_for(timeout=60_000)
    page.cell(2).locator(".cm-content").click()
    page.page.keyboard.press("End")
    sizes.clear()
    page.page.evaluate(WATCH)
    keys = 0
    while not server.ended:
        page.page.keyboard.press("abcdefghij"[keys % 10])
        keys += 1
        time.sleep(KEY_SECONDS)
    return keys
