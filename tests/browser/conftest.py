"""JupyterLab and Notebook 7 in a real Chromium, with a scripted model behind them."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chromium

sync_api = pytest.importorskip("playwright.sync_api")
ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "artefacts"
PLOT = """import matplotlib.pyplot as plt
plt.figure(figsize=(5, 2))
plt.bar(list(sales), list(sales.values()))
plt.title("Sales")
print("drawn")
max(sales, key=sales.get)"""
ASLEEP = "import os, time\nwhile os.path.exists('old.log'): time.sleep(0.05)"
BUSY = """import time
while True:
    time.sleep(0.05)"""
SWEEP = """from hermes_tools import search_files, terminal
print(len(search_files(pattern="*", target="files")))
print(terminal(command="rm old.log")["exit_code"])"""
MODEL = (
    conversation("lanes", tuple(call("nap", seconds=n) for n in (1, 2, 3)), "Rested."),
    conversation(
        "delete",
        ("I delete the old log.\n", call("terminal", command="rm old.log")),
        "Done: `old.log` is **gone**.",
    ),
    conversation(
        r"print\(misspeled\)",
        "The name has two of them.\n\n```python\nmisspelled = 3\nprint(misspelled)\n```",
    ),
    conversation(
        "both logs",
        tuple(call("write_file", path=f"{name}.log", content="new") for name in ("old", "new")),
        "Both are looked at.",
    ),
    conversation(
        "batch",
        tuple(call("read_file", path=f"part{n}.txt") for n in range(4)),
        "Four parts, all read.",
    ),
    conversation(
        "stream",
        "# A report\n\nText that *streams*, with a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\nprint('code')\n```\n\n" + "And one more sentence. " * 12,
        delay=0.004,
    ),
    conversation("stay busy", (call("run_python", code=BUSY),), "never said"),
    conversation("until friday", "It stays until **Friday**."),
    conversation(
        "tidy the logs",
        ("First I look what is there.", call("terminal", command="ls")),
        (call("terminal", command="rm old.log"),),
        "`old.log` is **gone**; nothing else was changed.",
    ),
    conversation(
        "count the lines",
        tuple(call("read_file", path=f"part{n}.txt") for n in range(2)),
        (call("nap", seconds=3),),
        "Both parts have **12 lines**.",
    ),
    conversation(
        "write a long",
        (call("search_files", pattern="word", target="content"),),
        "A report that takes a while to write. " * 40,
        delay=0.01,
    ),
    conversation(
        "share",
        (
            call(
                "delegate_task",
                tasks=[
                    {"goal": "tidy the logs"},
                    {"goal": "count the lines of all parts of the report, however many"},
                    {"goal": "write a long report about the words"},
                    {"goal": "count the lines once more"},
                ],
            ),
        ),
        "The logs are tidy, and the parts are counted.",
    ),
    conversation(
        "plot sales",
        ("First I look at it.\n", call("inspect_variable", name="sales")),
        ("Now the plot.\n", call("run_python", code=PLOT)),
        (call("run_python", code="sales['none']"),),
        "April is the best month, with **7** sold.",
    ),
    conversation(
        "sleep until it is gone",
        (call("run_python", code=ASLEEP),),
        "I slept until it was gone.",
    ),
    conversation(
        "paint",
        (call("clarify", question="Which colour?", choices=["red", "blue"]),),
        (call("terminal", command="rm old.log"),),
        "Painted.",
    ),
    conversation("what is in the picture", "A rising line."),
    conversation(
        "tidy the far end",
        (call("read_cells"),),
        (call("edit_cell", cell="cell-250", source="far = 'edited'"),),
        (call("insert_cell", source="# New", type="markdown", after="cell-280"),),
        (call("delete_cell", cells=["cell-290", "cell-291"]),),
        "Tidied.",
    ),
    conversation(
        "rearrange",
        (call("edit_cell", cell="first-01", source="a = 10"),),
        (call("insert_cell", source="# Between", type="markdown", after="first-01"),),
        (call("move_cell", cell="third-01", before="first-01"),),
        (call("delete_cell", cells=["second-1"]),),
        (call("run_cell", cell="show-001"),),
        "Rearranged.",
    ),
    conversation(
        "change the first",
        (call("edit_cell", cell="first-01", source="a = 'the agent'"),),
        "It is as far as I get.",
    ),
    conversation("a cell here", (call("insert_cell", source="here = 1"),), "Inserted."),
    conversation(
        "sweep",
        (call("execute_code", code=SWEEP),),
        "The old log is gone.",
    ),
    conversation(
        "rewrite",
        (
            call(
                "patch",
                mode="replace",
                path="report.py",
                old_string="total = 1",
                new_string="total = sum(range(10))",
            ),
        ),
        (call("terminal", command="echo '# Notes' > notes.md"),),
        "Rewritten.",
    ),
    conversation(
        "ask", (call("clarify", question="Which colour?", choices=["red", "blue"]),), "ok"
    ),
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Closed after the module: while it is open, Playwright's loop runs in the main thread."""
    path = chromium.path()
    if path is None:
        pytest.skip(chromium.MISSING)
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(*MODEL) as server:
        yield server


ALONE = ("@jupyter/collaboration-extension", "@jupyter/docprovider-extension")
"""Of jupyter-collaboration: what is switched off where notebooks are not shared."""


class Jupyter:
    """A Jupyter server of one application, in a folder of its own; it can be started again.

    Of its extensions, those that are ``off`` are switched off.
    """

    def __init__(self, app: str, home: Path, model: str, off: Collection[str] = ALONE) -> None:
        self.app, self.home, self.root, self.port = app, home, home / "root", free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.root.mkdir()
        self._env = {
            **os.environ,
            "HERMES_HOME": str(home / "hermes"),
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_CONFIG_PATH": str(ROOT / "jupyter-config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_PATH": str(with_labextension(home / "jupyter")),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        quiet = home / "settings" / "@jupyterlab" / "apputils-extension"
        quiet.mkdir(parents=True)
        (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
        (home / "config" / "labconfig").mkdir(parents=True)
        disabled = {"disabledExtensions": dict.fromkeys(off, True)}
        (home / "config" / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
        self.start()

    def start(self) -> None:
        exposed = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}[self.app]
        command = [
            sys.executable, "-m", "jupyter", self.app, f"--port={self.port}", "--ip=127.0.0.1",
            "--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password=",
            "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.root}",
            f"--{exposed}.expose_app_in_browser=True", "--LabApp.news_url=None",
        ]  # fmt: skip
        with (self.home / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self._env, cwd=self.root, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            _wait_until_up(self.address, self.home / "server.log")
        except RuntimeError:
            self.stop()
            raise

    def kill(self) -> None:
        """As when it crashes: its kernels are left alone."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)

    def stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            # Told to end while it reads a file, jupyter-server waits for that thread for ever.
            self.kill()


ONE_IS_ENOUGH = pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
"""Both pages do it with the same code, and it takes time."""


@pytest.fixture(scope="session", params=["lab", "notebook"])
def jupyter(
    request: pytest.FixtureRequest, model: ScriptedServer, tmp_path_factory: Any
) -> Iterator[Jupyter]:
    running = Jupyter(request.param, tmp_path_factory.mktemp(request.param), model.url)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def server(jupyter: Jupyter) -> tuple[str, str, Path]:
    """(application, address, root folder) of a Jupyter server."""
    return jupyter.app, jupyter.address, jupyter.root


def with_labextension(path: Path) -> Path:
    """Have the server find the extension that is built in this clone, installed or not."""
    built = ROOT / "labextension" / "built"
    if not (built / "package.json").is_file():
        pytest.skip("labextension/ is not built: python labextension/building.py")
    (path / "labextensions").mkdir(parents=True)
    (path / "labextensions" / "hermes-jupyter-labextension").symlink_to(built)
    return path


def _wait_until_up(address: str, log: Path) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")


class Page:
    """A notebook open in a page."""

    def __init__(self, page: Any, server: tuple[str, str, Path], name: str) -> None:
        self.page, self.name = page, name
        self.app, self.address, self.root = server
        self.folder = self.root

    def open(self) -> None:
        path = {"lab": f"lab/tree/{self.name}?reset", "notebook": f"notebooks/{self.name}"}
        self.page.goto(f"{self.address}/{path[self.app]}")
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_function(
            "window.jupyterapp && document.querySelector('.jp-Notebook .jp-CodeCell')",
            timeout=60_000,
        )
        self.page.wait_for_function(
            "() => { const w = [...window.jupyterapp.shell.widgets('main')]"
            ".find(w => w.sessionContext); const k = w?.sessionContext.session?.kernel;"
            " return k && k.connectionStatus === 'connected'; }",
            timeout=60_000,
        )

    def command(self, name: str) -> None:
        self.page.evaluate("n => { window.jupyterapp.commands.execute(n); }", name)

    def run_cell(self, number: int) -> None:
        self.page.evaluate(
            "n => { const w = [...window.jupyterapp.shell.widgets('main')]"
            ".find(w => w.sessionContext); w.content.activeCellIndex = n; }",
            number,
        )
        self.command("notebook:run-cell")

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")

    def restart(self) -> None:
        self.page.evaluate(
            "async () => { const w = [...window.jupyterapp.shell.widgets('main')]"
            ".find(w => w.sessionContext); await w.sessionContext.session.kernel.restart(); }"
        )
        self.ready()

    def save(self) -> None:
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def saved(self) -> Any:
        return json.loads((self.root / self.name).read_text(encoding="utf-8"))

    def cell(self, number: int) -> Any:
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def output(self, number: int) -> Any:
        return self.cell(number).locator(".jp-OutputArea").first

    def button(self, label: str) -> Any:
        return self.page.locator("button:visible", has_text=label).last

    def is_busy(self, number: int) -> bool:
        return "*" in self.cell(number).locator(".jp-InputPrompt").inner_text()

    def until_idle(self, number: int) -> None:
        prompt = self.cell(number).locator(".jp-InputPrompt")
        sync_api.expect(prompt).to_have_text(_counted(), timeout=30_000)

    def theme(self, name: str) -> None:
        self.page.evaluate(
            "n => window.jupyterapp.commands.execute('apputils:change-theme', {theme: n})", name
        )
        is_light = "false" if "Dark" in name else "true"
        self.page.wait_for_selector(f"body[data-jp-theme-light='{is_light}']", state="attached")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")  # covers all meanwhile

    def shot(self, name: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"{self.app}-{name}.png"))


def _counted() -> Any:
    import re

    return re.compile(r"\[\d+\]:?")


@pytest.fixture
def pages(browser: Any) -> Iterator[Callable[[], Any]]:
    """Open a new, empty page; at the end the kernels of all of them are shut down."""
    opened: list[Any] = []

    def open_page() -> Any:
        opened.append(browser.new_page(viewport={"width": 1100, "height": 900}))
        return opened[-1]

    yield open_page
    for page in opened:
        page.evaluate(
            "async () => { for (const w of window.jupyterapp.shell.widgets('main'))"
            " await w.sessionContext?.shutdown?.(); }"
        )
        page.close()


def write_notebook(path: Path, cells: dict[str, str]) -> None:
    """A notebook of code cells, each by its id."""
    content = {
        "cells": [
            {"cell_type": "code", "id": name, "metadata": {}, "source": source,
             "outputs": [], "execution_count": None}
            for name, source in cells.items()
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3",
                                    "language": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def notebook(
    pages: Callable[[], Any], server: tuple[str, str, Path], request: pytest.FixtureRequest
) -> Callable[..., Page]:
    """Open a new notebook with these cells; the first one that you give is number 1.

    Cells may be given by their ids instead, as a dictionary.
    """
    numbers = itertools.count()

    def open_notebook(*cells: str | dict[str, str]) -> Page:
        name = f"{request.node.originalname}-{next(numbers)}.ipynb"
        mark = secrets.token_hex(4)  # else cells would keep the answers of another test's
        named = {f"{mark}-0": "%load_ext hermes_jupyter"}
        for number, cell in enumerate(cells, 1):
            named |= cell if isinstance(cell, dict) else {f"{mark}-{number}": cell}
        write_notebook(server[2] / name, named)
        opened = Page(pages(), server, name)
        opened.open()
        return opened

    return open_notebook
