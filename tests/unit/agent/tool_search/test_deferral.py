import pytest

from hermes_jupyter.agent.tool_search.deferral import (
    BRIDGE_TOKENS,
    EVERYDAY,
    LEAST_RESIDENT,
    Limits,
    residents,
    tokens_of,
)

LIMITS = Limits(window=10_000, share=20)


def definition(name, words=30):
    return {"type": "function", "function": {"name": name, "description": "word " * words}}


def definitions(count, words=30):
    return [definition(f"tool_{number:03}", words) for number in range(count)]


def shown(tools, limits=LIMITS, used=None, before=frozenset()):
    return sorted(residents(tools, limits, used or {}, before))


def test_what_fits_is_shown_whole():
    assert len(shown(definitions(20))) == 20


def test_what_is_too_much_is_cut_to_the_share():
    tools = definitions(100)
    kept = shown(tools)
    sizes = {each["function"]["name"]: tokens_of(each) for each in tools}
    assert LEAST_RESIDENT < len(kept) < 100
    assert sum(sizes[name] for name in kept) + BRIDGE_TOKENS <= LIMITS.tokens


def test_the_least_used_are_left_out_first():
    used = {"tool_099": 1, "tool_098": 5}
    kept = shown(definitions(100), used=used)
    assert {"tool_098", "tool_099", "tool_000"} <= set(kept)
    assert "tool_097" not in kept


def test_of_the_never_used_the_everyday_ones_stay():
    tools = [*definitions(100), *map(definition, EVERYDAY)]
    assert set(EVERYDAY) <= set(shown(tools))


def test_built_in_tools_are_left_out_as_well():
    tools = [*definitions(100), *map(definition, EVERYDAY)]
    used = {f"tool_{number:03}": 1 for number in range(100)}
    assert "todo" not in shown(tools, used=used)


def test_eight_tools_are_always_shown_however_long():
    tools = definitions(50, words=5_000)
    assert len(shown(tools)) == LEAST_RESIDENT
    assert len(shown(tools[:LEAST_RESIDENT])) == LEAST_RESIDENT


def test_nothing_is_left_out_where_the_bridge_would_cost_more():
    assert len(shown(definitions(9, words=300))) == 9
    assert len(shown(definitions(9, words=500))) == 8


@pytest.mark.parametrize(("limit", "expected"), [(0, 200), (200, 200), (128, 125), (11, 8)])
def test_a_provider_that_takes_so_many_gets_no_more(limit, expected):
    limits = Limits(window=1_000_000, share=100, tool_limit=limit)
    assert len(shown(definitions(200), limits)) == expected


def test_a_share_of_nothing_switches_it_off():
    assert len(shown(definitions(300), Limits(share=0))) == 300


def test_an_unknown_window_is_taken_for_a_common_one():
    assert Limits().tokens == Limits(window=128_000).tokens == 12_800


def test_what_was_shown_before_stays_when_a_tool_comes():
    tools = definitions(100)
    before = frozenset(shown(tools))
    assert frozenset(shown([*tools, definition("a_new_one")], before=before)) >= before


def test_characters_of_other_scripts_count_for_more():
    assert tokens_of({"a": "漢" * 100}) > 2 * tokens_of({"a": "a" * 100})
