"""Looks with axe at parts of a page that are ours; what others draw around them is not judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).resolve().parents[2] / "labextension/node_modules/axe-core/axe.min.js"
SERIOUS = {"serious", "critical"}
# A button that just appears is pale, and would be measured so. Endless ones never finish.
SETTLED = """() => Promise.all(
  document.getAnimations()
    .filter(each => each.effect.getComputedTiming().endTime < Infinity)
    .map(each => each.finished.catch(() => undefined))
)"""
# JupyterLab's body has no height and hides what flows over: axe would believe that nothing is seen,
# and judge no colours.
LOOKING = """async parts => {
  const missing = parts.filter(part => document.querySelector(part) === null);
  if (missing.length) throw new Error(`there is no ${missing}`);
  const {style} = document.body;
  const before = style.minHeight;
  style.minHeight = '100vh';
  const told = await axe.run({include: parts});
  style.minHeight = before;
  const colours = told.passes.concat(told.violations).find(each => each.id === 'color-contrast');
  return [told.violations, colours?.nodes.length ?? 0];
}"""


def no_serious_findings(page: Any, *parts: str) -> None:
    """Nothing serious is found in these parts of a page, each given as a CSS selector."""
    page.evaluate(_axe())  # a script tag would be against the policy of some pages
    page.evaluate(SETTLED)
    found, coloured = page.evaluate(LOOKING, list(parts))
    assert coloured, "no text was seen"
    told = [
        f"{each['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
    assert not told, "\n".join(told)


def _axe() -> str:
    if not AXE.is_file():
        pytest.skip("axe-core is not there: python labextension/building.py")
    return AXE.read_text(encoding="utf-8")
