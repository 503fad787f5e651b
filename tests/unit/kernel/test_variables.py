"""Variables as they were before a turn."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.kernel.variables import marks
from hermes_jupyter.kernel.variables.undo import RESTARTED, Variables


class Notebook:
    """A namespace, and turns that change it."""

    def __init__(self, **names: Any) -> None:
        self.names: dict[str, Any] = names
        self.variables = Variables(lambda: self.names, lambda: ["hidden"])
        self._turns = 0

    def turn(self, code: str, tool: str = "run_python") -> tuple[str, list[Any]]:
        """Run code as a turn; its id and what it changed."""
        self._turns += 1
        turn = f"t{self._turns}"
        self.variables.begin(turn, tool)
        exec(code, self.names)
        self.names.pop("__builtins__", None)
        return turn, self.variables.end(turn)

    def undo(self, turn: str, items: list[Any], *, force: bool = False) -> list[Any]:
        return self.variables.undo(turn, items, f"undo of {turn}", force=force)


def told(items):
    return {item.name: item.how for item in items}


def test_names_that_come_go_and_change_are_put_back():
    old = object()
    notebook = Notebook(x=1, old=old)
    turn, items = notebook.turn("x = 2; new = 3; del old")
    assert told(items) == {"x": "changed", "new": "added", "old": "removed"}
    assert not any(item.problem for item in notebook.undo(turn, items))
    assert notebook.names == {"x": 1, "old": old}


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1, 2], "v.append(3)"),
        ([1, [2, {"a": [3]}]], "v[1][1]['a'].append(4)"),
        ({"a": 1}, "v['b'] = 2"),
        ({"a": 1, "b": 2}, "v['a'] = v.pop('a')"),
        ({1, 2}, "v.discard(1)"),
        (bytearray(b"ab"), "v[0] = 0"),
        (deque([1, 2]), "v.rotate()"),
        (([1], 2), "v[0].append(1)"),
    ],
)
def test_small_objects_that_change_in_place_are_put_back_in_place(value, change):
    notebook = Notebook(v=value)
    before = repr(value)
    turn, items = notebook.turn(change)
    assert told(items) == {"v": "changed"}
    after = repr(value)
    notebook.undo(turn, items)
    assert notebook.names["v"] is value
    assert repr(value) == before
    notebook.undo(f"undo of {turn}", items)
    assert repr(value) == after


def test_a_list_that_holds_itself_is_no_trouble():
    value: list[Any] = [1]
    value.append(value)
    notebook = Notebook(v=value)
    assert notebook.turn("pass")[1] == []
    turn, items = notebook.turn("v.append(2)")
    notebook.undo(turn, items)
    assert len(value) == 2
    assert value[1] is value


def test_what_only_reads_changes_nothing():
    notebook = Notebook(v=[1, {"a": 2}], s="x", f=len)
    assert notebook.turn("w = None; del w; v[1]['a']; s = 'x'; n = 1; del n")[1] == []


def test_names_of_the_shell_and_modules_do_not_count():
    notebook = Notebook()
    assert notebook.turn("import math; _ = 1; hidden = 2")[1] == []


@pytest.mark.parametrize("tool", ["terminal", "execute_code"])
def test_tools_that_run_apart_cost_nothing(tool):
    notebook = Notebook(x=1)
    assert notebook.turn("x = 2", tool)[1] == []


def test_what_a_person_bound_since_is_left_alone_unless_forced():
    notebook = Notebook(x=1, y=1)
    turn, items = notebook.turn("x = 2; y = 2")
    notebook.names["x"] = 7
    problems = {item.name: item.problem for item in notebook.undo(turn, items)}
    assert problems == {"x": "changed since", "y": ""}
    assert notebook.names == {"x": 7, "y": 1}
    notebook.undo(turn, items, force=True)
    assert notebook.names == {"x": 1, "y": 1}


def test_a_large_list_that_changes_in_place_is_named_and_not_put_back():
    notebook = Notebook(v=list(range(marks.MOST_ELEMENTS + 1)))
    turn, items = notebook.turn("v.append(1)")
    assert [item.problem for item in items] == ["it was changed in place; too large to copy"]
    notebook.undo(turn, items)
    assert len(notebook.names["v"]) == marks.MOST_ELEMENTS + 2


def test_after_a_restart_it_is_said_that_nothing_can_be_put_back():
    turn, items = Notebook(x=1).turn("x = 2")
    assert [each.problem for each in Notebook(x=2).undo(turn, items)] == [RESTARTED]


def test_code_of_the_users_classes_is_never_run():
    source = (
        "class Bomb:\n"
        "    def _no(self, *more): raise SystemExit\n"
        "    __eq__ = __len__ = __bool__ = __copy__ = __deepcopy__ = __sizeof__ = __iter__ = _no\n"
        "    __hash__ = None\n"
    )
    notebook = Notebook()
    exec(source, notebook.names)
    notebook.names.pop("__builtins__")
    exec("one, other = Bomb(), Bomb(); held = [one]; keys = {'a': one}", notebook.names)
    notebook.names.pop("__builtins__")
    turn, items = notebook.turn("one = other; held[0] = other")
    assert told(items) == {"one": "changed", "held": "changed"}
    notebook.undo(turn, items)
    assert notebook.names["held"][0] is notebook.names["one"] is not notebook.names["other"]


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@given(values, values)
def test_any_plain_value_that_is_filled_anew_is_put_back(first, second):
    notebook = Notebook(v=[first], second=second)
    before = repr(notebook.names["v"])
    turn, items = notebook.turn("v[:] = [second]")
    notebook.undo(turn, items)
    assert repr(notebook.names["v"]) == before


def test_arrays_are_put_back_in_place():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6.0)
    notebook = Notebook(a=array, view=array[1:3], large=numpy.zeros(10_000_000))
    turn, items = notebook.turn("a += 1; large[:] = 1")
    assert told(items) == {"a": "changed", "view": "changed", "large": "changed"}
    assert {item.name for item in items if item.problem} == {"large"}
    notebook.undo(turn, items)
    assert notebook.names["a"] is array
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


def test_frames_are_put_back_as_copies():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
    notebook = Notebook(df=frame)
    assert notebook.turn("df.describe()")[1] == []
    turn, items = notebook.turn("df['c'] = 1; df.loc[0, 'a'] = 9")
    assert told(items) == {"df": "changed"}
    notebook.undo(turn, items)
    assert notebook.names["df"].equals(pandas.DataFrame({"a": [1, 2], "b": ["x", None]}))


def test_frames_of_polars_are_put_back_too():
    polars = pytest.importorskip("polars")
    notebook = Notebook(df=polars.DataFrame({"a": [1, 2]}), polars=polars)
    turn, items = notebook.turn("df.insert_column(1, polars.Series('c', [1, 2]))")
    assert told(items) == {"df": "changed"}
    notebook.undo(turn, items)
    assert notebook.names["df"].columns == ["a"]


def test_an_object_too_large_to_be_held_may_go():
    numpy = pytest.importorskip("numpy")
    size = marks.MOST_HELD // 8 + 1
    notebook = Notebook(large=numpy.zeros(size))
    turn, items = notebook.turn("large = None")
    assert "too large" in items[0].problem
    assert notebook.undo(turn, items)[0].problem
    assert notebook.names["large"] is None
