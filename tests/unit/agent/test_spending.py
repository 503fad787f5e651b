"""Ceilings are kept, and not noticed afterwards."""

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.agent.spending import SUMMARY, UNBOUNDED, Ceilings, Spending
from hermes_jupyter.calls import Usage

PRICE = Price(read=1.0, cached=0.1, written=10.0, source="test")
HELLO = [{"role": "user", "content": "hello " * 100}]


def spending(usage=None, messages=HELLO, **ceilings):
    made = Spending(Ceilings(**ceilings))
    if usage:
        made.add(usage, messages)
    return made


def test_without_ceilings_nothing_is_bounded():
    assert spending().answer_limit(HELLO, (), None) == UNBOUNDED


def test_what_a_call_may_write_leaves_room_for_the_summary():
    used = Usage(prompt_tokens=1_000, completion_tokens=500, model_calls=1)
    left = 10_000 - 1_500
    made = spending(used, max_tokens=10_000)
    assert made.answer_limit(HELLO, (), None) == left - 1_000 - 1_000 - SUMMARY
    assert made.answer_limit(HELLO, (), None, is_last=True) == left - 1_000


def test_new_messages_are_estimated_and_old_ones_known():
    made = spending(Usage(prompt_tokens=1_000), max_tokens=9)
    assert made.expected(HELLO, ()) == 1_000
    more = made.expected([*HELLO, {"role": "tool", "content": "x" * 3_000}], ())
    assert 2_000 <= more <= 2_100
    assert made.expected(HELLO[:0], ()) == 0  # it was made shorter: all is estimated anew


def test_money_pays_for_reading_and_for_as_much_writing_as_is_left():
    used = Usage(prompt_tokens=100_000, completion_tokens=1_000, cost=0.11, model_calls=1)
    made = spending(used, max_cost=0.5)
    left = 0.5 - 0.11 - 0.1 - (0.1 + SUMMARY / 1e6 + SUMMARY * 10 / 1e6)
    assert made.answer_limit(HELLO, (), PRICE) == pytest.approx(left / 10 * 1e6, abs=2)
    assert spending(used, max_cost=0.3).answer_limit(HELLO, (), PRICE) == 0
    assert spending(used, max_cost=0.3).answer_limit(HELLO, (), PRICE, is_last=True) > 256


def test_what_was_just_in_the_cache_is_expected_there_again():
    used = Usage(prompt_tokens=100_000, cached_tokens=90_000, cost=0.02, model_calls=1)
    cold = Usage(prompt_tokens=100_000, cost=0.02, model_calls=1)
    warm = spending(used, max_cost=0.2).answer_limit(HELLO, (), PRICE)
    assert warm > 0 == spending(cold, max_cost=0.2).answer_limit(HELLO, (), PRICE)


def test_refunds_are_bounded():
    budget, steps = Budget(3), 0
    while budget.take():
        steps += 1
        budget.refund()
    assert steps == 6
    assert not Budget(3).refund()


def test_what_a_part_takes_is_taken_from_the_whole():
    whole = spending(max_tokens=10_000)
    with whole.part() as part:
        part.add(Usage(prompt_tokens=4_000, model_calls=1), HELLO)
    assert whole.spent.tokens == 4_000
    assert whole.answer_limit(HELLO, (), None) < 6_000


def test_two_parts_are_never_given_the_same_tokens():
    whole = spending(max_tokens=40_000)
    with whole.part() as one, whole.part() as other:
        first = one.answer_limit(HELLO, (), None)
        second = other.answer_limit(HELLO, (), None)
        assert first > second > 0
        read = one.expected(HELLO, ())
        assert first + second + 2 * read <= 40_000
        one.add(Usage(prompt_tokens=read, completion_tokens=10), HELLO)
        assert other.answer_limit(HELLO, (), None) > second


def test_what_a_part_was_about_to_take_is_free_again_when_it_ends():
    whole = spending(max_tokens=40_000)
    alone = whole.answer_limit(HELLO, (), None)
    whole.add(Usage(), HELLO)
    with whole.part() as part:
        assert part.answer_limit(HELLO, (), None) > 0
        assert whole.all_held().tokens > 0
    assert whole.all_held().tokens == 0
    assert whole.answer_limit(HELLO, (), None) == alone


def test_a_part_leaves_room_for_the_last_words_of_whom_it_works_for():
    used = Usage(prompt_tokens=3_000, model_calls=1)
    whole = spending(used, max_tokens=10_000)
    with whole.part() as part, whole.keeping(1_000):
        left = 10_000 - 3_000 - (3_000 + SUMMARY + 1_000)
        read = part.expected(HELLO, ())
        assert part.answer_limit(HELLO, (), None) == left - 2 * read - SUMMARY
    with whole.part() as part:
        assert part.answer_limit(HELLO, (), None, is_last=True) == left + 1_000 - read


def test_money_is_shared_like_tokens():
    whole = spending(max_cost=1.0)
    with whole.part() as one, whole.part() as other:
        first = one.answer_limit(HELLO, (), PRICE)
        second = other.answer_limit(HELLO, (), PRICE)
        assert first > 0
        assert second > 0
        usage = Usage(prompt_tokens=200, completion_tokens=first + second)
        assert PRICE.of(usage) <= 1.0


def test_parts_are_told_apart_although_they_are_equal():
    whole = spending(max_tokens=40_000)
    with whole.part() as first:
        with whole.part():
            pass
        first.answer_limit(HELLO, (), None)
        assert whole.all_held().tokens > 0
