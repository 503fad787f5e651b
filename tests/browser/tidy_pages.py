"""Pages that are used by one test after another: it takes long to load JupyterLab."""

from __future__ import annotations

from typing import Any

from applications import Jupyter
from notebook_page import TIDY

VIEWPORT = {"width": 1100, "height": 900}
ASKS = "document.querySelector('.jp-Dialog') !== null"
"""The page has lost its server, for example."""


class Tidy:
    """Pages of JupyterLab in which nothing is open.

    Parameters
    ----------
    servers
        Those that outlive the tests of one module, by their application.
    """

    def __init__(self, browser: Any, servers: dict[str, Jupyter]) -> None:
        self._browser, self._servers = browser, servers
        self._kept: list[Any] = []

    def take(self, address: str) -> Any:
        """One that has loaded the application of this address, or a new one."""
        return self._used(address) or self.new()

    def new(self) -> Any:
        page = self._browser.new_page(viewport=VIEWPORT)
        page.on("dialog", lambda dialog: dialog.accept())  # what was not saved is left
        return page

    def _used(self, address: str) -> Any:
        while self._kept and self._is_lab(address):
            page = self._kept.pop()
            if not page.evaluate(ASKS):
                page.set_viewport_size(VIEWPORT)
                return page
            page.close()
        return None

    def give_back(self, page: Any, address: str) -> None:
        """Close what is open in a page, and keep it for the next test."""
        if self._is_lab(address):
            page.evaluate(TIDY)
            self._kept.append(page)
        else:
            page.close()

    def _is_lab(self, address: str) -> bool:
        lab = self._servers.get("lab")
        return lab is not None and lab.address == address
