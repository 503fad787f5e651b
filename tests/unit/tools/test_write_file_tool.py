"""Writing whole files: all or nothing, and asked for where it replaces something."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.places import without_place
from tools import write_file_tool  # noqa: F401  it registers itself
from tools.registry import registry


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def write(workspace: Path, working_in) -> Callable[..., dict[str, Any]]:
    def call(path: Any, content: Any, **context: Any) -> dict[str, Any]:
        args = {"path": path, "content": content}
        return json.loads(registry.dispatch("write_file", args, **working_in(workspace), **context))

    return call


@pytest.fixture
def guard(workspace: Path, working_in) -> Callable[..., Any]:
    entry = registry.get_entry("write_file")
    assert entry is not None
    assert entry.guard_fn is not None

    def call(path: Any, content: Any, **context: Any) -> Any:
        args = {"path": path, "content": content}
        return without_place(entry.guard_fn(args, **working_in(workspace), **context))

    return call


def test_a_new_file_is_written_and_described(write, workspace):
    answer = write("a.txt", "größe\n")
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "größe\n"
    assert answer == {
        "bytes_written": 8,
        "dirs_created": False,
        "lint": {"status": "skipped"},
        "resolved_path": str(workspace / "a.txt"),
        "files_modified": [str(workspace / "a.txt")],
    }


def test_missing_folders_are_made_and_told_of_once(write):
    assert write("x/y/a.txt", "a")["dirs_created"] is True
    assert write("x/y/b.txt", "b")["dirs_created"] is False


def test_mode_and_link_stay(write, workspace):
    target = workspace / "script.sh"
    target.write_text("old")
    target.chmod(0o751)
    (workspace / "link").symlink_to("script.sh")
    assert write("link", "new")["resolved_path"] == str(target)
    assert (workspace / "link").is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o751


def test_line_ends_and_byte_order_mark_stay(write, workspace):
    (workspace / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    write("a.txt", "uno\ndos\r\n")
    assert (workspace / "a.txt").read_bytes() == b"\xef\xbb\xbfuno\r\ndos\r\n"


def test_an_old_encoding_stays_or_says_why_not(write, workspace):
    (workspace / "a.txt").write_bytes("naïve".encode("latin-1"))
    write("a.txt", "naïf")
    assert (workspace / "a.txt").read_bytes() == "naïf".encode("latin-1")
    assert "latin-1" in write("a.txt", "→")["error"]
    assert (workspace / "a.txt").read_bytes() == "naïf".encode("latin-1")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", '{"a": }'), ("a.toml", "a = = 1"), ("a.yaml", "a: [1, 2"), ("a.yml", "a: b: c"),
     ("a.ipynb", '{"cells": 1}'), ("a.json", "[" * 100_000)],
)  # fmt: skip
def test_data_that_does_not_parse_is_refused_before_it_touches_the_disk(
    write, workspace, name, content
):
    (workspace / name).write_text("old")
    answer = write(name, content)
    assert "Nothing was written" in answer["error"]
    assert (answer["bytes_written"], answer["dirs_created"]) == (0, False)
    assert answer["lint"]["status"] == "error"
    assert (workspace / name).read_text() == "old"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", "[1]"), ("a.toml", "a = 1"), ("a.yaml", "a: !Ref b\n---\nc: 1\n"),
     ("a.py", "a = 1\n"),
     ("a.ipynb", '{"cells": [], "nbformat": 4}')],
)  # fmt: skip
def test_what_parses_is_ok(write, name, content):
    assert write(name, content)["lint"] == {"status": "ok"}


@pytest.mark.parametrize(
    ("name", "content"),
    [("chart.yaml", "a: {{ .Values.b }}: {{ c }}"), ("tsconfig.json", "{} // ok")],
)
def test_templates_and_json_with_comments_are_written(write, workspace, name, content):
    assert "error" not in write(name, content)
    assert (workspace / name).read_text() == content


def test_python_is_written_and_its_error_reported(write, workspace):
    answer = write("a.py", "def f(:\n    '\\d'\n")
    assert answer["lint"] == {"status": "error", "output": "line 1: invalid syntax"}
    assert (workspace / "a.py").exists()


def test_an_odd_escape_in_python_warns_nobody(write):
    assert write("a.py", "a = '\\d'\n")["lint"] == {"status": "ok"}


@pytest.mark.parametrize("content", ["1|one\n2|two", " 9|a\n10|\n", "7|x = 1|2\n8|y\n"])
def test_numbered_lines_of_read_file_are_refused(write, workspace, content):
    assert "line numbers" in write("a.txt", content)["error"]
    assert not (workspace / "a.txt").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "1|a\n2|b"), ("a.txt", "1|a|x\n2|b|y"), ("a.txt", "5|a\n9|b"), ("a.txt", "1|only")],
)
def test_tables_with_bars_are_no_numbered_lines(write, name, content):
    assert "error" not in write(name, content)


def test_a_masked_secret_is_refused(write, workspace):
    (workspace / "conf").write_text("key=ghp_real\n")
    assert "contains a masked secret" in write("conf", "key=«redacted:ghp_…»\n")["error"]
    assert (workspace / "conf").read_text() == "key=ghp_real\n"


def test_half_a_surrogate_pair_is_an_error(write, workspace):
    assert "line 2" in write("a.txt", "ok\n\ud83d\n")["error"]
    assert not (workspace / "a.txt").exists()


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", None, 7, ".", "/dev/null", "x" * 300])
def test_a_path_that_cannot_be_written_is_an_error(write, guard, path):
    answer = write(path, "x")
    assert answer["error"]
    assert answer["bytes_written"] == 0
    assert guard(path, "x") is None


def test_content_that_is_no_text_is_an_error(write, guard):
    assert "'content' must be text" in write("a.txt", {"a": 1})["error"]
    assert "'content' is missing" in write("a.txt", None)["error"]
    assert guard("a.txt", {"a": 1}) is None


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow beyond 1,000 bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("way", ["local"], indirect=True)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(write, workspace, small_disk):
    (workspace / "a.txt").write_text("old")
    assert "larger than" in write("a.txt", "x" * 5_000)["error"]
    assert "larger than" in write("new/b.txt", "x" * 5_000)["error"]
    assert (workspace / "a.txt").read_text() == "old"
    assert [each.name for each in workspace.iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_an_error(write, workspace):
    workspace.chmod(0o500)
    assert "permission denied" in write("a.txt", "x")["error"]


def test_a_new_file_in_the_workspace_needs_no_consent(guard):
    assert guard("x/a.txt", "x") is None


def test_replacing_a_file_of_the_users_needs_consent(guard, workspace):
    (workspace / "notes.txt").write_text("one\n" * 12)
    objection = guard("notes.txt", "two\n")
    assert objection.reason == "replaces notes.txt (12 lines)"
    assert "-one" in objection.shown
    assert "+two" in objection.shown
    assert objection.grant == f"changes to {workspace}/notes.txt in this session"


def test_nobody_is_asked_about_a_write_that_will_be_refused(guard, workspace):
    (workspace / "a.json").write_text("{}")
    assert guard("a.json", "{") is None


def test_a_long_difference_is_cut(guard, workspace):
    (workspace / "notes.txt").write_text("one\n" * 1_000)
    assert guard("notes.txt", "two\n").shown.count("\n") <= 201


@pytest.mark.parametrize("old", ["same", ""])
def test_nothing_to_lose_needs_no_consent(guard, workspace, old):
    (workspace / "a.txt").write_text(old)
    assert guard("a.txt", "same") is None


def test_a_file_of_the_sessions_own_needs_no_consent(write, guard):
    written: set[str] = set()
    write("a.txt", "mine", written=written)
    assert guard("a.txt", "mine, too", written=written) is None
    assert guard("a.txt", "mine, too") is not None


@pytest.mark.parametrize("way", ["local"], indirect=True)
def test_a_path_alone_makes_a_file_the_sessions_own(guard, workspace):
    (workspace / "a.txt").write_text("mine")
    assert guard("a.txt", "new", written={str(workspace / "a.txt")}) is None


def test_an_own_file_that_the_user_edited_needs_consent_again(write, guard, workspace):
    written: set[str] = set()
    write("a.txt", "mine", written=written)
    (workspace / "a.txt").write_text("and now the user's")
    assert guard("a.txt", "new", written=written) is not None


def test_outside_the_workspace_needs_consent(guard):
    assert guard("/opt/a.txt", "x").reason == "creates /opt/a.txt, outside the workspace"
    assert guard("/tmp/a-new-file.txt", "x") is None


@pytest.mark.parametrize(
    "path",
    ["/etc/a.conf", "~/.bashrc", "~/.ssh/authorized_keys", "~/.hermes/config.yaml", ".git/hooks/x",
     "~/.jupyter/a.py", ".env", "/etc/a\nb"],
)  # fmt: skip
def test_protected_places_need_consent_even_if_the_session_wrote_them(guard, workspace, path):
    own = {os.path.realpath(workspace / Path(path).expanduser())}
    objection = guard(path, "x", written=own)
    assert objection is not None
    assert ", which " in objection.reason
