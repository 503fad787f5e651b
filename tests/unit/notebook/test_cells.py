"""Which cells stand above, and in which state."""

from hermes_jupyter.kernel.ran_cells import RanCell
from hermes_jupyter.notebook.cells import cells_above
from hermes_jupyter.notebook.saved import NOTHING, SavedCell, SavedNotebook


def ran(name, number, source, at=10.0, error=""):
    return RanCell(id=name, request=f"r{number}", number=number, source=source, at=at, error=error)


def saved(*cells, at=5.0):
    return SavedNotebook([SavedCell(id=n, kind=k, source=s) for n, k, s in cells], at)


def above(current="me", there=NOTHING, runs=(), outputs=lambda cell: ()):
    return cells_above(current, there, runs, outputs)


def test_without_a_file_they_come_as_they_ran():
    cells = above("", runs=[ran("", 1, "a = 1"), ran("", 2, "b = 2")])
    assert [(cell.number, cell.source) for cell in cells] == [(1, "a = 1"), (2, "b = 2")]


def test_a_cell_that_ran_twice_is_there_once_as_it_ran_last():
    cells = above(runs=[ran("x", 1, "a = 1"), ran("x", 2, "a = 2")])
    assert [(cell.number, cell.source) for cell in cells] == [(2, "a = 2")]


def test_the_file_gives_the_order_up_to_the_cell_that_asks():
    there = saved(("b", "code", "b"), ("a", "code", "a"), ("me", "code", "?"), ("c", "code", "c"))
    cells = above(there=there, runs=[ran("a", 1, "a"), ran("c", 2, "c")])
    assert [cell.source for cell in cells] == ["b", "a"]


def test_a_new_cell_that_is_not_saved_yet_comes_last():
    cells = above(there=saved(("a", "code", "a")), runs=[ran("new", 1, "new")])
    assert [cell.source for cell in cells] == ["a", "new"]


def test_what_ran_after_the_file_was_written_is_newer():
    (cell,) = above(there=saved(("a", "code", "old"), at=5), runs=[ran("a", 1, "new", at=9)])
    assert (cell.source, cell.changed) == ("new", False)


def test_a_cell_changed_after_its_run_says_so():
    (cell,) = above(there=saved(("a", "code", "new"), at=9), runs=[ran("a", 1, "old", at=5)])
    assert (cell.source, cell.changed) == ("new", True)


def test_outputs_are_those_of_the_run_or_else_of_the_file():
    there = SavedNotebook([SavedCell(id="a", kind="code", source="a", outputs=[{"x": 1}])], 1.0)
    (cell,) = above(there=there)
    assert cell.outputs() == [{"x": 1}]
    (cell,) = above(there=there, runs=[ran("a", 1, "a")], outputs=lambda cell: [cell.request])
    assert cell.outputs() == ["r1"]


def test_cells_that_ask_the_agent_are_left_out():
    sources = [
        "%load_ext hermes_jupyter",
        "%%agent\nx",
        "%hermes status",
        "  %%agent -t a\ny",
        "ok",
    ]
    cells = above(runs=[ran("", n, source) for n, source in enumerate(sources, 1)])
    assert [cell.source for cell in cells] == ["ok"]


def test_empty_cells_are_left_out():
    assert above(there=saved(("a", "code", " \n"))) == []
