"""Who may import whom. A new module gets its place here first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A package may import those to its left in its own line of the map, and itself.
MAY_IMPORT = {
    "tools": {"tools"},
    "hermes_jupyter.calls": set(),
    "hermes_jupyter.errors": {"redaction"},
    "hermes_jupyter.redaction": {"redaction", "tools"},
    "hermes_jupyter.text": set(),
    "hermes_jupyter.events": {"calls"},
    "hermes_jupyter.settings": {"errors", "model_settings", "terminal_settings"},
    "hermes_jupyter.terminal_settings": {"errors"},
    "hermes_jupyter.model_settings": {"errors"},
    "hermes_jupyter.protection": {"settings", "tools"},
    "hermes_jupyter.store": {
        "calls", "errors", "events", "redaction", "settings", "text", "store", "tools",
    },
    "hermes_jupyter.road": {
        "calls", "errors", "events", "redaction", "settings", "text", "road", "tools",
    },
    "hermes_jupyter.agent": {
        "calls", "errors", "events", "redaction", "settings", "text", "road", "agent", "tools",
        "model_settings",
    },
    "hermes_jupyter.kernel": {"calls", "errors", "events", "kernel", "tools"},
    "hermes_jupyter.trace": {"calls", "events", "redaction", "road", "text"},
    "hermes_jupyter.views": {
        "calls", "errors", "events", "redaction", "settings", "text", "trace", "views",
    },
    "hermes_jupyter.session": {
        "calls", "errors", "redaction", "store", "road", "agent", "tools",
    },
    "hermes_jupyter.knowledge": {"agent", "session", "settings", "store", "tools"},
    "hermes_jupyter.turn_values": {"calls", "errors", "road", "settings"},
    "hermes_jupyter.turn": {
        "calls", "errors", "events", "knowledge",
        "redaction", "settings", "text", "road", "agent", "session", "taking_up",
        "turn_values",
        "kernel", "protection", "tools",
        "hermes",  # its type only
    },
    "hermes_jupyter.conversations": {"errors", "session", "store"},
    "hermes_jupyter.exports": {
        "calls", "errors", "events", "exports", "redaction", "store", "text", "views",
    },
    "hermes_jupyter.hermes": {
        "calls", "road", "errors", "events", "settings", "agent", "conversations", "session",
        "store", "turn", "tools", "model_settings", "turn_values",
    },
}  # fmt: skip
ONLY_IN = {
    "IPython": ("hermes_jupyter.kernel", "hermes_jupyter.views", "hermes_jupyter.magics"),
    "ipywidgets": ("hermes_jupyter.views",),
    "traitlets": ("hermes_jupyter.magics",),
    "openai": ("hermes_jupyter.agent.models",),
    "xllamacpp": ("hermes_jupyter.agent.models.local",),
    "tornado": ("hermes_jupyter.server",),
    "jupyter_server": ("hermes_jupyter.server",),
}
MODULES = sorted([*(ROOT / "hermes_jupyter").rglob("*.py"), *(ROOT / "tools").rglob("*.py")])


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(module: str) -> str:
    """``hermes_jupyter.road.run`` is of the part ``road``, ``tools.x`` of ``tools``."""
    names = module.split(".")
    return names[1] if names[0] == "hermes_jupyter" and len(names) > 1 else names[0]


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_arrows_point_down(path):
    name = module_name(path)
    rules = [may for part, may in MAY_IMPORT.items() if f"{name}.".startswith(f"{part}.")]
    for allowed in rules:
        ours = [m for m in imports_of(path) if m.split(".")[0] in ("hermes_jupyter", "tools")]
        wrong = [m for m in ours if part_of(m) not in allowed and m != "hermes_jupyter"]
        assert not wrong, f"{name} must not import {wrong}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_libraries_stay_where_they_belong(path):
    name = module_name(path)
    for library, homes in ONLY_IN.items():
        if not any(f"{name}.".startswith(f"{home}.") for home in homes):
            assert not [m for m in imports_of(path) if m.split(".")[0] == library], library


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_modules_stay_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
