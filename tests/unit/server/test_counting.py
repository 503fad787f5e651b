import json

from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.server.counting import MOST_GUESSED, Counter, guess

PRICE = Price(read=1e6, cached=1e5, written=2e6, source="test")
CHAT = {
    "usage": {
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
    }
}  # fmt: skip
RESPONSES = {
    "type": "response.completed",
    "response": {
        "usage": {
            "input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
        }
    },
}  # fmt: skip
GUESSED = guess(b"x" * 400, 0, PRICE)


def counted(*blocks, cut_after=None):
    counter = Counter()
    for block in blocks:
        counter.add(block)
    return counter.took(GUESSED, PRICE, cut_after)


def frames(*told):
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in told)


def test_usage_is_read_from_a_stream_however_it_is_cut():
    whole = frames({"choices": [1]}, CHAT) + b"data: [DONE]\n\n"
    for size in (1, 7, 1000):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        took = counted(*pieces)
        assert (took.read, took.written, round(took.cost, 6)) == (10, 5, 6 + 0.4 + 10)


def test_usage_is_read_from_both_interfaces_and_from_answers_in_one_piece():
    assert counted(frames(RESPONSES)).tokens == 15
    assert counted(json.dumps(CHAT).encode()).tokens == 15


def test_a_cost_that_the_provider_reports_counts():
    told = {"usage": {**CHAT["usage"], "cost": 0.25}}
    assert counted(frames(told)).cost == 0.25


def test_an_answer_that_was_cut_counts_by_its_size():
    took = counted(frames(*[{"choices": [1]}] * 7))
    assert (took.read, took.written) == (100, 7)


def test_an_answer_that_never_came_took_nothing():
    assert (counted().tokens, counted().calls) == (0, 1)


def test_who_leaves_before_the_answer_pays_for_what_was_thought_until_then():
    took = counted(cut_after=4.0)
    assert (took.read, took.written) == (100, 200)
    assert counted(frames(*[{"choices": [1]}] * 7), cut_after=0.01).written == 7
    assert counted(frames(CHAT), cut_after=4.0).written == 5  # it has said so itself


def test_room_is_kept_for_the_answer():
    assert guess(b"x" * 400, 50, PRICE).cost == 100 * 1 + 50 * 2


def test_a_large_request_is_not_taken_for_more_than_a_window():
    assert guess(b"x" * 10_000_000, 0, None).read == MOST_GUESSED


def test_what_looks_like_usage_and_is_none_changes_nothing():
    told = [{"usage": None}, {"usage": "x"}, {"usage": {"prompt_tokens": -5, "cost": "free"}}]
    assert counted(frames(*told), b'data: {"usage"\n').read == 0
