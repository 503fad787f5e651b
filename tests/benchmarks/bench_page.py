"""From a click in JupyterLab to the changed page, timed inside the page.

The times have two peaks, near 6 and 46 ms, for our button and for a stock one alike: Jupyter
Server sends small messages with Nagle's algorithm, which may wait 40 ms for the page's receipt.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import counting
from tests.benchmarks.rows import Row, spread
from tests.browser import chromium

CLICKS = 100
WHAT = "click -> changed page in JupyterLab, busy cell, p99"
STOCK = """\
import ipywidgets
stock = []
stock_button, stock_text = ipywidgets.Button(description='stock'), ipywidgets.HTML('0 heard')
def on_stock(_):
    stock.append(1)
    stock_text.value = f'{len(stock)} heard'
stock_button.on_click(on_stock)
ipywidgets.VBox([stock_button, stock_text])
"""
CLICKING = """\
async ({label, clicks}) => {
  const button = [...document.querySelectorAll('button')].find(b => b.textContent.trim() === label);
  const area = button.closest('.jp-OutputArea');
  const took = [];
  for (let n = 1; n <= clicks; n++) {
    await new Promise(go => setTimeout(go, 30 + 40 * Math.random()));
    took.push(await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer to click ${n}`)), 5000);
      const observer = new MutationObserver(() => {
        if (!area.textContent.includes(`${n} heard`)) return;
        const now = performance.now();
        observer.disconnect();
        clearTimeout(late);
        resolve(now - began);
      });
      observer.observe(area, {subtree: true, childList: true, characterData: true});
      const began = performance.now();
      button.click();
    }));
  }
  return took;
}"""


def rows() -> Iterator[Row]:
    missing = None if chromium.path() else chromium.MISSING
    if importlib.util.find_spec("playwright") is None:
        missing = "no playwright; pip install 'hermes-jupyter[test]'"
    if missing:
        yield Row(what=WHAT, unit="ms", target=100, detail=missing)
        return
    ours, stock = (spread(samples) for samples in clicked())
    yield Row(
        what=WHAT,
        value=ours.p99,
        unit="ms",
        target=100,
        detail=ours.detail("ms"),
        theirs=f"ipywidgets in an idle kernel: {stock.detail('ms')} (here)",
    )


def clicked() -> tuple[list[float], list[float]]:
    """Milliseconds of each click: our button while its cell runs, a stock one while none does."""
    from playwright.sync_api import sync_playwright

    from tests.browser.notebook_page import Page

    cells = [STOCK, counting.cell(CLICKS)]
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        root = Path(home) / "root"
        root.mkdir()
        (root / "clicks.ipynb").write_text(json.dumps(notebook(cells)), encoding="utf-8")
        with lab(Path(home), root) as address:
            browser = playwright.chromium.launch(
                executable_path=chromium.path(), args=chromium.FLAGS
            )
            page = Page(browser.new_page(), ("lab", address, root), "clicks.ipynb")
            page.open()
            stock = click(page, 0, "stock")
            ours = click(page, 1, counting.LABEL)
            page.until_idle(1)
            browser.close()
    return ours, stock


def click(page: Any, number: int, label: str) -> list[float]:
    page.run_cell(number)
    page.button(label).wait_for(timeout=30_000)
    return list(page.page.evaluate(CLICKING, {"label": label, "clicks": CLICKS}))


def notebook(sources: list[str]) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source,
         "outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]  # fmt: skip
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}


@contextmanager
def lab(home: Path, root: Path, **more: str) -> Iterator[str]:
    """A JupyterLab of its own, with more environment variables; the address."""
    from tests.browser.applications import free_port

    port = free_port()
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_SETTINGS_DIR",
           "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR", "HERMES_HOME")  # fmt: skip
    env = {**os.environ, **{name: str(home / name) for name in own}, **more}
    command = [
        sys.executable, "-m", "jupyter", "lab", f"--port={port}", "--ip=127.0.0.1",
        "--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password=",
        f"--ServerApp.root_dir={root}", "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
    ]  # fmt: skip
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, env=env, cwd=root, stdout=log, stderr=log, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until_up(address, server)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


def until_up(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError("JupyterLab did not start")
