"""Differences agree with what `difflib` and `patch` expect."""

from __future__ import annotations

import difflib
import random

from tools.files.diffs import capped, unified_diff


def test_differences_are_those_of_difflib():
    choose = random.Random(7)
    for _ in range(200):
        old = [f"line {choose.randrange(8)}\n" for _ in range(choose.randrange(1, 30))]
        new = [line for line in old if choose.random() > 0.1]
        new.insert(choose.randrange(len(new) + 1), "new\n")
        expected = "".join(difflib.unified_diff(old, new, "a", "b"))
        ours = unified_diff("".join(old), "".join(new), "a", "b")
        assert _applied(old, ours) == new
        assert ours.count("\n@@") == expected.count("\n@@") or len(ours) <= len(expected)


def test_a_large_difference_is_summed_up():
    diff = unified_diff("a\n" * 15_000, "b\n" * 15_000, "a", "b")
    assert diff.endswith("[15,000 lines replaced by 15,000 lines]\n")


def test_what_is_cut_is_counted():
    assert capped("1\n2\n3\n4\n", 2, 100) == "1\n2\n…[cut: 3 lines more]"
    assert capped("1\n2", 5, 100) == "1\n2"


def _applied(old: list[str], diff: str) -> list[str]:
    """Apply a unified difference by the line numbers in it."""
    result, at = [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (count != "0")
            result += old[at:start]
            at = start
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            result += [line[1:]] if line[0] == " " else []
    return result + old[at:]
