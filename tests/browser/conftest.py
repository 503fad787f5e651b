"""JupyterLab and Notebook 7 in a real Chromium, with a scripted model behind them."""

from __future__ import annotations

import itertools
import secrets
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.testing.scripted_server import ScriptedServer

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chromium
import warm_kernels
from applications import Jupyter
from conversations import MODEL
from notebook_page import SHUT_DOWN, Page, write_notebook
from tidy_pages import Tidy

sync_api = pytest.importorskip("playwright.sync_api")
FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Closed after this folder: while it is open, Playwright's loop runs in the main thread."""
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


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Jupyter]]:
    """Those that were started, by their application: one is not ended when the other begins."""
    started: dict[str, Jupyter] = {}
    yield started
    for each in started.values():
        each.stop()


@pytest.fixture(scope="session", params=["lab", "notebook"])
def jupyter(
    request: pytest.FixtureRequest,
    servers: dict[str, Jupyter],
    model: ScriptedServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Jupyter:
    app = request.param
    if app not in servers:
        home = tmp_path_factory.mktemp(app)
        servers[app] = Jupyter(app, home, model.url, env=warm_kernels.installed(home / "warm"))
    return servers[app]


@pytest.fixture(scope="session")
def server(jupyter: Jupyter) -> tuple[str, str, Path]:
    """(application, address, root folder) of a Jupyter server."""
    return jupyter.app, jupyter.address, jupyter.root


@pytest.fixture(scope="package")
def tidy(browser: Any, servers: dict[str, Jupyter]) -> Tidy:
    return Tidy(browser, servers)


@pytest.fixture
def pages(
    server: tuple[str, str, Path], tidy: Tidy, request: pytest.FixtureRequest
) -> Iterator[Callable[[], Any]]:
    """Open a page; at the end the kernels of all of them are shut down.

    It is empty, or has been used by a test that has passed and has left nothing in it. A test that
    loads a page again, bends it, or looks at the panel, in which answers stay a while, says
    ``new_pages``.
    """
    opened: list[Any] = []
    is_own = request.node.get_closest_marker("new_pages") is not None

    def open_page() -> Any:
        opened.append(tidy.new() if is_own else tidy.take(server[1]))
        return opened[-1]

    yield open_page
    for page in opened:
        page.evaluate(SHUT_DOWN)
        if is_own or request.node.stash.get(FAILED, False):
            page.close()
        else:
            tidy.give_back(page, server[1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


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
