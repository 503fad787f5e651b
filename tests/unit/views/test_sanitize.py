from __future__ import annotations

from hermes_jupyter.views.sanitize import (
    clean,
    escape,
    head_and_tail,
    last_lines,
    one_line,
    reveal,
)


def test_escape_sequences_and_control_characters_vanish(hostile):
    cleaned = clean(hostile)
    assert "red" in cleaned
    assert not {"\x1b", "\x00", "\x07", "\u202e", "\u2066", "\ud800"} & set(cleaned)


def test_a_carriage_return_overwrites_its_line():
    assert clean("10 %\r50 %\r100 %\r\nnext\r") == "100 %\nnext"


def test_two_halves_of_an_emoji_become_one_character():
    assert clean("\ud83d\ude00") == "😀"


def test_cleaned_text_can_be_encoded(hostile):
    assert clean(hostile).encode("utf-8")


def test_escaped_text_fits_into_an_attribute(hostile):
    assert not {"<", ">", '"', "'"} & set(escape(hostile))


def test_what_has_no_ink_is_revealed():
    shown = reveal("rm x \u202e\u200b\u3164\ufe0f\x1b\r\ud800\u00a0\U000e0041\n\ty")
    assert shown == (
        "rm x ⟨U+202E⟩⟨U+200B⟩⟨U+3164⟩⟨U+FE0F⟩⟨U+001B⟩⟨U+000D⟩⟨U+D800⟩⟨U+00A0⟩⟨U+E0041⟩\n\ty"
    )


def test_revealing_leaves_letters_of_all_scripts():
    assert reveal("naïve Ελλάδα 日本語 עברית 😀") == "naïve Ελλάδα 日本語 עברית 😀"


def test_a_line_is_cut_and_says_so():
    assert one_line("a\n  b\tc", 10) == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_long_text_keeps_both_ends_and_the_count():
    shortened = head_and_tail("a" * 500 + "b" * 500, 300)
    assert shortened.startswith("a" * 200)
    assert shortened.endswith("b" * 100)
    assert "700 of 1,000 characters left out" in shortened


def test_last_lines_skip_empty_ones():
    assert last_lines("a\nb\n\n  \n", 1) == ["b"]
