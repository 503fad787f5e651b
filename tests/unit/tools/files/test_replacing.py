"""Finding the passage that a model means, and refusing when it is not clear."""

from __future__ import annotations

import pytest

from tools.files.problems import Problem
from tools.files.replacing import find_replacement
from tools.files.text import Text, edited


def replaced(text: str, old: str, new: str) -> tuple[str, str]:
    found = find_replacement(text, old, new, "one")
    return edited(Text(text), found.edits), found.strategy


@pytest.mark.parametrize(
    ("text", "old", "new", "expected", "strategy"),
    [
        ("a\nb\nc", "b", "B", "a\nB\nc", "exact"),
        ("aa  \nbb\t\nc\n", "aa\nbb", "x\ny", "x\ny\nc\n", "ignoring white space at line ends"),
        ("if x:\n\tfoo()\n", "if x:\n    foo()", "if x:\n    foo()\n    bar()",
         "if x:\n\tfoo()\n\tbar()\n", "ignoring indentation"),
        ("say “hi” — now\n", 'say "hi" - now', 'say "hi" - later', "say “hi” — later\n",
         "ignoring typography"),
        ("x = f(a,  b)\n", "x = f(a, b)", "x = g(a, b)", "x = g(a, b)\n", "ignoring typography"),
        ("call(first,second)\n", "call(first, second)", "call(first)", "call(first)\n",
         "ignoring white space"),
        ("a\nb\n", "a\\nb", "a\\nc", "a\nc\n", "with its escapes resolved"),
        ("a\nb\n", "1|a\n2|b", "1|a\n2|c", "a\nc\n", "without the line numbers"),
        ("a = 1\nb = 2\n", "\na = 1 \n\n", "\na = 3\n\n", "a = 3\nb = 2\n",
         "ignoring white space at line ends"),
    ],
)  # fmt: skip
def test_a_passage_is_found_by_the_strictest_comparison(text, old, new, expected, strategy):
    assert replaced(text, old, new) == (expected, strategy)


def test_lines_that_stay_are_those_of_the_file():
    text = "def f():\n    a = 1   # the file's own remark\n    b = 2\n    return a\n"
    old = "def f():\n    a = 1  # the file's remark\n    b = 2\n    return a"
    new = old.replace("b = 2", "b = 3")
    assert replaced(text, old, new) == (text.replace("b = 2", "b = 3"), "similar lines")


def test_a_line_that_changes_must_be_there():
    text = "def f():\n    a = 1\n    b = compute(x)\n    return a\n"
    old = "def f():\n    a = 1\n    b = compute(x, y)\n    return a"
    with pytest.raises(Problem, match="not in the file") as caught:
        replaced(text, old, old.replace("compute", "work"))
    assert caught.value.extra["candidates"]


def test_two_similar_blocks_are_refused():
    block = "def f():\n    a = 1  # remark {}\n    b = 2\n    return a\n"
    text = block.format("one") + block.format("two")
    old = block.format("six").rstrip("\n")
    with pytest.raises(Problem, match="fits 2 places"):
        replaced(text, old, old.replace("b = 2", "b = 3"))


def test_a_fuzzy_match_in_two_places_is_refused():
    with pytest.raises(Problem, match="fits 2 places"):
        replaced("  foo(1)\n  bar()\n\tfoo(1)\n\tbar()\n", "foo(1)\nbar()", "foo(2)\nbar()")


def test_short_text_is_never_matched_loosely():
    with pytest.raises(Problem):
        replaced("a\n  }\n", "\t}\n", "x")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("if a:\n    b()", "if a:\n    b()\n    c()",
         "class X:\n    if a:\n        b()\n        c()\n"),
        ("        if a:\n            b()", "        if z:\n            b()",
         "class X:\n    if z:\n        b()\n"),
        ("if a:\n        b()", "if a:\n        b()\n        c()",
         "class X:\n    if a:\n        b()\n        c()\n"),
    ],
)  # fmt: skip
def test_new_lines_get_the_files_indentation(old, new, expected):
    assert replaced("class X:\n    if a:\n        b()\n", old, new)[0] == expected


def test_deleting_lines_takes_their_line_ends_along():
    assert replaced("  a()\n  b()\n  c()\n", "a()\nb() ", "")[0] == "  c()\n"
    assert replaced("a()\n  b()  \n  c()", "b()\nc()", "")[0] == "a()"
