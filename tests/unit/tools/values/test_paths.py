"""Paths into values: read where nothing runs, and refused in words where something would."""

from __future__ import annotations

import types

import pytest

from tests.unit.tools.live_kernel import hostile
from tools.values.paths import Unreadable, value_at


class Thing:
    shared = "of the class"

    def __init__(self):
        self.own = [1, {"k": "v"}]

    @property
    def computed(self):
        raise AssertionError("computed")

    def method(self):
        raise AssertionError("called")


class Odd(list):
    def __getitem__(self, key):
        raise AssertionError("asked")


NAMESPACE = {
    "thing": Thing(), "odd": Odd([1]), "plain": (1, 2, 3), "text": "hello", "n": 3,
    "module": types.SimpleNamespace(inner=types.ModuleType("m")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("n", 3), ("thing.own[1]['k']", "v"), ("thing.shared", "of the class"), ("plain[-1]", 3),
        ("plain[1:]", (2, 3)), ("text[0]", "h"), (" plain [ 0 ] ", 1), ("Thing", Thing),
    ],
)  # fmt: skip
def test_what_is_stored_is_read(path, value):
    assert value_at(path, {**NAMESPACE, "Thing": Thing}) == value


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("thing.computed", "property"), ("odd[0]", "would run its code"),
        ("thing.method()", "computed"), ("n + 1", "computed"), ("(lambda: 1)()", "computed"),
        ("missing", "no variable 'missing'"), ("thing.none", "stores no 'none'"),
        ("plain[9]", "no [9]"), ("plain[n]", "only constants"), ("text['a']", "no ['a']"),
        ("thing['x']", "would run its code"), ("a b", "no name"), ("", "no name"),
        ("x" * 1_000, "too long"), ("[" * 400, "no name"), ("`", "no name"),
    ],
)  # fmt: skip
def test_what_would_run_something_is_refused_in_words(path, said):
    with pytest.raises(Unreadable) as problem:
        value_at(path, NAMESPACE)
    assert said in str(problem.value.args[0])


def test_a_hostile_object_notices_nothing():
    ran: list[str] = []
    there = {"x": hostile(ran)}
    assert value_at("x.stored", there) == 2
    assert value_at("x.slot", there) == 1
    for path in ("x.costly", "x[0]", "x.none"):
        with pytest.raises(Unreadable):
            value_at(path, there)
    assert ran == []


def test_tables_are_read_as_people_write_it():
    pandas = pytest.importorskip("pandas")
    there = {"df": pandas.DataFrame({"a": [1, 2], "b c": [3, 4]}, index=["x", "y"])}
    assert value_at("df['a'].values[1]", there) == 2
    assert value_at("df.a.iloc[0]", there) == 1
    assert value_at("df.loc['y', 'b c']", there) == 4
    assert list(value_at("df.columns", there)) == ["a", "b c"]
    assert value_at("df.shape[0]", there) == 2
    for path in ("df['none']", "df.iloc[9]", "df.none"):
        with pytest.raises(Unreadable):
            value_at(path, there)
