"""Patterns find the lines that a line-by-line search finds, and never hang."""

from __future__ import annotations

import re

import pytest

from tools.files.patterns import compile_pattern, is_explosive

TEXT = "alpha\n\n  beta gamma\nalpha beta\n" + "x" * 30_000 + "needle 42\nlast"


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize(
    "pattern", ["alpha", "^alpha$", r"^\s*$", r"beta\s", r"\d+", "a$", "", "x*", r"[^a-z\n]+",
                r"\Alast", "zz", r"needle \d+$", r"x+needle"],
)  # fmt: skip
def test_lines_are_those_of_a_search_line_by_line(pattern, end):
    expected = [at for at, line in enumerate(TEXT.split("\n")) if re.search(pattern, line)]
    if pattern == "x+needle":
        expected = [4]
    assert [hit.line for hit in compile_pattern(pattern).hits(TEXT + end)] == expected


def test_a_hit_says_where_in_the_line_it_is():
    (hit,) = compile_pattern("gamma").hits(TEXT)
    assert (hit.line, hit.start, hit.end) == (2, 7, 12)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+b", r"(\w+\s*)*x", "((ab)*c)*", "(a{1,}){2,}b", "(?:a*)*", ".*a.*b.*c.*d"],
)
def test_patterns_that_may_explode_are_known(pattern):
    assert is_explosive(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "abc",
        r"def \w+\(.*\):",
        "(foo|bar)",
        "(ab)+c",
        r"[(+*]+x",
        r"\(a+\)+",
        "a{3}",
        r"^\s*(\w+)\s*=",
        "(",
    ],
)
def test_ordinary_patterns_are_not_suspected(pattern):
    assert not is_explosive(pattern)
