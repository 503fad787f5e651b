"""A notebook as a person has it open: what a test does there, and sees."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
ARTEFACTS = Path(__file__).resolve().parents[2] / "artefacts"
COUNTED = re.compile(r"\[\d+\]:?")
"""The prompt of a cell that has run."""
KERNEL = """[...window.jupyterapp.shell.widgets('main')]
    .find(each => each.sessionContext)?.sessionContext.session?.kernel"""

OPEN = """async name => {
  const { commands, shell } = window.jupyterapp;
  const opened = await commands.execute('docmanager:open', { path: name });
  await opened.context.ready;
  for (const other of [...shell.widgets('main')].filter(each => each !== opened)) other.dispose();
  shell.activateById(opened.id);
}"""
SHUT_DOWN = """async () => {
  for (const each of [...window.jupyterapp.shell.widgets('main')])
    await each.sessionContext?.shutdown?.();
}"""
TIDY = """() => {
  const { shell } = window.jupyterapp;
  for (const each of [...shell.widgets('main')]) each.dispose();
  shell.collapseRight();
}"""


class Page:
    """A notebook open in a page."""

    def __init__(self, page: Any, server: tuple[str, str, Path], name: str) -> None:
        self.page, self.name = page, name
        self.app, self.address, self.root = server
        self.folder = self.root

    def open(self) -> None:
        """Alone in its page, which may have loaded the application before."""
        path = {"lab": f"lab/tree/{self.name}?reset", "notebook": f"notebooks/{self.name}"}
        if self.page.evaluate("window.jupyterapp === undefined"):
            self.page.goto(f"{self.address}/{path[self.app]}")
        else:
            self.page.evaluate(OPEN, self.name)
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_function(
            "window.jupyterapp && document.querySelector('.jp-Notebook .jp-CodeCell')",
            timeout=60_000,
        )
        self.page.wait_for_function(f"({KERNEL})?.connectionStatus === 'connected'", timeout=60_000)

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
        self.page.evaluate(f"({KERNEL}).restart()")
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
        sync_api.expect(prompt).to_have_text(COUNTED, timeout=30_000)

    def until_free(self, number: int) -> None:
        """Wait until a cell that fails has ended: until then the kernel aborts what is asked."""
        self.until_idle(number)
        self.page.wait_for_function(f"({KERNEL}).status === 'idle'")

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
