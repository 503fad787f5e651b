"""Reading on in an answer that was cut."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.read_result_tool import MAX_ANSWER_CHARS, STRIDE, read_result

LINES = "".join(f"line {number}\n" for number in range(20_000))


class Kept:
    def __init__(self, text, field=""):
        self.text, self.field = text, field

    def readable(self, handle):
        if handle != "r3":
            raise LookupError(f"there is no result {handle!r}")
        return self.field, self.text

    def known(self):
        return ["r2", "r3"]


def read(text, field="", **args):
    return json.loads(read_result({"handle": "r3", **args}, handles=Kept(text, field)))


def test_a_page_has_its_place_and_the_true_totals():
    page = read(LINES, "output", offset=1_000, limit=50)
    assert page == {
        "handle": "r3",
        "field": "output",
        "content": LINES[1_000:1_050],
        "offset": 1_000,
        "next_offset": 1_050,
        "total_chars": len(LINES),
        "total_lines": 20_001,
    }


@given(st.text(min_size=1, max_size=3_000), st.integers(1, 500))
def test_pages_one_after_the_other_are_the_whole(text, limit):
    got, offset = "", 0
    while offset is not None:
        page = read(text, offset=offset, limit=limit)
        got, offset = got + page["content"], page["next_offset"]
    assert got == text


def test_a_page_is_no_longer_than_an_answer_may_be():
    page = read("\0" * 80_000, limit=80_000)
    assert len(json.dumps(page, ensure_ascii=False)) <= MAX_ANSWER_CHARS
    assert page["next_offset"] == len(page["content"])


def test_behind_the_end_there_is_nothing():
    page = read("short", offset=99)
    assert (page["content"], page["next_offset"], page["total_chars"]) == ("", None, 5)


def test_places_are_found_with_line_and_offset():
    found = read(LINES, pattern="LINE 777")["matches"]
    assert found[0] == {"offset": LINES.index("line 777"), "line": 778, "content": "line 777"}
    assert [match["line"] for match in found] == [778, *range(7_771, 7_781)]


def test_alternatives_are_found_and_signs_mean_themselves():
    text = "a.c\nabc\n(x|y)\nfoo"
    assert [match["line"] for match in read(text, pattern="a.c")["matches"]] == [1]
    assert [match["line"] for match in read(text, pattern="(x|y)")["matches"]] == [3]
    assert [match["line"] for match in read(text, pattern="abc|foo")["matches"]] == [2, 4]


def test_of_many_places_the_first_are_shown_and_the_rest_can_be_had():
    first = read(LINES, pattern="line")
    assert len(first["matches"]) == 50
    assert first["found"] == "10000 or more"
    more = read(LINES, pattern="line", offset=first["next_offset"])
    assert more["matches"][0]["line"] == 51


def test_nothing_found_is_said():
    answer = read(LINES, pattern="nothing like it")
    assert (answer["matches"], answer["found"], answer["next_offset"]) == ([], "0", None)


@pytest.mark.parametrize("at", [STRIDE - 3, STRIDE, STRIDE + 1, 2 * STRIDE - 5])
def test_a_place_is_found_wherever_the_search_pauses(at):
    text = "x" * at + "needle" + "x" * STRIDE
    assert [match["offset"] for match in read(text, pattern="needle")["matches"]] == [at]


@pytest.mark.parametrize("pattern", ["(a+)+$", "a" * 1_000, "|||", "a|" * 499])
def test_no_pattern_takes_long(pattern):
    began = time.monotonic()
    read("a" * 1_000_000, pattern=pattern)
    assert time.monotonic() - began < 5


def test_an_unknown_handle_is_answered_with_those_that_are_there():
    answer = json.loads(read_result({"handle": "r9"}, handles=Kept("x")))
    assert "no result 'r9'" in answer["error"]
    assert "r2, r3" in answer["error"]


@pytest.mark.parametrize("args", [{}, {"handle": 3}, {"handle": "r3", "pattern": "x" * 1_001}])
def test_a_slip_is_an_error(args):
    assert "error" in json.loads(read_result(args, handles=Kept("x")))


def test_without_an_agent_there_is_nothing_to_read():
    answer = json.loads(read_result({"handle": "r1"}))
    assert answer == {"error": "read_result must be handled by the agent loop"}
