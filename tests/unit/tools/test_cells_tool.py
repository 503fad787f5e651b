"""The tools for cells, on a notebook in memory."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import ApprovalRequested
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from hermes_jupyter.store.standing import StandingRules
from hermes_jupyter.views.words import short_args
from tools.cells import Cell, CellProblem, digest_of, find
from tools.cells_tool import (
    about,
    delete_cell,
    delete_objection,
    edit_cell,
    edit_objection,
    insert_cell,
    move_cell,
    read_cells,
)
from tools.registry import registry


class Cells:
    can_edit = True
    can_insert = ""

    def __init__(self, *cells):
        self.cells = [*cells]
        self.inserted = []
        self.names = {
            "cell-0001": "[4] “df.plot()”", "cell-0002": "“# Sales”", "else-0003": "“x”"
        }  # fmt: skip

    def read(self):
        return self.cells

    def insert(self, source, kind, spot):
        self.inserted.append((source, kind, spot))
        return Cell(id="new-0001", kind=kind, source=source)

    def edit(self, cell, source, was):
        there = find(self.cells, cell)
        assert was == digest_of(there.source)
        return Cell(id=cell, kind=there.kind, source=source)

    def move(self, cell, spot):
        return self.cells

    def delete(self, cells):
        return [cell for cell in self.cells if cell.id not in cells]


def notebook(count=3, own=1):
    return Cells(
        *(
            Cell(id=f"cell-{n:04}", kind="code", source=f"a = {n}\nb", is_agents=n == own)
            for n in range(count)
        )
    )


def answer(handler, there, **args):
    return json.loads(handler(args, cells=there))


def test_a_short_notebook_is_read_in_full():
    told = answer(read_cells, notebook())["cells"]
    assert [cell["source"] for cell in told] == ["a = 0\nb", "a = 1\nb", "a = 2\nb"]


def test_of_a_long_notebook_the_cells_near_the_agents_are_read_in_full():
    told = answer(read_cells, notebook(300, own=150))
    full = [place for place, cell in enumerate(told["cells"]) if "source" in cell]
    assert (full[0], full[-1], len(full)) == (130, 159, 30)
    assert told["cells"][0] == {
        "id": "cell-0000", "type": "code", "first_line": "a = 0", "lines": 2
    }  # fmt: skip
    assert "read them by id" in told["note"]


@pytest.mark.parametrize("own", [0, 299])
def test_at_an_end_of_a_long_notebook_as_many_are_read(own):
    told = answer(read_cells, notebook(300, own=own))["cells"]
    assert sum("source" in cell for cell in told) == 30


def test_cells_are_read_by_the_beginning_of_their_ids():
    (cell,) = answer(read_cells, notebook(), cells=["cell-0002"])["cells"]
    assert cell["source"] == "a = 2\nb"
    assert "fits 3 cells" in answer(read_cells, notebook(), cells=["cell"])["error"]
    assert "no cell 'cel'" in answer(read_cells, notebook(), cells=["cel"])["error"]


def test_insert_takes_one_place_or_none():
    there = notebook()
    answer(insert_cell, there, source="x")
    assert there.inserted[0] == ("x", "code", None)
    said = answer(insert_cell, there, source="x", after="cell-0001", before="cell-0002")
    assert "not both" in said["error"]
    assert "must be one of" in answer(insert_cell, there, source="x", type="sql")["error"]


def test_an_edit_gives_the_difference():
    said = answer(edit_cell, notebook(), cell="cell-0002", source="a = 2\nc")
    assert "-b\n+c\n" in said["diff"]
    assert "already" in answer(edit_cell, notebook(), cell="cell-0002", source="a = 2\nb")["error"]


def test_a_move_needs_a_place():
    assert "say where" in answer(move_cell, notebook(), cell="cell-0002")["error"]
    said = answer(move_cell, notebook(), cell="cell-0002", after="cell-0002")
    assert "next to itself" in said["error"]


def test_the_agents_own_cell_stays():
    said = answer(delete_cell, notebook(), cells=["cell-0001", "cell-0002"])
    assert "your own cell" in said["error"]


def test_changing_text_needs_a_person_and_filling_an_empty_cell_does_not():
    there = notebook()
    objection = edit_objection({"cell": "cell-0002", "source": "x"}, cells=there)
    assert objection.reason == "changes cell “a = 2” (+1 −2)"
    assert "-a = 2" in objection.shown
    there.cells[2] = Cell(id="cell-0002", kind="code", source=" \n")
    assert edit_objection({"cell": "cell-0002", "source": "x"}, cells=there) is None


def test_deleting_text_needs_a_person_and_empty_cells_do_not():
    there = notebook(5)
    objection = delete_objection({"cells": ["cell-0002", "cell-0003"]}, cells=there)
    assert objection.reason == "deletes 2 cells"
    assert "a = 3" in objection.shown
    there.cells[2] = Cell(id="cell-0002", kind="code", source="")
    assert delete_objection({"cells": ["cell-0002"]}, cells=there) is None


def test_only_a_person_lets_many_cells_go_and_cells_with_outputs_only_count():
    there = notebook(6, own=0)
    few, many = (
        delete_objection({"cells": names}, cells=there)
        for names in (["cell-0001", "cell-0002"], ["cell-0001", "cell-0002", "cell-0003"])
    )
    assert (few.firm, many.firm) == (False, True)
    there.cells = [Cell(id=cell.id, kind="code", source="") for cell in there.cells]
    said = delete_objection({"cells": ["cell-0001", "cell-0002", "cell-0003"]}, cells=there)
    assert (said.reason, said.firm) == ("deletes 3 cells", True)
    there.cells[1] = Cell(id="cell-0001", kind="code", source="", output="3 rows")
    assert delete_objection({"cells": ["cell-0001"]}, cells=there) is not None


@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_no_mode_and_no_model_lets_many_cells_go_in_a_persons_place(turn, mode):
    class Willing:
        async def judge(self, request):
            return "allow"

    there = notebook(6, own=0)
    context = {"cells": there, "cwd": str(turn.folder)}
    road = Road(
        tools=registry.view(), desk=turn.desk, policy=Policy(mode=mode), emit=turn.emit,
        context=context, judge=Willing(),
    )  # fmt: skip
    names = ["cell-0001", "cell-0002", "cell-0003"]
    asked = asyncio.run(road.run(ToolCall(id="1", name="delete_cell", args={"cells": names})))
    assert asked.status == "denied"
    assert len(turn.of(ApprovalRequested)) == 1


EDITED = {"cell": "cell-0001", "source": "x"}


def roads(turn, there, mode="ask"):
    return Road(
        tools=registry.view(), desk=turn.desk, policy=Policy(mode=mode), emit=turn.emit,
        context={"cells": there, "cwd": str(turn.folder)},
    )  # fmt: skip


def ran(road, name, **args):
    return asyncio.run(road.run(ToolCall(id="1", name=name, args=args)))


def test_changing_a_cell_is_of_medium_risk_and_never_allowed_for_good(turn, tmp_path):
    turn.desk.grants = Grants(StandingRules(tmp_path / "rules.yaml"))
    road = roads(turn, notebook())
    ran(road, "edit_cell", **EDITED)
    ran(road, "delete_cell", cells=["cell-0002"])
    requests = [event.request for event in turn.of(ApprovalRequested)]
    assert [(each.risk, each.rule) for each in requests] == [("medium", "")] * 2
    assert requests[0].effects == ("changes cell “a = 1” (+1 −2)",)


@pytest.mark.parametrize(
    ("name", "args", "asked"),
    [("edit_cell", EDITED, 0), ("delete_cell", {"cells": ["cell-0001"]}, 1)],
)
def test_the_mode_for_edits_lets_cells_be_changed_and_asks_before_one_goes(turn, name, args, asked):
    ran(roads(turn, notebook(own=0), mode="edits"), name, **args)
    assert len(turn.of(ApprovalRequested)) == asked


def test_a_cell_that_shall_stay_as_it_is_does_so_in_other_words(turn):
    road = roads(turn, notebook())
    ran(road, "edit_cell", **EDITED)
    assert "earlier in this turn" in ran(road, "edit_cell", cell="cell-0001", source="y").text
    assert len(turn.of(ApprovalRequested)) == 1
    ran(road, "edit_cell", cell="cell-0002", source="y")
    assert len(turn.of(ApprovalRequested)) == 2


def test_a_cell_that_appears_later_is_there_to_be_copied():
    class Later(Cells):
        can_edit = False

        def insert(self, source, kind, spot):
            return None

    copied = []
    said = json.loads(insert_cell({"source": "x = 1\r\n"}, cells=Later(), on_details=copied.append))
    assert "next input" in said["note"]
    assert copied == ["x = 1\n"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"cell": "cell-0001", "source": "x"}, "[4] “df.plot()”"),
        ({"cell": "else"}, "“x”"),
        ({"cell": "cell"}, "cell"),
        ({"cell": "cell-0001", "after": "cell-0002"}, "[4] “df.plot()” after “# Sales”"),
        ({"source": "\nhere = 1\n", "before": "cell-0001"}, "“here = 1” before [4] “df.plot()”"),
        ({"cells": ["cell-0001", "nope"]}, "[4] “df.plot()”, nope"),
        ({"cells": ["1", "2", "3", "4", "5"]}, "1, 2, 3 and 2 more"),
        ({"cells": 5, "after": 7}, "5 after 7"),
        ({}, ""),
    ],
)
def test_a_call_is_told_by_what_a_person_knows_cells_by(args, said):
    assert about(args, cells=notebook()) == said


def test_a_reason_names_the_cell_in_one_piece():
    there = notebook()
    there.cells[2] = Cell(id="cell-0002", kind="code", source="a = 1; b = 2", number=7)
    objection = edit_objection({"cell": "cell-0002", "source": "x"}, cells=there)
    assert objection.reason == "changes cell [7] “a = 1;b = 2” (+1 −1)"


def test_cards_and_lines_show_the_cell_and_not_its_id(turn):
    context = {"cells": notebook()}
    road = Road(
        tools=registry.view(), desk=turn.desk, policy=Policy(), emit=turn.emit, context=context
    )
    call = ToolCall(id="1", name="edit_cell", args={"cell": "cell-0001", "source": "x"})
    assert short_args(road.told(call)) == "[4] “df.plot()”"
    assert short_args(road.told(replace(call, error="no such tool"))) == "cell=cell-0001 source=x"


def test_without_a_notebook_it_says_so():
    assert "no notebook" in json.loads(read_cells({}))["error"]


def test_ids_that_do_not_fit_are_named():
    with pytest.raises(CellProblem, match="no cell 'x'"):
        find([], "x")
