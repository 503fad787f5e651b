"""What is run in the kernel is judged by what it does; how it ended is told in short."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests import cases_adapter
from tests.unit.tools.live_kernel import Variables
from tools.live import Ran
from tools.registry import registry
from tools.run_python_tool import objection, run_python

CASES = Path(__file__).resolve().parents[2] / "cases" / "cells.jsonl"
ROWS = [json.loads(line)["input"] for line in CASES.read_text(encoding="utf-8").splitlines()]


def verdict(code, **variables):
    """Of the guard that stands on the registered tool."""
    entry = registry.get_entry("run_python")
    said = entry.guard_fn({"code": code}, live=Variables(**variables))
    if said is None:
        return "safe"
    assert said.shown == code
    assert said.effects
    return "block" if said.forbidden else "ask"


@pytest.mark.parametrize("code", ROWS)
def test_every_labelled_cell_gets_the_verdict_of_the_judge(code, monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/data/project")
    assert verdict(code) == cases_adapter.cells(code)


@pytest.mark.parametrize(
    ("code", "variables", "expected"),
    [
        ("erase('a')", {"erase": os.remove}, "ask"),
        ("!rm -rf {d}", {"d": "/"}, "block"),
        ("!ls {d}", {"d": "data"}, "safe"),
        ("rm - 1", {"rm": 3}, "safe"),
        ("frame.head()", {"frame": object()}, "safe"),
    ],
)
def test_the_variables_of_the_kernel_count(code, variables, expected):
    assert verdict(code, **variables) == expected


def test_what_is_no_python_asks_nobody_for_it_only_fails():
    class NoPython(Variables):
        def can_run(self, code):
            return False

    assert objection({"code": "x = ("}, live=NoPython()) is None
    assert objection({"code": "x = ("}, live=Variables()) is not None


def test_a_kernel_that_cannot_be_looked_at_is_no_permission():
    class Broken(Variables):
        def namespace(self):
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError):  # which the road takes for a question
        objection({"code": "1"}, live=Broken())


class Runs(Variables):
    """Answers with what a run has come to."""

    def __init__(self, ran):
        super().__init__()
        self.ran = ran

    async def run(self, code, *, seconds, **_):
        if isinstance(self.ran, Exception):
            raise self.ran
        self.asked = (code, seconds)
        return self.ran


def answered(ran, code="x", **args):
    live, told = Runs(ran), []
    args = {"code": code, **args}
    text = asyncio.run(run_python(args, live=live, on_details=told.append))
    return json.loads(text), told, live


def test_only_what_there_is_to_say_is_said():
    assert answered(Ran())[0] == {"output": ""}
    assert answered(Ran(value="3", new=("x: 3",)))[0] == {"value": "3", "new_variables": ["x: 3"]}


def test_the_traceback_is_for_the_person():
    ran = Ran(error="KeyError: 'a'", line="2: d['a']", traceback="Traceback ...")
    answer, told, _ = answered(ran)
    assert answer == {"error": "KeyError: 'a'", "line": "2: d['a']"}
    assert told == ["Traceback ..."]


def test_a_timeout_says_that_what_was_done_stays():
    answer, _, live = answered(Ran(ended="timeout", output="so far"), timeout=7)
    assert "after 7 s" in answer["error"]
    assert (answer["output"], live.asked) == ("so far", ("x", 7.0))


def test_without_a_thread_to_run_in_it_says_so():
    answer, _, _ = answered(RuntimeError("no cell is waiting: the turn runs in the background"))
    assert "background" in answer["error"]


def test_without_a_notebook_it_says_so():
    assert "no notebook" in asyncio.run(run_python({"code": "1"}))
