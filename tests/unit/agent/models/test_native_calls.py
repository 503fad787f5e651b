"""Tool calls in the pieces that servers stream."""

import pytest

from hermes_jupyter.agent.models.native_calls import CallAssembler


def piece(name=None, arguments=None, **place):
    return {**place, "function": {"name": name, "arguments": arguments}}


def assembled(*pieces):
    calls = CallAssembler()
    for one in pieces:
        calls.add([one])
    return calls.finish()


def facts(calls):
    return [(call.name, call.arguments) for call in calls]


def test_pieces_at_an_index_are_one_call():
    calls = assembled(
        piece("a", "", index=0, id="x"), piece("", '{"n"', index=0), piece(None, ": 1}", index=0)
    )
    assert [(call.id, call.name, call.arguments) for call in calls] == [("x", "a", '{"n": 1}')]


def test_two_calls_may_arrive_interleaved():
    calls = assembled(
        piece("a", "", index=0, id="x"),
        piece("b", "", index=1, id="y"),
        piece(None, "{}", index=1),
        piece(None, "[]", index=0),
    )
    assert facts(calls) == [("a", "[]"), ("b", "{}")]


def test_a_name_that_is_repeated_in_every_piece_counts_once():
    calls = assembled(*(piece("read", part, index=0, id="x") for part in ("{", '"a"', ": 1}")))
    assert facts(calls) == [("read", '{"a": 1}')]


@pytest.mark.parametrize("names", [("read", "_file"), ("read", "read_file")])
def test_a_name_may_come_in_parts_or_grow(names):
    calls = assembled(*(piece(name, None, index=0) for name in names), piece("", "{}", index=0))
    assert facts(calls) == [("read_file", "{}")]


def test_calls_that_all_have_index_0_are_told_apart_by_id():
    calls = assembled(piece("a", "{}", index=0, id="x"), piece("a", "{}", index=0, id="y"))
    assert [call.id for call in calls] == ["x", "y"]


@pytest.mark.parametrize("place", [{}, {"index": 0}, {"index": 0, "id": ""}])
def test_calls_without_ids_are_told_apart_by_complete_arguments(place):
    calls = assembled(
        piece("a", '{"n":', **place), piece(None, "1}", **place), piece("a", '{"n":2}', **place)
    )
    assert facts(calls) == [("a", '{"n":1}'), ("a", '{"n":2}')]
    assert len({call.id for call in calls}) == 2


def test_a_piece_with_an_id_and_no_index_goes_to_its_call():
    calls = assembled(
        piece("a", "", id="x"), piece("b", "", id="y"), piece(None, "1", id="x"), piece(None, "2")
    )
    assert facts(calls) == [("a", "1"), ("b", "2")]


def test_a_missing_id_is_made_up():
    (call,) = assembled(piece("a", "{}", index=0, id=None))
    assert call.id.startswith("call_")
    assert len(call.id) > len("call_")


def test_arguments_that_are_an_object_become_text():
    assert facts(assembled(piece("a", {"n": 1}, index=0))) == [("a", '{"n": 1}')]


def test_whole_calls_with_the_same_id_stay_two_with_ids_of_their_own():
    calls = CallAssembler()
    calls.add_whole([piece("a", "{}", id="x"), piece("a", "{}", id="x")])
    assert len({call.id for call in calls.finish()}) == 2


@pytest.mark.parametrize("odd", [None, "x", [None], [{}], [{"index": 0, "function": None}]])
def test_what_is_no_call_is_ignored(odd):
    calls = CallAssembler()
    calls.add(odd)
    assert calls.finish() == ()
