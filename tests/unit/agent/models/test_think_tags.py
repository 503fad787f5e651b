"""Thoughts that a server leaves in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.agent.models.think_tags import ThinkTagFilter, parted


def told(*pieces):
    thoughts = ThinkTagFilter()
    deltas = [delta for piece in pieces for delta in thoughts.feed(piece)]
    deltas += thoughts.finish()
    return tuple(
        "".join(delta.text for delta in deltas if delta.kind == kind)
        for kind in ("reasoning", "text")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>Hm.</think>\n\nYes.", ("Hm.", "Yes.")),
        ("\n<thinking>Hm.</thinking>Yes.", ("Hm.", "Yes.")),
        ("<think>a</think><think>b</think>Yes.", ("ab", "Yes.")),
        ("<think>Hm", ("Hm", "")),
        ("<think></think>\n", ("", "")),
        ("Yes, <think> is a tag </think>.", ("", "Yes, <think> is a tag </think>.")),
        ("  <th", ("", "  <th")),
        ("<thin ice>", ("", "<thin ice>")),
    ],
)
def test_thoughts_are_told_from_the_answer(text, expected):
    assert told(text) == expected


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "\n", " ", "x"]), max_size=10),
)
def test_where_the_text_is_cut_makes_no_difference(pieces):
    text = "".join(pieces)
    assert told(*pieces) == told(text) == told(*text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hm, France.\n</think>\n\nParis.", ("Hm, France.", "Paris.")),
        ("Use </think> to close it.", ("", "Use </think> to close it.")),
        ("<think>\nx\n</think>\ny", ("", "<think>\nx\n</think>\ny")),
        ("Paris.", ("", "Paris.")),
    ],
)
def test_thoughts_that_only_an_end_marks_are_parted(text, parts):
    assert parted(text) == parts
