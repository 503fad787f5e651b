"""What is told of a value, and that none of its own code runs for it."""

from __future__ import annotations

import collections
import datetime
import enum
import json
from pathlib import Path

import pytest

from tests.unit.tools.live_kernel import hostile, lazy_module
from tools.values.describe import details_of
from tools.values.marks import mark_of
from tools.values.plain import HIDDEN, glance, named, told


class Colour(enum.Enum):
    RED = 1


class Mapping2(dict):
    def __len__(self):
        raise AssertionError("len")

    def __iter__(self):
        raise AssertionError("iter")

    def items(self):
        raise AssertionError("items")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (7, "7"), (1.5, "1.5"), (None, "None"), (True, "True"), ("a'b", '"a\'b"'), (b"x", "b'x'"),
        ([], "[]"), ([1, "a"], "[1, 'a']"), ((1,), "(1,)"), (set(), "set()"),
        ({"a": 1}, "{'a': 1}"), (frozenset({1}), "frozenset({1})"),
        (Path("a/b"), "PosixPath('a/b')"),
        (datetime.date(2026, 1, 2), "datetime.date(2026, 1, 2)"), (Colour.RED, "Colour.RED"),
        (len, "builtin_function_or_method len"), (json, "module json"),
        (ValueError("x"), "ValueError('x')"),
        (collections.deque([1]), "deque([1])"), (range(3), "range(0, 3)"),
    ],
)  # fmt: skip
def test_a_plain_value_is_told_as_python_would(value, said):
    assert told(value) == said


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, b"x" * 10**6, list(range(10**5)), 10**100_000, {n: n for n in range(10**5)},
     [["x" * 1000] * 1000] * 1000],
    ids=["text", "bytes", "list", "number", "dict", "nested"],
)  # fmt: skip
def test_a_large_value_is_told_in_a_few_words(value):
    assert len(told(value, 200)) < 500
    assert len(json.dumps(details_of(value))) < 20_000


def test_circles_end():
    circle: list = [1]
    circle.append(circle)
    assert "…" in told(circle)


def test_a_hostile_object_is_told_without_running_anything():
    ran: list[str] = []
    thing = hostile(ran)
    said = [
        told(thing),
        glance([thing]),
        told({1: thing}),
        json.dumps(details_of(thing)),
        mark_of(thing),
    ]
    assert ran == []
    assert said[0].startswith("<")
    assert '"stored": "2"' in said[3]
    assert "costly" in said[3]


def test_a_container_of_the_users_own_class_is_read_as_what_it_is():
    details = details_of(Mapping2(a=1))
    assert (details["length"], details["items"]) == (1, {"'a'": "1"})


def test_a_module_that_is_not_loaded_yet_stays_so():
    assert told(lazy_module()) == "module lazy"
    assert details_of(lazy_module())["names"] == []


@pytest.mark.parametrize("name", ["api_key", "DB_PASSWORD", "auth_token"])
def test_a_value_whose_name_says_that_it_is_secret_is_hidden(name):
    secret = "k3y-4bcd-9876-zyxw"
    assert named(name, secret) == HIDDEN
    assert secret not in told({name: secret})
    assert secret not in json.dumps(details_of({name: secret}))


def test_words_that_only_look_so_are_not_hidden():
    assert named("tokens", "the") == "'the'"
    assert named("key", "a") == "'a'"


def test_a_function_is_told_by_its_source():
    details = details_of(test_circles_end)
    assert "circle.append(circle)" in details["source"]
    assert details["parameters"] == []


def test_a_class_is_told_by_what_it_defines():
    details = details_of(Mapping2)
    assert details["bases"] == ["dict"]
    assert "items" in details["attributes"]


def test_text_shows_its_beginning_and_its_end():
    details = details_of("a" * 5_000 + "\n" + "b" * 5_000)
    assert (details["length"], details["lines"]) == (10_001, 2)
    assert (details["head"][0], details["tail"][-1]) == ("a", "b")
