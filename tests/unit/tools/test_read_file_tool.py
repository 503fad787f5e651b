"""Reading a file as a model does: through the registry."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import read_file_tool  # noqa: F401  it registers itself
from tools.registry import registry

Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(tmp_path: Path, working_in) -> Read:
    def call(path: Any, **args: Any) -> dict[str, Any]:
        answer = registry.dispatch("read_file", {"path": path, **args}, **working_in(tmp_path))
        return json.loads(answer)

    return call


@pytest.fixture
def guard(tmp_path: Path, working_in) -> Callable[..., Any]:
    entry = registry.get_entry("read_file")
    assert entry is not None
    assert entry.guard_fn is not None
    return lambda **args: entry.guard_fn(args, **working_in(tmp_path))


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_are_numbered_and_counted_whether_or_not_the_last_one_ends(read, tmp_path, end):
    (tmp_path / "a.txt").write_text("one\ntwo" + end)
    answer = read("a.txt")
    assert answer["content"] == "1|one\n2|two"
    assert (answer["total_lines"], answer["truncated"]) == (2, False)
    assert answer["resolved_path"] == str(tmp_path / "a.txt")


def test_a_page_says_where_the_next_one_begins(read, tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    answer = read("a.txt", offset="4", limit=2)
    assert answer["content"] == "4|line 4\n5|line 5"
    assert (answer["truncated"], answer["next_offset"], answer["total_lines"]) == (True, 6, 10)
    assert "offset=6" in answer["hint"]


def test_the_last_page_is_not_truncated(read, tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\nc\n")
    answer = read("a.txt", offset=2, limit=2)
    assert answer["content"] == "2|b\n3|c"
    assert answer["truncated"] is False
    assert "next_offset" not in answer


def test_an_offset_behind_the_end_is_explained(read, tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    assert read("a.txt", offset=9)["hint"] == "There is no line 9; the file has 1 lines."


def test_an_empty_file_says_so(read, tmp_path):
    (tmp_path / "a.txt").touch()
    answer = read("a.txt")
    assert (answer["content"], answer["total_lines"]) == ("", 0)
    assert answer["hint"] == "The file is empty."


def test_a_byte_order_mark_is_not_content(read, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read("a.txt")["content"] == "1|one\n2|two"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "latin-1"])
def test_an_encoding_other_than_utf_8_is_named(read, tmp_path, encoding):
    bom = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "a.txt").write_bytes((bom + "naïve\nzwei\n").encode(encoding))
    answer = read("a.txt")
    assert answer["content"] == "1|naïve\n2|zwei"
    assert answer["total_lines"] == 2
    assert answer["encoding"].startswith(encoding)


def test_a_long_line_is_cut_with_a_mark(read, tmp_path):
    (tmp_path / "a.txt").write_text("x" * 5_000 + "\nshort\n")
    first, second = read("a.txt")["content"].split("\n")
    assert first == "1|" + "x" * 2_000 + " …[line cut here; it has 5,000 bytes in all]"
    assert second == "2|short"


def test_characters_are_not_cut_in_two(read, tmp_path):
    (tmp_path / "a.txt").write_text("€" * 9_000, encoding="utf-8")
    answer = read("a.txt")
    assert answer["content"].startswith("1|" + "€" * 2_000 + " …[")
    assert "encoding" not in answer


def test_a_large_page_ends_early_and_says_so(read, tmp_path):
    (tmp_path / "a.txt").write_text(("x" * 1_000 + "\n") * 300)
    answer = read("a.txt")
    assert len(answer["content"]) <= 100_000
    assert (answer["truncated"], answer["truncated_by"]) == (True, "bytes")
    assert read("a.txt", offset=answer["next_offset"], limit=1)["content"].startswith("100|")


def test_a_binary_file_is_not_shown(read, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\0\0\1")
    answer = read("a.bin")
    assert (answer["is_binary"], answer["is_image"], answer["content"]) == (True, False, "")
    assert answer["hint"]


def test_an_image_is_sent_to_the_tool_that_sees(read, tmp_path):
    (tmp_path / "a.dat").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    answer = read("a.dat")
    assert answer["is_image"]
    assert "vision_analyze" in answer["hint"]


def test_a_notebook_is_shown_as_its_cells(read, tmp_path):
    output = {"output_type": "stream", "name": "stdout", "text": ["4", "2\n"]}
    cells = [
        {"cell_type": "markdown", "source": "# Title"},
        {
            "cell_type": "code",
            "source": ["print(\n", "42)"],
            "execution_count": 3,
            "outputs": [output],
        },
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    answer = read("a.ipynb")
    assert answer["extracted_document"] is True
    assert "1|# --- cell 1: markdown ---\n2|# Title\n" in answer["content"]
    assert "5|print(\n6|42)\n7|# --- output of cell 2 ---\n8|42" in answer["content"]


def test_a_broken_notebook_is_shown_raw(read, tmp_path):
    (tmp_path / "a.ipynb").write_text("{oops")
    answer = read("a.ipynb")
    assert answer["content"] == "1|{oops"
    assert "no valid notebook" in answer["hint"]


def test_reading_twice_gives_the_content_twice(read, tmp_path):
    (tmp_path / "a.txt").write_text("same\n")
    assert read("a.txt") == read("a.txt")


@pytest.mark.parametrize(
    ("asked", "there"),
    [("Report.md", "report.md"), ("reprot.md", "report.md"), ("report.txt", "report.md")],
)
def test_a_missing_file_is_answered_with_similar_names(read, tmp_path, asked, there):
    (tmp_path / there).touch()
    (tmp_path / "zebra").touch()
    answer = read(asked)
    assert answer["error"] == f"No such file: {tmp_path / asked}"
    assert answer["similar_files"] == [there]


def test_a_file_of_that_name_in_another_folder_is_found(read, tmp_path):
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "notes.txt").touch()
    assert read("notes.txt")["similar_files"] == ["docs/deep/notes.txt"]


def test_a_folder_is_answered_with_its_entries(read, tmp_path):
    (tmp_path / "docs" / "inner").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").touch()
    answer = read("docs")
    assert "is a folder" in answer["error"]
    assert answer["entries"] == ["a.md", "inner/"]


def test_a_pipe_is_refused_without_waiting(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "device, pipe or socket" in read("pipe")["error"]
    assert "device, pipe or socket" in read("/dev/zero")["error"]


def test_a_loop_of_links_is_an_error(read, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "loop of symbolic links" in read("a")["error"]


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "\ud800", None, 7, ["a"]])
def test_a_path_that_is_none_is_an_error(read, guard, path):
    assert read(path)["error"]
    assert guard(path=path) is None


def test_a_very_long_path_is_an_error(read, guard):
    assert read("x" * 5_000)["error"].endswith("the name is too long")
    assert guard(path="x" * 5_000) is None


def test_a_name_with_a_line_feed_is_a_name(read, tmp_path):
    (tmp_path / "a\nb.txt").write_text("ok")
    assert read("a\nb.txt")["content"] == "1|ok"


def test_paths_begin_in_the_environments_folder(tmp_path):
    class Shell:
        cwd = str(tmp_path)

    (tmp_path / "a.txt").write_text("here")
    answer = registry.dispatch("read_file", {"path": "a.txt"}, cwd="/", environment=Shell())
    assert json.loads(answer)["content"] == "1|here"


@pytest.mark.parametrize("way", ["local"], indirect=True)
def test_a_cancelled_call_stops_counting(tmp_path, working_in):
    (tmp_path / "a.txt").write_text("x\n" * 1_000_000)
    cancelled = threading.Event()
    cancelled.set()
    answer = json.loads(
        registry.dispatch(
            "read_file", {"path": "a.txt", "limit": 1}, **working_in(tmp_path), cancelled=cancelled
        )
    )
    assert (answer["content"], answer["total_lines"], answer["truncated"]) == ("1|x", None, True)


@pytest.mark.parametrize(
    "path",
    ["~/.ssh/id_rsa", "~/.ssh/work", "~/.aws/credentials", "~/.netrc", ".env", "x/.env.local",
     "/etc/shadow", "/proc/1/environ", "server.pem", "~/.SSH/id_rsa"],
)  # fmt: skip
def test_a_secret_needs_consent(guard, path):
    objection = guard(path=path)
    assert objection is not None
    assert not objection.forbidden
    assert objection.reason.startswith("reads ")


@pytest.mark.parametrize(
    "path", ["a.txt", ".env.example", "id_rsa.pub", "environment.py", "~/.ssh/config"]
)
def test_an_ordinary_file_needs_none(guard, path):
    assert guard(path=path) is None


def test_a_link_to_a_secret_needs_consent(guard, tmp_path):
    (tmp_path / "innocent.txt").symlink_to(tmp_path / "x" / ".netrc")
    assert guard(path="innocent.txt") is not None
