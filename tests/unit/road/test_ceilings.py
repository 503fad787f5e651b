"""Shares of the window: the largest results give way first, and later ones get less."""

import json

import pytest

from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.road.ceilings import Ceilings, ceilings, fit
from hermes_jupyter.store.handles import Handles
from tools.registry import tool_result


def result(name, text, **about):
    return ToolResult(call=ToolCall(id=name, name=name), text=text, **about)


@pytest.fixture
def handles(tmp_path):
    handles = Handles(tmp_path, "main")
    yield handles
    handles.close()


@pytest.mark.parametrize(
    ("window", "most", "step"),
    [
        (8_192, 8_000, 16_000),
        (32_000, 19_200, 38_400),
        (0, 76_800, 153_600),
        (1_000_000, 600_000, 1_200_000),
    ],
)
def test_ceilings_grow_with_the_window_and_have_a_floor(window, most, step):
    found = ceilings(window)
    assert (found.result, found.step) == (most, step)


def test_later_steps_of_a_turn_get_less_and_never_less_than_the_floor():
    whole = ceilings(128_000)
    rooms = [whole.after(spent).step for spent in (0, 100_000, 200_000, 280_000, 10**9)]
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[-1] == 16_000
    assert whole.after(10**9).result == 16_000
    assert ceilings(8_192).after(10**9).result == 8_000


def test_the_largest_give_way_first_and_all_is_kept_whole(handles):
    texts = {
        "a": tool_result(output="a" * 500),
        "b": "b" * 30_000,
        "c": tool_result(output="c" * 90_000),
    }
    most = Ceilings(result=50_000, step=20_000, turn=100_000)
    short = fit([result(name, text) for name, text in texts.items()], most, handles)
    assert short[0].text == texts["a"]
    assert sum(len(each.text) for each in short) <= 20_000
    assert abs(len(short[1].text) - len(short[2].text)) < 300
    assert [handles.whole(each.handle) for each in short[1:]] == [texts["b"], texts["c"]]
    assert [each.total_chars for each in short] == [0, 30_000, 90_000]


def test_what_was_cut_before_is_cut_anew_from_the_whole(handles):
    whole = tool_result(output="".join(f"{number} " for number in range(50_000)))
    handle = handles.keep(whole)
    before = result("t", tool_result(output="0 1 2 ... 49999" * 1_000, cut="old"), handle=handle)
    [after] = fit([before], Ceilings(result=8_000, step=16_000, turn=1), handles)
    assert after.handle == handle
    assert handles.known() == [handle]
    assert json.loads(after.text)["output"].startswith("0 1 2 3 4 5")
    assert "old" not in after.text


def test_what_is_no_longer_kept_is_cut_as_it_is(handles):
    [after] = fit([result("t", "x" * 9_000, handle="r9")], ceilings(8_192), handles)
    assert len(after.text) <= 8_000
    assert handles.whole(after.handle) == "x" * 9_000


def test_a_page_gets_shorter_and_is_not_kept_again(handles):
    text = "".join(f"line {number}\n" for number in range(5_000))
    page = tool_result(handle="r1", content=text[100:40_100], offset=100, next_offset=40_100)
    [short] = fit([result("read_result", page)], ceilings(8_192), handles)
    found = json.loads(short.text)
    assert 7_000 < len(short.text) <= 8_000
    assert text[100 : found["next_offset"]] == found["content"]
    assert handles.known() == []


def test_of_many_places_the_last_are_left_for_later(handles):
    matches = [{"offset": n * 10, "line": n, "content": "x" * 300} for n in range(50)]
    page = tool_result(handle="r1", matches=matches, next_offset=None)
    [short] = fit([result("read_result", page)], ceilings(8_192), handles)
    found = json.loads(short.text)
    assert len(short.text) <= 8_000
    assert found["next_offset"] == 10 * len(found["matches"])


def test_the_hint_is_told_where_something_is_cut():
    [short] = fit([result("t", "x" * 9_000)], ceilings(8_192), None, hint="Be brief.")
    assert "Be brief." in short.text
