"""The planner as the shared corpus of cases sees it, MCP servers included."""

import importlib
import json
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT.parent / "shared" / "cases"


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside this project")
def test_shared_cases_come_out_as_expected(monkeypatch):
    monkeypatch.syspath_prepend(str(CASES))
    monkeypatch.syspath_prepend(str(ROOT))
    score = importlib.import_module("score")
    adapter = importlib.import_module("tests.cases_adapter")
    rows = map(json.loads, (CASES / "parallel.jsonl").read_text(encoding="utf-8").splitlines())
    wrong = {}
    for row in rows:
        base, cwd, home, calls = score.world(row)
        got = adapter.parallel(calls, cwd, home, row["input"].get("mcp_parallel", []))
        mode = "parallel" if len(got) == 1 and len(got[0]) > 1 else "sequential"
        if (mode, got) != (row["expected"]["mode"], row["expected"]["segments"]):
            wrong[row["id"]] = got
        shutil.rmtree(base)
    assert not wrong


@pytest.mark.parametrize(
    ("names", "opted_in", "expected"),
    [
        (["mcp__docs__find", "mcp__docs__read_page"], ["docs"], "12"),
        (["mcp__docs__find", "mcp__docs__find"], ["mcp__docs__find"], "12"),
        (["mcp__my_docs__find", "web_search"], ["my-docs"], "12"),
        (["mcp__docs__find", "mcp__mail__send"], ["docs"], "1 2"),
        (["mcp__a_b__find", "mcp__a__find"], ["a"], "1 2"),
        (["mcp__a__b__find", "mcp__a__find"], ["a"], "1 2"),
        (["mcp_a_b_find", "mcp_a_find"], ["a"], "1 2"),
        (["mcp__docs__find", "mcp__docs__find"], [], "1 2"),
    ],
)
def test_mcp_server_takes_several_calls_at_once_if_it_was_told_to(
    monkeypatch, tmp_path, names, opted_in, expected
):
    monkeypatch.syspath_prepend(str(ROOT))
    adapter = importlib.import_module("tests.cases_adapter")
    calls = [
        {"id": str(number), "name": name, "arguments": "{}"} for number, name in enumerate(names, 1)
    ]
    got = adapter.parallel(calls, str(tmp_path), str(tmp_path), opted_in)
    assert " ".join(map("".join, got)) == expected
