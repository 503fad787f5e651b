"""An answer that was cut goes on without a seam."""

import pytest

from hermes_jupyter.agent.seams import Seam, anchor_of

STORY = "The capital of France is Paris, and the river that runs through it is the Sei"


def after(before, continuation, size):
    shown, begun_anew = [before], []

    def start_over():
        begun_anew.append(1)
        shown.clear()

    seam = Seam(before, shown.append, start_over)
    for start in range(0, len(continuation), size):
        seam.feed(continuation[start : start + size])
    seam.finish()
    return "".join(shown), bool(begun_anew)


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("before", "continuation", "whole"),
    [
        # It begins with the last words, as it is asked to.
        (STORY, f"{anchor_of(STORY)}ne. It is long.", f"{STORY}ne. It is long."),
        (STORY, f"…{anchor_of(STORY)}ne.", f"{STORY}ne."),
        ("One two three. ", "One two three. Four.", "One two three. Four."),
        ("| a | b |\n", "| a | b |\n| c |", "| a | b |\n| c |"),
        # It goes on at once.
        (STORY, "ne. It is long.", f"{STORY} ne. It is long."),
        ("A list:\n", "- one", "A list:\n- one"),
        ("I like", " apples", "I like apples"),
        ("I like", "apples", "I like apples"),
        ("Nothing more.", "", "Nothing more."),
        # It begins in the middle of the last words, or with the word that was cut.
        (STORY, "through it is the Seine.", f"{STORY}ne."),
        (STORY, "Seine.", f"{STORY}ne."),
        # It says everything again.
        (STORY, f"{STORY}ne. It is long.", f"{STORY}ne. It is long."),
        (STORY, STORY, STORY),
        (STORY, STORY[:40], STORY),
        ("Short", "Short but sweet.", "Short but sweet."),
    ],
)
def test_what_was_said_is_not_said_again(before, continuation, whole, size):
    assert after(before, continuation, size) == (whole, False)


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_another_answer_from_the_beginning_replaces_the_first(size):
    other = STORY[:30] + "Paris. That is all."
    assert after(STORY, other, size) == (other, True)


def test_numbers_that_are_equal_by_chance_stay():
    assert after("0 0 1\n0 0 1\n", "0 0 1\n0 1 1\n", 1)[0].startswith("0 0 1\n0 0 1\n")


def test_the_anchor_is_made_of_whole_words():
    assert STORY.endswith(anchor_of(STORY))
    assert STORY[-len(anchor_of(STORY)) - 1] == " "
    assert anchor_of("x" * 100) == "x" * 48
    assert anchor_of("word ") == "word"
