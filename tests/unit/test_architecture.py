"""Who may import whom. A new module gets its place here first."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A package may import those to its left in its own line of the map, and itself.
MAY_IMPORT = {
    "tools": {"tools"},
    "hermes_jupyter.calls": {"tools"},  # the images of results
    "hermes_jupyter.errors": {"redaction"},
    "hermes_jupyter.redaction": {"redaction", "tools"},
    "hermes_jupyter.text": set(),
    "hermes_jupyter.canonical": set(),
    "hermes_jupyter.events": {"calls"},
    "hermes_jupyter.settings": {
        "agents_settings", "errors", "model_settings", "replay_settings", "settings_file",
        "terminal_settings", "tool_search_settings",
    },
    "hermes_jupyter.settings_file": {"errors", "model_settings", "tool_search_settings"},
    "hermes_jupyter.agents_settings": {"errors", "model_settings"},
    "hermes_jupyter.replay_settings": {"errors"},
    "hermes_jupyter.tool_search_settings": {"errors"},
    "hermes_jupyter.terminal_settings": {"errors"},
    "hermes_jupyter.model_settings": {"errors"},
    "hermes_jupyter.protection": {"settings", "tools"},
    "hermes_jupyter.store": {
        "calls", "errors", "events", "redaction", "settings", "text", "store", "tools",
    },
    "hermes_jupyter.hooks": {"calls", "events", "hooks", "store", "text", "tools"},
    "hermes_jupyter.road": {
        "hooks", "store",  # how what is stored is masked
        "calls", "errors", "events", "redaction", "settings", "settings_file", "text", "road",
        "tools",
    },
    "hermes_jupyter.agent": {
        "calls", "errors", "events", "redaction", "settings", "text", "road", "agent", "tools",
        "model_settings",
    },
    "hermes_jupyter.kernel": {"calls", "errors", "events", "kernel", "undoable", "tools"},
    "hermes_jupyter.notebook": {"notebook", "tools", "undoable"},
    "hermes_jupyter.server": {
        "agent", "calls", "errors", "exports", "model_settings", "server", "store",
    },
    "hermes_jupyter.via_server": {"control", "errors", "kernel", "model_settings", "settings"},
    "hermes_jupyter.control": {
        "calls", "control", "events", "kernel", "redaction", "session", "views",
        "hermes",  # its type only
    },
    "hermes_jupyter.trace": {"calls", "events", "redaction", "road", "text"},
    "hermes_jupyter.neighbours": set(),
    "hermes_jupyter.undoing": {
        "errors", "hermes", "session", "store", "undoable",
    },
    "hermes_jupyter.views": {
        "canonical", "calls", "errors", "events", "redaction", "settings", "text", "trace", "views",
    },
    "hermes_jupyter.session": {
        "calls", "errors", "redaction", "store", "road", "agent", "tools",
    },
    "hermes_jupyter.knowledge": {"agent", "session", "settings", "store", "tools"},
    "hermes_jupyter.turn_values": {
        "calls", "errors", "events", "road", "settings", "settings_file",
    },
    "hermes_jupyter.cell_settings": {"errors", "settings", "turn_values", "tools"},
    "hermes_jupyter.undoable": set(),
    "hermes_jupyter.completion": set(),
    "hermes_jupyter.known_names": {"magics", "settings_file", "tools"},
    "hermes_jupyter.checkpoint": {"calls", "store", "undoable", "tools"},
    "hermes_jupyter.surroundings": {"kernel", "notebook", "settings", "tools"},
    "hermes_jupyter.equipment": {
        "calls", "delivery", "errors", "events", "hooks", "knowledge",
        "redaction", "refused", "settings", "text", "road", "agent", "session", "taking_up",
        "turn_values", "checkpoint",
        "delegation",  # what it lends, only
        "kernel", "notebook", "protection", "tools",
        "hermes",  # its type only
    },
    "hermes_jupyter.turn": {
        "calls", "equipment", "delivery", "errors", "events", "hooks", "knowledge",
        "redaction", "refused", "settings", "text", "road", "agent", "session", "taking_up",
        "turn_values", "checkpoint",
        "delegation",  # what it lends, only
        "kernel", "notebook", "protection", "tools",
        "hermes",  # its type only
    },
    "hermes_jupyter.refused": {"events", "redaction"},
    "hermes_jupyter.delegation": {
        "calls", "errors", "events", "knowledge", "model_settings", "redaction", "settings", "text",
        "road", "agent", "session", "store", "turn", "turn_values", "delegation", "tools",
        "hermes",  # its type only
    },
    "hermes_jupyter.delivery": {"events", "store"},
    "hermes_jupyter.going_on": {"errors", "session"},
    "hermes_jupyter.prepared": {
        "control", "events", "kernel", "session", "surroundings", "turn_values", "views",
        "desktop",  # its type only
    },
    "hermes_jupyter.background": {
        "calls", "errors", "events", "redaction", "session", "tools", "views",
    },
    "hermes_jupyter.background_runs": {"kernel", "prepared"},
    "hermes_jupyter.while_busy": {
        "background", "errors", "kernel", "tools",
        "desktop",  # its type only
    },
    "hermes_jupyter.answering": {"calls", "events", "tools", "views"},
    "hermes_jupyter.recording": {
        "calls", "canonical", "errors", "events", "recording", "store", "text", "turn_values",
        "views",  # the name of its records
        "tools",
    },
    "hermes_jupyter.replay": {
        "agent", "calls", "canonical", "delivery", "errors", "events", "kernel", "recording",
        "replay", "road",
        "session", "settings", "store", "text", "turn", "turn_values", "tools", "views",
        "hermes",  # its type only
    },
    "hermes_jupyter.eject": {"calls", "eject", "errors", "events", "text", "tools"},
    "hermes_jupyter.conversations": {"errors", "session", "store"},
    "hermes_jupyter.exports": {
        "calls", "errors", "events", "exports", "redaction", "store", "text", "views",
    },
    "hermes_jupyter.hermes": {
        "calls", "hooks", "road", "errors", "events", "settings", "agent", "conversations",
        "session", "store", "turn", "tools", "model_settings", "turn_values", "delegation",
        "undoable", "checkpoint", "redaction", "recording", "replay",
    },
}  # fmt: skip
ONLY_IN = {
    "IPython": ("hermes_jupyter.kernel", "hermes_jupyter.views", "hermes_jupyter.magics"),
    "ipywidgets": ("hermes_jupyter.views",),
    "traitlets": ("hermes_jupyter.magics", "hermes_jupyter.server"),
    "openai": ("hermes_jupyter.agent.models",),
    "xllamacpp": ("hermes_jupyter.agent.models.local",),
    "tornado": ("hermes_jupyter.server",),
    "jupyter_server": ("hermes_jupyter.server",),
}
MODULES = sorted([*(ROOT / "hermes_jupyter").rglob("*.py"), *(ROOT / "tools").rglob("*.py")])
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


@cache
def imports_of(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


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


def test_what_tests_share_is_in_modules_whose_names_no_other_folder_has():
    """By its bare name the first one that is found is imported: that of another folder, maybe."""
    homes = Counter(path.stem for path in TESTS)
    unsure = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in TESTS
        for name in imports_of(path)
        if homes[name] > 1 or (name in homes and name.startswith(("conftest", "test_")))
    ]
    assert unsure == []
