"""What models write, and what is to become of it: see ``tests/cases/README.md``."""

import importlib
import json
import os
import sys
from itertools import groupby
from pathlib import Path

import pytest

from hermes_jupyter.road.coercion.choices import same

ROOT = Path(__file__).resolve().parents[2]
USUAL_TOOLS = [
    "read_file", "write_file", "patch", "search_files", "terminal", "process", "web_search",
    "web_extract", "execute_code", "run_cell", "list_variables", "inspect_variable",
    "insert_cell", "edit_cell", "todo", "memory", "clarify", "delegate_task", "session_search",
    "skill_view", "skills_list", "skill_manage", "vision_analyze", "tool_search",
    "tool_describe", "tool_call",
]  # fmt: skip


def kinds(corpus):
    """One parameter for the rows of each kind, so that a failure names the kind and its rows."""
    lines = (ROOT / "tests" / "cases" / f"{corpus}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: row["kind"])
    grouped = groupby(rows, key=lambda row: row["kind"])
    return [pytest.param(list(members), id=kind) for kind, members in grouped]


@pytest.fixture
def adapter(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("tests.cases_adapter")


def exactly(one, other):
    """Equal in type as well: an integral float is no integer."""
    return same(one, other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("rows", kinds("coerce"))
def test_arguments_are_coerced(adapter, rows):
    wrong = {}
    for row in rows:
        got = adapter.coerce(row["input"]["schema"], row["input"]["args"])
        if not exactly(got, row["expected"]):
            wrong[row["id"]] = got
    assert not wrong


@pytest.mark.parametrize("rows", kinds("argrepair"))
def test_arguments_are_repaired_or_refused(adapter, rows):
    wrong = {}
    for row in rows:
        got = adapter.argrepair(row["input"], row.get("params"))
        if not exactly("unrepairable" if got is None else got, row["expected"]):
            wrong[row["id"]] = got
    assert not wrong


@pytest.mark.parametrize("rows", kinds("toolnames"))
def test_names_are_resolved_or_refused(adapter, rows):
    wrong = {}
    for row in rows:
        about = row["input"]
        registered = about.get("registered", USUAL_TOOLS)
        got = adapter.toolnames(about["name"], registered, about.get("withheld", []))
        if got != row["expected"]:
            wrong[row["id"]] = got
    assert not wrong


@pytest.mark.parametrize("corpus", ["commands", "cells"])
def test_commands_and_cells_get_their_verdicts(adapter, corpus):
    judge = getattr(adapter, corpus)
    rows = [row for kind in kinds(corpus) for row in kind.values[0]]
    verdicts = {row["input"]: (row["expected"], judge(row["input"])) for row in rows}
    assert not {text: pair for text, pair in verdicts.items() if pair[0] != pair[1]}


@pytest.mark.skipif(sys.platform == "win32", reason="paths and links of POSIX")
@pytest.mark.parametrize("rows", kinds("parallel"))
def test_calls_run_side_by_side_where_they_may(adapter, rows, tmp_path):
    wrong = {}
    for row in rows:
        if "needs" in row and ignores_case(tmp_path):
            continue
        folders = made(row["input"]["setup"], tmp_path / row["id"])
        calls = json.loads(filled(json.dumps(row["input"]["calls"]), *folders))
        cwd = Path(filled(row["input"]["cwd"], *folders))
        cwd.mkdir(parents=True, exist_ok=True)
        opted_in = row["input"].get("mcp_parallel", [])
        got = adapter.parallel(calls, str(cwd), str(folders[1]), opted_in)
        if got != row["expected"]["segments"]:
            wrong[row["id"]] = got
    assert not wrong


def made(setup, base):
    """The folders ``root`` and ``home`` with the files that a case is about."""
    root, home = base / "root", base / "home"
    root.mkdir(parents=True)
    home.mkdir()
    for step in setup:
        if "to" in step and "symlink" in step:
            (root / step["symlink"]).symlink_to(step["to"])
        elif "to" in step:
            os.link(root / step["to"], root / step["hardlink"])
        elif "dir" in step:
            (root / step["dir"]).mkdir(parents=True, exist_ok=True)
        else:
            path = root / step["file"] if "file" in step else home / step["home_file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return root, home


def filled(text, root, home):
    return text.replace("{ROOT}", str(root)).replace("{HOME}", str(home))


def ignores_case(folder):
    (folder / "case").touch()
    return (folder / "CASE").exists()
