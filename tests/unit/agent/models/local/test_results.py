"""A small model reads plain words, not JSON."""

from __future__ import annotations

import json

import pytest

from hermes_jupyter.agent.models.local.results import LONGEST, plain


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        (
            "read_file",
            {"content": "1|buy milk\n2|call Bob", "total_lines": 2, "truncated": False},
            "(2 lines)\n1|buy milk\n2|call Bob",
        ),
        ("write_file", {"bytes_written": 6, "lint": {"status": "skipped"}}, "ok: 6 bytes written"),
        (
            "patch",
            {"diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-port: 1\n+port: 2\n"},
            "ok:\n-port: 1\n+port: 2",
        ),
        ("terminal", {"output": "5\n", "exit_code": 0, "error": None}, "5"),
        ("terminal", {"output": "no\n", "exit_code": 2, "error": None}, "no\nexit code 2"),
        ("terminal", {"output": "", "exit_code": 0, "error": None}, "(no output)"),
        (
            "search_files",
            {
                "total_count": 1,
                "matches": [{"path": "lib/zoo.txt", "line": 3, "content": "a zebra"}],
            },
            "1 found\nlib/zoo.txt:3: a zebra",
        ),
        ("search_files", {"total_count": 0, "matches": []}, "nothing found"),
        ("search_files", {"total_count": 1, "files": ["a.py"]}, "files by name:\na.py"),
        ("read_file", {"error": "No such file: x"}, "error: No such file: x"),
        (
            "read_file",
            {"error": "No such file: x.", "similar_files": ["y.txt"]},
            "error: No such file: x. There is: y.txt",
        ),
        ("weather", {"celsius": 3, "wind": None, "rain": []}, '{"celsius": 3}'),
        ("terminal", {"celsius": 3}, '{"celsius": 3}'),
    ],
)
def test_results_become_plain_words(tool, result, expected):
    assert plain(tool, json.dumps(result)) == expected


@pytest.mark.parametrize("text", ["no JSON at all", "[1, 2]", ""])
def test_what_is_no_object_stays_as_it_is(text):
    assert plain("terminal", text) == text


def test_a_long_result_keeps_its_beginning_and_its_end():
    text = plain("terminal", json.dumps({"output": "a" * 20_000 + "the end", "exit_code": 0}))
    assert len(text) < LONGEST + 100
    assert text.startswith("aaa")
    assert text.endswith("the end")


def test_a_result_that_was_cut_says_how_to_see_more():
    text = plain("terminal", json.dumps({"output": "a", "exit_code": 0, "cut": "Use grep."}))
    assert text == "a\n(Use grep.)"


def test_a_line_that_defines_something_comes_before_those_that_use_it():
    lines = ["from a import LIMIT", "print(LIMIT)", "LIMIT = 5", "def limit():", "if x == LIMIT:"]
    matches = [{"path": "x.py", "line": 1, "content": line} for line in lines]
    shown = plain("search_files", json.dumps({"total_count": 5, "matches": matches})).splitlines()
    assert [line.partition(": ")[2] for line in shown[1:]] == [*lines[2:4], *lines[:2], lines[4]]
