"""Searching, through the registry."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import search_files_tool
from tools.registry import registry


@pytest.fixture
def search(tmp_path: Path, working_in) -> Callable[..., dict[str, Any]]:
    def call(pattern: Any, **args: Any) -> dict[str, Any]:
        args = {"pattern": pattern, **args}
        return json.loads(registry.dispatch("search_files", args, **working_in(tmp_path)))

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("import os\n\ndef main():\n    return os\n")
    (tmp_path / "src" / "my notes.md").write_text("about main\n")
    (tmp_path / "README.md").write_text("Readme\n")
    return tmp_path


def test_matches_have_path_line_and_text(search, tree):
    answer = search("main")
    assert answer == {
        "total_count": 2,
        "matches": [
            {"path": "src/main.py", "line": 3, "content": "def main():"},
            {"path": "src/my notes.md", "line": 1, "content": "about main"},
        ],
        "truncated": False,
    }


def test_totals_are_true_and_pages_join(search, tmp_path):
    for number in range(20):
        (tmp_path / f"{number:02}.txt").write_text("hit\n" * 10)
    first = search("hit", limit=15)
    assert (first["total_count"], first["truncated"], first["next_offset"]) == (200, True, 15)
    rest = search("hit", limit=500, offset=15)
    assert (len(rest["matches"]), rest["truncated"]) == (185, False)
    assert rest["matches"][0] == {"path": "01.txt", "line": 6, "content": "hit"}


@pytest.mark.parametrize(
    ("mode", "key", "expected", "total"),
    [
        ("files_only", "files", ["a.txt", "b.txt"], 2),
        ("count", "counts", {"a.txt": 2, "b.txt": 1}, 3),
    ],
)
def test_files_and_counts_can_be_asked_for(search, tmp_path, mode, key, expected, total):
    (tmp_path / "a.txt").write_text("x\nx x\n")
    (tmp_path / "b.txt").write_text("x\n")
    answer = search("x", output_mode=mode)
    assert (answer[key], answer["total_count"], answer["truncated"]) == (expected, total, False)


def test_context_is_what_stands_around(search, tree):
    match = search("def main", context=1)["matches"][0]
    assert (match["before"], match["after"]) == ([""], ["    return os"])


def test_only_files_that_fit_the_glob_are_searched(search, tree):
    assert [each["path"] for each in search("main", file_glob="*.{md,txt}")["matches"]] == [
        "src/my notes.md"
    ]
    assert search("main", file_glob="src/*.py, *.txt")["total_count"] == 1


def test_a_long_line_is_shown_around_its_match(search, tmp_path):
    (tmp_path / "a.txt").write_text("x" * 3_000 + "needle" + "y" * 3_000)
    content = search("needle")["matches"][0]["content"]
    assert "needle" in content
    assert len(content) == 502
    assert content[0] == content[-1] == "…"


def test_line_numbers_in_a_notebook_are_those_of_read_file(search, tmp_path):
    notebook = {"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}], "nbformat": 4}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    assert search("b = 2")["matches"][0]["line"] == 3


def test_a_pattern_that_is_no_expression_is_taken_literally(search, tmp_path):
    (tmp_path / "a.txt").write_text("call f(x\n")
    answer = search("f(x")
    assert answer["total_count"] == 1
    assert "literally" in answer["note"]


def test_other_case_is_tried_and_said(search, tree):
    answer = search("README")
    assert answer["matches"][0]["content"] == "Readme"
    assert "in another" in answer["note"]


def test_contents_without_a_hit_fall_back_to_names(search, tree):
    answer = search("main.py")
    assert answer["files"] == ["src/main.py"]
    assert "files have such a name" in answer["note"]


def test_names_without_a_hit_fall_back_to_contents(search, tree):
    answer = search("import", target="files")
    assert answer["matches"][0]["line"] == 1
    assert "No file is named" in answer["note"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("*.md", ["README.md", "src/my notes.md"]), ("readme", ["README.md"]),
     ("src/*.py", ["src/main.py"]), ("**/*.py", ["src/main.py"]), ("*.{py,txt}", ["src/main.py"]),
     ("src/m", ["src/main.py", "src/my notes.md"])],
)  # fmt: skip
def test_names_fit_a_glob_or_contain_a_word(search, tree, pattern, expected):
    assert search(pattern, target="files")["files"] == expected


def test_nothing_found_is_an_answer(search, tree):
    answer = search("zzz")
    assert (answer["total_count"], answer["matches"], answer["truncated"]) == (0, [], False)
    assert answer["note"]


def test_folders_of_tools_and_binary_files_are_left_out(search, tmp_path):
    for folder in (".git", "node_modules", "__pycache__", "env"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("hit")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "a.bin").write_bytes(b"hit\0")
    answer = search("hit")
    assert answer["total_count"] == 0
    assert answer["left_out"] == {"skipped_folders": 4}
    assert search("hit", path="node_modules")["total_count"] == 1


def test_what_git_ignores_is_left_out(search, tmp_path):
    pytest.importorskip("pathspec")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
    (tmp_path / "build").mkdir()
    for name in ("a.log", "keep.log", "b.txt", "build/c.txt"):
        (tmp_path / name).write_text("hit")
    assert [each["path"] for each in search("hit")["matches"]] == ["b.txt", "keep.log"]
    assert search("hit", path="build")["total_count"] == 1


def test_secrets_are_left_out_of_a_search_and_counted(search, tmp_path):
    (tmp_path / ".env").write_text("KEY=hit")
    (tmp_path / "link.txt").symlink_to(".env")
    answer = search("hit")
    assert answer["total_count"] == 0
    assert answer["left_out"] == {"files_with_secrets": 2}


@pytest.mark.parametrize(
    ("path", "asks"), [(".aws/sso", True), (".env", True), (".", False), (7, False)]
)
def test_searching_a_secret_place_needs_consent(tmp_path, path, asks, working_in):
    (tmp_path / ".aws" / "sso").mkdir(parents=True)
    entry = registry.get_entry("search_files")
    assert entry is not None
    assert entry.guard_fn is not None
    assert bool(entry.guard_fn({"pattern": "x", "path": path}, **working_in(tmp_path))) is asks


def test_a_search_that_a_person_has_agreed_to_shows_secrets(search, tmp_path):
    (tmp_path / ".aws" / "sso").mkdir(parents=True)
    (tmp_path / ".aws" / "sso" / "token.json").write_text("hit")
    assert search("hit", path=".aws/sso")["total_count"] == 1


def test_loops_of_links_end(search, tmp_path):
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "a").symlink_to("a")
    (tmp_path / "b.txt").write_text("hit")
    assert search("hit")["total_count"] == 1


def test_names_of_any_kind_give_valid_json(search, tmp_path):
    (tmp_path / "line\nfeed.txt").write_text("hit")
    (tmp_path / os.fsdecode(b"latin\xe9.txt")).write_text("hit")
    answer = search("hit")
    assert answer["total_count"] == 2
    json.dumps(answer).encode("utf-8")


def test_a_deep_tree_is_no_problem(search, tmp_path):
    deep = tmp_path.joinpath(*["d"] * 500)
    deep.mkdir(parents=True)
    (deep / "a.txt").write_text("hit")
    assert search("hit")["total_count"] == 1


def test_a_pattern_over_several_lines_matches(search, tree):
    assert search(r"import os\n\ndef")["matches"] == [
        {"path": "src/main.py", "line": 1, "content": "import os"}
    ]


@pytest.mark.parametrize(
    "args",
    [{"pattern": ""}, {"pattern": None}, {"pattern": 7}, {"pattern": "x", "path": "none"},
     {"pattern": "x", "path": "\0"}, {"pattern": "x", "path": "/dev/zero"},
     {"pattern": "x", "limit": "many"}, {"pattern": "x", "target": "other"}],
)  # fmt: skip
def test_arguments_that_make_no_sense_are_errors(search, args):
    assert search(**args)["error"]


@pytest.mark.parametrize("way", ["local", "python"], indirect=True)
def test_an_explosive_pattern_ends_with_the_deadline(search, tmp_path, monkeypatch):
    monkeypatch.setattr(search_files_tool, "SECONDS", 0.5)
    (tmp_path / "a.txt").write_text("a" * 50 + "!")
    answer = search("(a+)+$")
    assert answer["truncated"] is True
    assert answer["limit_reason"].startswith("at least 0: stopped after")


@pytest.mark.parametrize("way", ["local", "python"], indirect=True)
def test_an_explosive_pattern_that_matches_is_found_all_the_same(search, tmp_path):
    (tmp_path / "a.txt").write_text("x\naaa\n")
    assert search("(a+)+$")["matches"] == [{"path": "a.txt", "line": 2, "content": "aaa"}]


def test_a_cancelled_search_says_so(tmp_path, working_in):
    (tmp_path / "a.txt").write_text("hit")
    cancelled = threading.Event()
    cancelled.set()
    answer = json.loads(
        registry.dispatch(
            "search_files", {"pattern": "hit"}, **working_in(tmp_path), cancelled=cancelled
        )
    )
    assert answer["truncated"] is True
    assert "interrupted" in answer["limit_reason"]
