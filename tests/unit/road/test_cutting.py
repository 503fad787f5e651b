"""Cutting: always within the limit, JSON stays JSON, and what is there is of the original."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_jupyter.road.cutting import SMALLEST, Whole, allotted, cut
from hermes_jupyter.text import mended

MARK = re.compile(
    r"\n\[\.\.\. ([\d,]+) of ([\d,]+) characters left out here.*? \.\.\.\]\n", re.DOTALL
)
LIMITS = st.integers(0, 6_000)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
LONG_TEXTS = st.builds(lambda text, times: text * times, st.text(min_size=1), st.integers(1, 900))
TREES = st.recursive(
    SCALARS | LONG_TEXTS,
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(), inner, max_size=9),
    max_leaves=12,
)
REPEATED = st.builds(lambda item, times: [item] * times, SCALARS, st.integers(1, 2_000))
JSON = TREES | REPEATED | st.dictionaries(st.text(), REPEATED, max_size=3) | st.lists(REPEATED)


def shortened(text, limit, handle="r1"):
    whole = Whole(handle=handle, chars=len(text), lines=text.count("\n") + 1)
    return cut(text, limit, whole)


@given(LONG_TEXTS, LIMITS)
def test_text_is_cut_to_the_limit_and_its_ends_are_those_of_the_original(text, limit):
    text = f"x{mended(text)}"  # no JSON
    short = shortened(text, limit)
    assert len(short) <= max(limit, SMALLEST)
    if short != text:
        head, dropped, total, tail = MARK.split(short)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert int(total.replace(",", "")) == len(text)
        assert int(dropped.replace(",", "")) == len(text) - len(head) - len(tail)


@given(JSON, LIMITS, st.booleans())
@example([[[["a" * 10_000]]] * 50], 700, True)
@example({str(number): number for number in range(5_000)}, 700, False)
@example({"k" * 5_000: 1}, 700, False)
@example(["\ud800" * 5_000], 700, True)
@example({"a": "\0" * 4_000, "b": "\0" * 4_000}, 900, False)
def test_json_of_any_shape_stays_json_within_the_limit(value, limit, escaped):
    text = json.dumps(value, ensure_ascii=escaped)
    if not text.startswith(("{", "[", '"')):
        return
    short = shortened(mended(text), limit)
    assert len(short) <= max(limit, SMALLEST)
    assert type(json.loads(short)) is type(value) or "beginning" in short
    short.encode()


def test_the_one_long_text_of_an_object_is_cut_and_all_else_stays():
    text = "".join(f"line {number}\n" for number in range(10_000))
    answer = {"output": text, "exit_code": 3, "error": None, "notes": ["a", "b"]}
    short = json.loads(shortened(json.dumps(answer), 2_000))
    assert {**short, "output": ""} == {**answer, "output": "", "cut": short["cut"]}
    head, _, _, tail = MARK.split(short["output"])
    assert text.startswith(head)
    assert text.endswith(tail)
    assert f"offset={len(head)})" in short["cut"]
    assert len(head) + len(tail) > 1_200  # the room is used


def test_several_long_texts_give_way_alike_and_short_ones_stay():
    answer = {"a": "a" * 50_000, "b": "b" * 900, "c": {"d": ["c" * 50_000, 7]}}
    short = json.loads(shortened(json.dumps(answer), 6_000))
    assert short["b"] == answer["b"]
    assert short["c"]["d"][1] == 7
    assert 1_500 < len(short["a"]) < 3_000
    assert 1_500 < len(short["c"]["d"][0]) < 3_000


def test_of_many_items_the_first_and_the_last_stay_whole():
    rows = [{"row": number, "text": "x" * 60} for number in range(5_000)]
    short = json.loads(shortened(json.dumps({"rows": rows, "total": 5_000}), 4_000))
    assert short["total"] == 5_000
    where = next(n for n, item in enumerate(short["rows"]) if isinstance(item, str))
    assert re.search(r"of 5,000 items left out", short["rows"][where])
    after = len(short["rows"]) - where - 1
    assert where > 5
    assert after > 5
    assert short["rows"][:where] == rows[:where]
    assert short["rows"][where + 1 :] == rows[-after:]


def test_one_huge_item_does_not_push_the_others_out():
    items = ["small", "x" * 100_000, *map(str, range(500))]
    short = json.loads(shortened(json.dumps(items), 4_000))
    assert short[0] == "small"
    assert "characters left out" in short[1]
    assert "499" in short


def test_an_answer_without_a_handle_says_how_to_ask_for_less():
    short = json.loads(shortened(json.dumps({"output": "x" * 9_000}), 2_000, handle=""))
    assert "read_result" not in short["cut"]
    assert "grep" in short["cut"]


def test_a_field_of_that_name_is_not_lost():
    short = json.loads(shortened(json.dumps({"cut": "mine", "output": "x" * 9_000}), 2_000))
    assert short["cut"] == "mine"
    assert "9,0" in short["_cut"]


@pytest.mark.parametrize("levels", [100, 900, 100_000])
def test_depth_is_no_danger(levels):
    text = "[" * levels + '"' + "x" * 200_000 + '"' + "]" * levels
    assert len(shortened(text, 3_000)) <= 3_000


@given(st.lists(st.integers(0, 10_000)), st.integers(0, 50_000))
def test_room_is_shared_so_that_the_largest_give_way_first(sizes, room):
    rooms = allotted(sizes, room)
    assert sum(rooms) <= max(room, 0)
    assert all(given <= size for given, size in zip(rooms, sizes, strict=True))
    if sum(sizes) <= room:
        assert rooms == sizes
    most = max(rooms, default=0)
    assert all(given >= min(size, most - 1) for given, size in zip(rooms, sizes, strict=True))
