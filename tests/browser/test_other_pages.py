"""Pages besides JupyterLab and Notebook 7: the classic notebook, and Voila."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from applications import free_port

sync_api = pytest.importorskip("playwright.sync_api")
ARTEFACTS = Path(__file__).resolve().parents[2] / "artefacts"
APPS = {
    "nbclassic": [
        "--ip=127.0.0.1", "--no-browser", "--allow-root", "--IdentityProvider.token=",
        "--ServerApp.password=",
    ],
    "voila": ["a.ipynb", "--no-browser"],
}  # fmt: skip
READY = """() => {
    const kernel = window.Jupyter?.notebook?.kernel;
    return kernel?.is_connected() && kernel.widget_manager !== undefined; }"""
"""What comes before its page draws widgets is never drawn as one."""
PATHS = {"nbclassic": "nbclassic/notebooks/a.ipynb", "voila": ""}
Opened = Callable[..., tuple[Any, Path]]


@pytest.fixture
def opened(browser: Any, model: Any, tmp_path: Path) -> Iterator[Opened]:
    """Open a notebook with these cells in an application: its page, and its folder."""
    after = ExitStack()

    def open_notebook(app: str, *cells: str) -> tuple[Any, Path]:
        pytest.importorskip(app)
        root = tmp_path / "root"
        root.mkdir()
        (root / "old.log").write_text("x")
        (root / "a.ipynb").write_text(json.dumps(_notebook("%load_ext hermes_jupyter", *cells)))
        address = after.enter_context(_server(app, root, model.url))
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        after.callback(page.close)
        page.goto(f"{address}/{PATHS[app]}", timeout=60_000)
        return page, root

    with after:
        yield open_notebook


@contextmanager
def _server(app: str, root: Path, model: str) -> Iterator[str]:
    port = free_port()
    home = root.parent
    env = {
        **os.environ,
        "HERMES_HOME": str(home / "hermes"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    command = [sys.executable, "-m", app, f"--port={port}", *APPS[app]]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=env, cwd=root, stdout=log, stderr=log, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(f"{address}/static/nothing", process, home / "server.log")
        yield address
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def _wait_until_up(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Anything that it answers will do."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=30).close()
        except urllib.error.HTTPError as answer:
            answer.close()
        except (urllib.error.URLError, ConnectionError):
            continue
        return
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")


def _notebook(*cells: str) -> dict[str, Any]:
    mark = secrets.token_hex(4)
    return {
        "cells": [
            {"cell_type": "code", "id": f"{mark}-{n}", "metadata": {}, "source": source,
             "outputs": [], "execution_count": None}
            for n, source in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3",
                                    "language": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip


def _shot(page: Any, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"{name}.png"))


def test_the_classic_notebook_asks_with_buttons_while_the_cell_runs(opened):
    page, root = opened("nbclassic", "%%agent\ndelete the log", "%hermes status")
    page.wait_for_function(f"({READY})()", timeout=60_000)
    page.evaluate("Jupyter.notebook.execute_cells([0])")
    sync_api.expect(page.locator(".input_prompt").first).to_have_text("In [1]:", timeout=30_000)
    page.evaluate("Jupyter.notebook.execute_cells([1, 2])")
    page.locator("button:visible", has_text="Allow once").click(timeout=30_000)
    output = page.locator(".code_cell .output")
    sync_api.expect(output.nth(1)).to_contain_text("is gone", timeout=20_000)
    assert not (root / "old.log").exists()
    _shot(page, "nbclassic")
    sync_api.expect(output.nth(2)).to_contain_text("buttons below the cell", timeout=30_000)


def test_voila_asks_below_a_turn_in_the_background_and_denies_in_front(opened):
    page, root = opened("voila", "%%agent\ndelete it", "%%agent --background\ndelete the log")
    allow = page.locator("button:visible", has_text="Allow once")
    allow.wait_for(timeout=60_000)
    sync_api.expect(page.locator("body")).to_contain_text("nobody could be asked")
    assert (root / "old.log").exists()
    allow.click()
    # What stays is the record: this page cannot replace an output by another.
    sync_api.expect(page.locator("button:visible")).to_have_count(0, timeout=20_000)
    sync_api.expect(page.locator("body")).to_contain_text("1 file changed", timeout=20_000)
    assert not (root / "old.log").exists()
    _shot(page, "voila")
