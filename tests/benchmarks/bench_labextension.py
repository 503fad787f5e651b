"""The extension of JupyterLab: its size, its start, clicks in its panel, records of turns."""

from __future__ import annotations

import gzip
import importlib.util
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation
from hermes_jupyter.views.record import MIME
from tests.benchmarks.bench_page import lab, notebook
from tests.benchmarks.rows import Row, spread
from tests.browser import chromium, records

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "labextension" / "built" / "static"
SIZE = "extension of JupyterLab, gzipped"
START = "start of all its plugins"
CLICK = "click in the panel -> the tool runs, main thread busy, p99"
DRAWN = "record of a turn of 1,000 parts, drawn, p99"
CALLS = 30
DRAWINGS = 20
BUSY = f"import os\nwhile not os.path.exists('begun{CALLS - 1}'): sum(range(1000))"
# Times each of our plugins when JupyterLab starts it.
TIMING = """\
window.hermesStart = 0;
window._JUPYTERLAB = new Proxy({}, {set(all, name, container) {
  all[name] = name !== 'hermes-jupyter-labextension' ? container : {
    init: scope => container.init(scope),
    get: async module => {
      const make = await container.get(module);
      return () => {
        const made = make();
        for (const plugin of Array.isArray(made.default) ? made.default : []) {
          const activate = plugin.activate;
          plugin.activate = (...services) => {
            const began = performance.now();
            try { return activate(...services); }
            finally { window.hermesStart += performance.now() - began; }
          };
        }
        return made;
      };
    }
  };
  return true;
}});
"""
CLICKING = """\
async calls => {
  const clicked = [];
  const seen = new Set();
  while (clicked.length < calls) {
    await new Promise(go => setTimeout(go, 20 + 40 * Math.random()));
    for (const card of document.querySelectorAll('#hermes-approvals [data-request]')) {
      const button = [...card.querySelectorAll('fieldset:enabled button')]
        .find(each => each.textContent === 'Allow once');
      if (button && !seen.has(card.dataset.request)) {
        seen.add(card.dataset.request);
        clicked.push(performance.timeOrigin + performance.now());
        button.click();
      }
    }
  }
  return clicked;
}"""

DRAWING = """\
async ({data, mime, times}) => {
  const shown = [...window.jupyterapp.shell.widgets('main')].find(w => w.content?.rendermime);
  const { rendermime } = shown.content;
  const model = rendermime.createModel({ data });
  const took = [];
  while (took.length < times) {
    const renderer = rendermime.createRenderer(mime);
    const host = document.body.appendChild(document.createElement('div'));
    host.style.cssText = 'position: fixed; inset: 0; overflow: auto';
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    host.append(renderer.node);
    await renderer.renderModel(model);
    host.getBoundingClientRect();
    took.push(performance.now() - began);
    if (renderer.node.querySelectorAll('.hermes-body > *').length !== 1000) throw new Error('few');
    renderer.dispose();
    host.remove();
  }
  return took;
}"""


@dataclass(frozen=True)
class Measured:
    """Milliseconds: of the start, of each click, of each drawing of a long record."""

    start: float
    clicks: list[float]
    drawings: list[float]


def rows() -> Iterator[Row]:
    missing = None if chromium.path() else chromium.MISSING
    if importlib.util.find_spec("playwright") is None:
        missing = "no playwright; pip install 'hermes-jupyter[test]'"
    if not STATIC.is_dir():
        missing = "not built; python labextension/building.py"
    if missing:
        yield Row(what=SIZE, unit="KB", target=300, detail=missing)
        return
    packed = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.glob("*.js"))
    yield Row(what=SIZE, value=packed / 1000, unit="KB", target=300)
    times = measured()
    yield Row(what=START, value=times.start, unit="ms", target=50)
    for what, samples, target in ((CLICK, times.clicks, 150), (DRAWN, times.drawings, 200)):
        told = spread(samples)
        yield Row(what=what, value=told.p99, unit="ms", target=target, detail=told.detail("ms"))


def measured() -> Measured:
    """All of it in one JupyterLab."""
    from playwright.sync_api import sync_playwright

    commands = [f"date +%s%N > begun{number}; rm -f nothing" for number in range(CALLS)]
    steps = [(call("terminal", command=command),) for command in commands]
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        root = Path(home) / "root"
        root.mkdir()
        extensions = Path(home) / "jupyter" / "labextensions"
        extensions.mkdir(parents=True)
        (extensions / "hermes-jupyter-labextension").symlink_to(STATIC.parent)
        cells = ["%load_ext hermes_jupyter", "%%agent --background\ngo", BUSY]
        (root / "clicks.ipynb").write_text(json.dumps(notebook(cells)), encoding="utf-8")
        with (
            ScriptedServer(conversation("go", *steps, "done")) as model,
            lab(
                Path(home), root, JUPYTER_PATH=str(extensions.parent),
                JUPYTER_CONFIG_PATH=str(ROOT / "jupyter-config"), OPENAI_BASE_URL=model.url,
                OPENAI_API_KEY="",
            ) as address,
        ):  # fmt: skip
            browser = playwright.chromium.launch(
                executable_path=chromium.path(), args=chromium.FLAGS
            )
            page = browser.new_page()
            page.add_init_script(TIMING)
            times = in_page(page, address, root)
            browser.close()
    return times


def in_page(browser_page: Any, address: str, root: Path) -> Measured:
    from tests.browser.notebook_page import Page

    page = Page(browser_page, ("lab", address, root), "clicks.ipynb")
    page.open()
    start = float(browser_page.evaluate("window.hermesStart"))
    page.command("hermes:show-approvals")
    for number in range(2):
        page.run_cell(number)
        page.until_idle(number)
    page.run_cell(2)
    clicked = browser_page.evaluate(CLICKING, CALLS)
    page.until_idle(2)
    begun = [int((root / f"begun{number}").read_text()) / 1e6 for number in range(CALLS)]
    clicks = [late - early for early, late in zip(clicked, begun, strict=True)]
    told = {"data": records.long(), "mime": MIME, "times": DRAWINGS}
    return Measured(start, clicks, browser_page.evaluate(DRAWING, told))
