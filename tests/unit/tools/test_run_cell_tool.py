"""A cell runs with the text that the guard of this very call has seen."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.unit.tools.live_kernel import Variables
from tools.cells import Cell, CellProblem
from tools.live import Ran
from tools.registry import registry
from tools.run_cell_tool import run_cell

GUARD = registry.get_entry("run_cell").guard_fn


class Live(Variables):
    """Notes what runs."""

    def __init__(self, ran=None):
        super().__init__()
        self.code, self._ran = [], ran or Ran(output="said\n")

    async def run(self, code, *, seconds, **_):
        self.code.append((code, seconds))
        return self._ran


class Notebook:
    can_edit = True

    def __init__(self, source, kind="code"):
        self.source, self.kind, self.judged, self.shown = source, kind, {}, []

    def read(self):
        return [Cell(id="cell-0001", kind=self.kind, source=self.source)]

    def show(self, cell, run):
        self.shown.append((cell, run))


def context(there, live, call="1"):
    return {"cells": there, "live": live, "tool_call_id": call}


def answer(there, live, call="1", **more):
    given = {"cell": "cell-0001", **more}
    return json.loads(asyncio.run(run_cell(given, **context(there, live, call))))


def test_the_text_that_was_seen_runs_and_is_shown():
    there, live = Notebook("x = 1"), Live()
    assert GUARD({"cell": "cell-0001"}, **context(there, live)) is None
    assert answer(there, live, timeout=7) == {"output": "said\n"}
    assert live.code == [("x = 1", 7.0)]
    ((cell, run),) = there.shown
    assert (cell, run.source) == ("cell-0001", "x = 1")


def test_what_it_does_is_objected_to_as_with_code():
    there = Notebook("import shutil\nshutil.rmtree('/data')")
    objection = GUARD({"cell": "cell-0001"}, **context(there, Live()))
    assert "shutil.rmtree('/data')" in objection.shown
    assert objection.effects


def test_a_call_does_not_run_what_the_guard_of_another_one_has_seen():
    there, live = Notebook("safe = 1"), Live()
    GUARD({"cell": "cell-0001"}, **context(there, live, "first"))
    there.source = "import os\nos.remove('a')"
    GUARD({"cell": "cell-0001"}, **context(there, live, "second"))  # a person is asked now
    assert "changed in the meantime" in answer(there, live, "first")["error"]
    assert live.code == []


def test_nothing_runs_that_no_guard_has_seen():
    there, live = Notebook("x = 1"), Live()
    assert "changed in the meantime" in answer(there, live)["error"]
    assert live.code == []


def test_it_is_run_although_it_cannot_be_shown():
    class Closed(Notebook):
        def show(self, cell, run):
            raise CellProblem("the page was closed")

    there = Closed("x = 1")
    live = Live(Ran(output="said\n", notes=("noted",)))
    GUARD({"cell": "cell-0001"}, **context(there, live))
    said = answer(there, live)
    assert said["output"] == "said\n"
    assert said["note"].startswith("noted; it ran, but its output is not shown in the cell")


@pytest.mark.parametrize(
    ("kind", "source", "said"),
    [
        ("raw", "x", "a raw cell"),
        ("code", "  ", "empty"),
        ("code", "%%agent\nx", "asks an agent"),
        ("code", "\n%%hermes_agent -m x\nx", "asks an agent"),
        ("code", "if a:\n    %hermes new", "asks an agent"),
    ],
)
def test_what_is_no_code_to_run_is_refused_and_nobody_is_asked(kind, source, said):
    there, live = Notebook(source, kind), Live()
    assert GUARD({"cell": "cell-0001"}, **context(there, live)) is None
    assert said in answer(there, live)["error"]
    assert live.code == []


def test_without_a_notebook_or_a_kernel_it_says_so():
    assert "no notebook" in answer(None, Live())["error"]
    assert "no notebook" in answer(Notebook("x"), None)["error"]
