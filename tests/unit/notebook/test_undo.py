"""Whatever a turn does to cells is taken back, around whatever the person does."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_jupyter.notebook.paged import PagedCells
from hermes_jupyter.notebook.putting import NOT_KEPT
from hermes_jupyter.notebook.states import MOST_OUTPUT
from hermes_jupyter.notebook.undo import Cells
from hermes_jupyter.undoable import read_item
from tests.cell_page import CAN, CellPage, cell
from tools.cells import CellProblem, CellRun, Spot, digest_of

OWN = "own"


class Page(CellPage):
    """Is asked without a kernel between."""

    notebook = "work.ipynb"
    can = CAN

    def __init__(self, count=5):
        names = [OWN, *(f"c{n}" for n in range(1, count))]
        image = {"output_type": "display_data", "data": {"image/png": "x" * 900}, "metadata": {}}
        super().__init__([cell(n, f"text of {n}", number=3, outputs=[image]) for n in names])
        self.fails = False

    def __call__(self, do, /, **what):
        if self.fails and do != "read":
            raise _Silent("silence")
        answer = self.answer({"do": do, **copy.deepcopy(what)})
        if not answer["ok"]:
            raise ConnectionError(answer["message"])
        return copy.deepcopy(answer["result"])

    def state(self):
        return [
            {**each, "metadata": each.get("metadata", {})} for each in copy.deepcopy(self.cells)
        ]


class _Silent(ConnectionError, TimeoutError):
    pass


class Turn:
    """Makes changes in the name of a turn, and undoes turns as a later kernel would."""

    def __init__(self, page):
        self.page = page
        self.undoable = Cells(lambda _notebook, _anchor: page)
        self.cells = PagedCells(page, OWN, number=7)
        self.cells.tell(self)
        self.items = []

    def changed(self, kind, change):
        assert kind == "cell"
        self.items = self.undoable.note("turn", change)

    def undo(self, items=None, *, force=False):
        stored = [read_item(json.loads(json.dumps(asdict(i)))) for i in items or self.items]
        return self.undoable.undo("turn", stored, "by", force=force)

    def plan(self):
        return self.undoable.plan("turn", self.items, force=False)


def others(page):
    return [name for name in page.order() if name != OWN]


def act(turn, kind, first, second):
    """One thing that an agent may do, to cells chosen by number."""
    page, cells = turn.page, turn.cells
    names = others(page)
    if kind == "insert" or not names:
        order = page.order()
        return cells.insert(
            f"new {first}", "code", Spot(order[first % len(order)], second % 2 == 0)
        )
    name = names[first % len(names)]
    other = page.order()[second % len(page.cells)]
    if kind == "edit":
        return cells.edit(name, f"edited {second}", digest_of(page.source(name)))
    if kind == "move" and name != other:
        return cells.move(name, Spot(other, first % 2 == 0))
    if kind == "delete":
        return cells.delete({name: digest_of(page.source(name))})
    if kind == "show":
        output = {"output_type": "stream", "name": "stdout", "text": f"{second}"}
        return cells.show(name, CellRun(source=page.source(name), outputs=[output]))
    return None


KINDS = st.sampled_from(["insert", "edit", "move", "delete", "show"])
ACTS = st.lists(st.tuples(KINDS, st.integers(0, 20), st.integers(0, 20)), max_size=12)


@settings(deadline=None, max_examples=200)
@given(acts=ACTS, keeps_ids=st.booleans())
def test_any_changes_are_taken_back_and_done_again(acts, keeps_ids):
    page = Page()
    page.keeps_ids = keeps_ids
    before = page.state()
    turn = Turn(page)
    for each in acts:
        act(turn, *each)
    after = page.state()
    undone = turn.undo()
    assert not [item for item in undone if item.problem]
    assert without_ids(page.state()) == without_ids(before)
    redone = turn.undo(undone)
    assert not [item for item in redone if item.problem]
    assert without_ids(page.state()) == without_ids(after)
    if keeps_ids:
        assert page.state() == after


def without_ids(cells):
    return [{**each, "id": ""} for each in cells]


@settings(deadline=None, max_examples=200)
@given(acts=ACTS, place=st.integers(0, 20), edits=st.lists(st.integers(0, 20), max_size=4))
def test_what_the_person_writes_meanwhile_and_afterwards_stays(acts, place, edits):
    page = Page()
    turn = Turn(page)
    for each in acts[: len(acts) // 2]:
        act(turn, *each)
    page.cells.insert(place % (len(page.cells) + 1), cell("mine", "my own"))
    for kind, first, second in acts[len(acts) // 2 :]:
        if kind == "insert":
            act(turn, kind, first, second)
    written = {"mine": "my own"}
    for number, edit in enumerate(edits):
        name = page.order()[edit % len(page.cells)]
        written[name] = page.one(name)["source"] = f"mine {number}"
    turn.undo()
    assert {name: page.source(name) for name in written} == written


def test_a_change_that_the_page_did_not_answer_is_taken_back_if_it_was_made():
    page = Page()
    turn = Turn(page)
    page.fails = True
    with pytest.raises(CellProblem, match="silence"):
        turn.cells.edit("c1", "edited", digest_of("text of c1"))
    page.fails = False
    assert turn.plan() == []
    page.one("c1")["source"] = "edited"
    assert [item.problem for item in turn.plan()] == [""]
    turn.undo()
    assert page.source("c1") == "text of c1"


def test_a_page_that_refuses_leaves_nothing_to_undo():
    page = Page()
    turn = Turn(page)
    with pytest.raises(CellProblem, match="changed in the meantime"):
        turn.cells.edit("c1", "edited", digest_of("another text"))
    assert turn.items == []


def test_outputs_that_are_too_large_are_not_kept_and_said_so():
    page = Page()
    page.one("c1")["outputs"] = [{"output_type": "stream", "text": "x" * (MOST_OUTPUT + 1)}]
    turn = Turn(page)
    act(turn, "show", 0, 1)
    assert [item.problem for item in turn.plan()] == [NOT_KEPT]
    assert len(json.dumps([asdict(item) for item in turn.items])) < 10_000


def test_of_a_page_that_gives_only_parts_of_outputs_none_are_put_back():
    page = Page()
    page.can = [each for each in CAN if each != "whole"]
    turn = Turn(page)
    act(turn, "delete", 0, 0)
    act(turn, "show", 0, 1)
    deleted, shown = turn.plan()
    assert deleted.name.endswith("(without its output)")
    assert (deleted.problem, shown.problem) == ("", NOT_KEPT)
    turn.undo()
    assert (page.source("c1"), page.one("c1")["outputs"]) == ("text of c1", [])


def test_a_cell_that_is_gone_is_said_to_be():
    page = Page()
    turn = Turn(page)
    act(turn, "edit", 0, 1)
    page.cells.remove(page.one("c1"))
    assert "not there any more" in turn.plan()[0].problem


def test_a_moved_cell_that_the_person_moved_on_is_left_there():
    page = Page()
    turn = Turn(page)
    turn.cells.move("c4", Spot(OWN))
    page.cells.insert(2, page.cells.pop(page.order().index("c4")))
    assert [item.problem for item in turn.plan()] == ["changed since"]
    page.cells.append(page.cells.pop(page.order().index("c4")))
    assert turn.plan() == []


def test_a_notebook_that_no_page_shows_is_named():
    turn = Turn(Page())
    act(turn, "edit", 0, 1)
    closed = Cells(lambda _notebook, _anchor: None)
    (item,) = closed.plan("turn", turn.items, force=False)
    assert "work.ipynb is not open" in item.problem


def test_a_page_that_shows_another_notebook_is_not_changed():
    page = Page()
    turn = Turn(page)
    page.cells.remove(page.one(OWN))
    before = page.state()
    with pytest.raises(CellProblem, match="may show another notebook"):
        turn.cells.insert("x", "code", None)
    assert page.state() == before
    assert turn.items == []


@pytest.mark.parametrize("lie", ["nothing", "elsewhere", "another text"])
def test_an_insert_that_the_page_only_claims_is_found_out(lie):
    class Lying(Page):
        def _insert(self, request):
            made = super()._insert(request)
            new = self.cells.pop(self.order().index(made["cell"]["id"]))
            if lie == "elsewhere":
                self.cells.append(new)
            elif lie == "another text":
                self.cells.insert(1, {**new, "source": "other"})
            return made

    with pytest.raises(CellProblem):
        Turn(Lying()).cells.insert("x", "code", None)


def test_an_edit_that_the_page_only_claims_is_found_out():
    class Lying(Page):
        def _edit(self, request):
            return {"cell": {**self.one(request["cell"]), "source": request["source"]}}

    with pytest.raises(CellProblem, match="does not have the text"):
        Turn(Lying()).cells.edit("c1", "edited", digest_of("text of c1"))
