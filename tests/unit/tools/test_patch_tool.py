"""Changing parts of files, through the registry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.places import without_place
from tools import patch_tool  # noqa: F401  it registers itself
from tools.registry import registry

SOURCE = """\
class A:
    def f(self):
        x = 1
        return x

    def g(self):
        return 2
"""


@pytest.fixture
def patch(tmp_path: Path, working_in) -> Callable[..., dict[str, Any]]:
    def call(written: set[str] | None = None, **args: Any) -> dict[str, Any]:
        args = {"mode": "replace", **args}
        return json.loads(registry.dispatch("patch", args, **working_in(tmp_path), written=written))

    return call


@pytest.fixture
def guard(tmp_path: Path, working_in) -> Callable[..., Any]:
    entry = registry.get_entry("patch")
    assert entry is not None
    assert entry.guard_fn is not None

    def call(written: set[str] | None = None, **args: Any) -> Any:
        args = {"mode": "replace", **args}
        return without_place(entry.guard_fn(args, **working_in(tmp_path), written=written))

    return call


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    return path


def test_a_passage_is_replaced_and_the_difference_returned(patch, source):
    answer = patch(path="a.py", old_string="return 2", new_string="return 3")
    assert source.read_text() == SOURCE.replace("return 2", "return 3")
    assert answer == {
        "success": True,
        "diff": "--- a/a.py\n+++ b/a.py\n@@ -4,4 +4,4 @@\n         return x\n \n"
        "     def g(self):\n-        return 2\n+        return 3\n",
        "files_modified": [str(source)],
        "lint": {"status": "ok"},
        "resolved_path": str(source),
        "replacements": 1,
    }


def test_several_places_are_listed_and_none_is_changed(patch, source):
    answer = patch(path="a.py", old_string="return", new_string="yield")
    assert answer["success"] is False
    assert "fits 2 places (lines 4, 7)" in answer["error"]
    assert [each["line"] for each in answer["candidates"]] == [4, 7]
    assert source.read_text() == SOURCE


def test_replace_all_replaces_all(patch, source):
    assert (
        patch(path="a.py", old_string="return", new_string="yield", replace_all=True)[
            "replacements"
        ]
        == 2
    )
    assert source.read_text() == SOURCE.replace("return", "yield")


def test_lost_indentation_is_found_again_and_never_doubled(patch, source):
    answer = patch(
        path="a.py",
        old_string="def f(self):\n    x = 1\n    return x",
        new_string="def f(self):\n    x = 1\n    y = 2\n    return x + y",
    )
    assert answer["matched"] == "ignoring indentation"
    assert source.read_text() == SOURCE.replace(
        "        return x\n", "        y = 2\n        return x + y\n"
    )


def test_line_numbers_of_read_file_are_forgiven(patch, source):
    patch(
        path="a.py",
        old_string="6|    def g(self):\n7|        return 2",
        new_string="6|    def g(self):\n7|        return 9",
    )
    assert source.read_text() == SOURCE.replace("return 2", "return 9")


def test_crlf_and_bom_stay(patch, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree")
    patch(path="a.txt", old_string="one\ntwo", new_string="1\n2\n2a")
    assert (tmp_path / "a.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n2a\r\nthree"


def test_what_is_not_there_is_answered_with_what_comes_near(patch, source):
    answer = patch(path="a.py", old_string="retrun x + 1", new_string="pass")
    assert "not in the file" in answer["error"]
    assert {"line": 4, "excerpt": "4|        return x"} in answer["candidates"]


def test_a_change_made_already_is_recognised(patch, source):
    answer = patch(path="a.py", old_string="return 1_000", new_string="return 2")
    assert "may have been made already" in answer["error"]


@pytest.mark.parametrize(
    "args",
    [
        {"old_string": "", "new_string": "x"},
        {"old_string": "x = 1", "new_string": "x = 1"},
        {"old_string": "x = 1"},
        {"new_string": "x"},
        {"mode": "else"},
        {"mode": "patch"},
        {"mode": "patch", "patch": "no patch"},
        {"mode": "patch", "patch": 7},
        {"path": None},
        {"path": "\0"},
        {"path": "missing.py", "old_string": "a", "new_string": "b"},
        {"path": ".", "old_string": "a", "new_string": "b"},
        {"path": "/dev/zero", "old_string": "a", "new_string": "b"},
    ],
)
def test_arguments_that_make_no_sense_are_errors(patch, guard, source, args):
    args = {"path": "a.py", **args}
    answer = patch(**args)
    assert answer["success"] is False
    assert answer["error"]
    assert guard(**args) is None
    assert source.read_text() == SOURCE


def test_data_that_would_not_parse_any_more_is_left_alone(patch, tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}')
    assert "would not parse" in patch(path="a.json", old_string="1}", new_string="1")["error"]
    assert (tmp_path / "a.json").read_text() == '{"a": 1}'


def test_data_that_is_broken_may_be_mended_in_steps(patch, tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1,, "b": 2')
    answer = patch(path="a.json", old_string=",,", new_string=",")
    assert (answer["success"], answer["lint"]["status"]) == (True, "error")


def test_a_masked_secret_is_refused(patch, tmp_path):
    (tmp_path / "a.txt").write_text("key=old\n")
    answer = patch(path="a.txt", old_string="old", new_string="«redacted:sk-…»")
    assert "masked secret" in answer["error"]


V4A = """*** Begin Patch
*** Update File: a.py
@@ def g(self):
-        return 2
+        return 3
*** Add File: new/b.txt
+hello
*** Move File: old.txt -> moved.txt
*** Delete File: gone.txt
*** End Patch"""


def test_a_patch_updates_adds_moves_and_deletes(patch, source, tmp_path):
    (tmp_path / "old.txt").write_text("moves\n")
    (tmp_path / "old.txt").chmod(0o640)
    (tmp_path / "gone.txt").write_text("goes\n")
    answer = patch(mode="patch", patch=V4A)
    assert answer["files_modified"] == [str(source)]
    assert answer["files_created"] == [str(tmp_path / "new/b.txt"), str(tmp_path / "moved.txt")]
    assert answer["files_deleted"] == [str(tmp_path / "old.txt"), str(tmp_path / "gone.txt")]
    assert answer["lint"]["a.py"] == {"status": "ok"}
    assert source.read_text() == SOURCE.replace("return 2", "return 3")
    assert (tmp_path / "moved.txt").stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.py", "moved.txt", "new"]


def test_one_part_that_does_not_fit_changes_nothing(patch, source, tmp_path):
    (tmp_path / "old.txt").write_text("moves\n")
    answer = patch(mode="patch", patch=V4A)  # gone.txt is not there
    assert "gone.txt" in answer["error"]
    assert source.read_text() == SOURCE
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.py", "old.txt"]


def test_consent_is_asked_for_all_that_a_patch_takes_from_the_user(guard, source, tmp_path):
    (tmp_path / "old.txt").write_text("moves\n")
    (tmp_path / "gone.txt").write_text("goes\n")
    objection = guard(mode="patch", patch=V4A)
    assert objection.reason == (
        "deletes gone.txt (1 line); changes a.py (+1 −1); moves old.txt to moved.txt"
    )
    assert "-goes" in objection.shown


def test_own_files_need_no_consent(patch, guard, tmp_path):
    written: set[str] = set()
    patch(
        mode="patch",
        patch="*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch",
        written=written,
    )
    change = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    assert guard(**change) is not None
    assert guard(**change, written=written) is None


@pytest.mark.parametrize("way", ["local"], indirect=True)
def test_a_deleted_file_is_the_sessions_own_no_more(patch, tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    written = {str(tmp_path / "a.txt")}
    patch(mode="patch", patch="*** Delete File: a.txt", written=written)
    assert written == set()


def test_a_path_that_leaves_the_workspace_is_the_guards_matter(guard, tmp_path):
    text = "*** Begin Patch\n*** Add File: /opt/a.txt\n+x\n*** End Patch"
    assert guard(mode="patch", patch=text).reason == "creates /opt/a.txt, outside the workspace"


def test_deleting_a_link_leaves_what_it_points_to(patch, source, tmp_path):
    (tmp_path / "link.py").symlink_to("a.py")
    assert patch(mode="patch", patch="*** Delete File: link.py")["success"]
    assert source.read_text() == SOURCE
    assert not (tmp_path / "link.py").is_symlink()


def test_all_paths_of_a_patch_are_its_resources():
    entry = registry.get_entry("patch")
    assert entry is not None
    assert entry.resources is not None
    assert entry.resources({"patch": V4A}) == [
        "a.py",
        "new/b.txt",
        "old.txt",
        "moved.txt",
        "gone.txt",
    ]
    assert entry.resources({"path": "x", "patch": None}) == ["x"]
    assert entry.resources({"path": 7, "patch": 7}) == []


def test_a_deletion_is_named_first_and_not_hidden_behind_a_long_diff(tmp_path, working_in):
    text = ""
    for number in range(40):
        (tmp_path / f"f{number}.txt").write_text("a\n" * 8)
        text += f"*** Update File: f{number}.txt\n@@\n" + "-a\n" * 8 + "+b\n" * 8
    (tmp_path / "precious.csv").write_text("gold\n")
    patch = f"*** Begin Patch\n{text}*** Delete File: precious.csv\n*** End Patch"
    guard = registry.get_entry("patch").guard_fn
    objection = guard({"mode": "patch", "patch": patch}, **working_in(tmp_path))
    assert objection.reason.startswith("deletes precious.csv")
    assert objection.shown.startswith("deletes precious.csv")
