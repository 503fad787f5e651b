"""Secrets in files: what a model reads, and what it writes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.road.secrets import Secrets
from tools import patch_tool, write_file_tool
from tools.patch_tool import patch
from tools.process_tool import process
from tools.read_file_tool import read_file
from tools.search_files_tool import search_files
from tools.terminal_tool import terminal
from tools.write_file_tool import write_file

KEY = "sk-" + "a1B2" * 6
NEW = "sk-" + "c3D4" * 6
BODY = "MIIabc09" * 8
PEM = "-----BEGIN PRIVATE KEY-----\n" + f"{BODY}\n" * 30 + "-----END PRIVATE KEY-----\n"


@pytest.fixture
def context(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "conf.py").write_text(f"key = '{KEY}'\nsize = 1\n")
    return {"cwd": str(tmp_path), "secrets": Secrets(), "written": set()}


def content(context: dict[str, Any], **args: Any) -> str:
    text = read_file({"path": "conf.py", **args}, **context)
    assert KEY not in text
    assert BODY not in text
    return "\n".join(line.partition("|")[2] for line in json.loads(text)["content"].split("\n"))


def placeholder(context: dict[str, Any]) -> str:
    return content(context).split("'")[1]


def test_a_file_that_is_read_and_written_back_has_its_secret_still(context, tmp_path):
    shown = content(context)
    answer = write_file({"path": "conf.py", "content": f"{shown}\nmore = 2\n"}, **context)
    assert "error" not in json.loads(answer)
    assert (tmp_path / "conf.py").read_text() == f"key = '{KEY}'\nsize = 1\nmore = 2\n"


def test_a_secret_can_be_copied_to_another_file(context, tmp_path):
    write_file({"path": "new.env", "content": f"KEY={placeholder(context)}\n"}, **context)
    assert (tmp_path / "new.env").read_text() == f"KEY={KEY}\n"


def test_a_patch_finds_and_writes_the_secret_and_its_diff_hides_both(context, tmp_path):
    old = f"key = '{placeholder(context)}'\nsize = 1"
    new = f"size = 2\nkey = '{placeholder(context)}'\nnext = '{NEW}'"
    answer = patch({"path": "conf.py", "old_string": old, "new_string": new}, **context)
    assert (tmp_path / "conf.py").read_text() == f"size = 2\nkey = '{KEY}'\nnext = '{NEW}'\n"
    assert json.loads(answer)["diff"].count("«secret:sk-:") == 2
    assert KEY not in answer
    assert NEW not in answer


def test_a_v4a_patch_does_so_too(context, tmp_path):
    line = f"key = '{placeholder(context)}'"
    text = f"*** Begin Patch\n*** Update File: conf.py\n {line}\n-size = 1\n+{line}\n*** End Patch"
    patch({"mode": "patch", "patch": text}, **context)
    assert (tmp_path / "conf.py").read_text() == f"key = '{KEY}'\nkey = '{KEY}'\n"


@pytest.mark.parametrize("wrong", ["«secret:sk-:00000000»", "«secret:sk-…»"])
def test_an_unknown_placeholder_writes_nothing(context, tmp_path, wrong):
    before = (tmp_path / "conf.py").read_text()
    text = f"*** Begin Patch\n*** Update File: conf.py\n-size = 1\n+{wrong}\n*** End Patch"
    answers = [
        write_file({"path": "conf.py", "content": wrong}, **context),
        patch({"path": "conf.py", "old_string": "size = 1", "new_string": wrong}, **context),
        patch({"mode": "patch", "patch": text}, **context),
    ]
    assert all("no placeholder of this session" in json.loads(each)["error"] for each in answers)
    assert (tmp_path / "conf.py").read_text() == before


def test_the_person_who_is_asked_sees_no_secret(context):
    hidden = content(context).replace("size = 1", f"other = '{NEW}'")
    whole = write_file_tool._guard({"path": "conf.py", "content": hidden}, **context)
    part = patch_tool._guard(
        {"path": "conf.py", "old_string": "size", "new_string": NEW}, **context
    )
    for objection in (whole, part):
        assert objection is not None
        assert "«secret:sk-:" in objection.shown
        assert KEY not in objection.shown
        assert NEW not in objection.shown


def test_errors_of_a_patch_hide_what_they_quote(context, tmp_path):
    (tmp_path / "conf.py").write_text(f"key = '{KEY}'\nx\nkey = '{KEY}'\n")
    text = patch({"path": "conf.py", "old_string": "key = ", "new_string": "k ="}, **context)
    assert KEY not in text
    assert "error" in json.loads(text)


def test_a_private_key_is_hidden_from_wherever_one_reads(context, tmp_path):
    (tmp_path / "conf.py").write_text("a\n" + PEM)
    assert content(context, offset=1).count("«secret:private-key:") == 30
    assert content(context, offset=20, limit=5).count("«secret:private-key:") == 5
    write_file({"path": "copy.txt", "content": content(context) + "\n"}, **context)
    assert (tmp_path / "copy.txt").read_text() == "a\n" + PEM


def test_a_search_shows_placeholders(context, tmp_path):
    (tmp_path / "key.txt").write_text(PEM)
    for pattern in ("key", "size", "MII"):
        text = search_files({"pattern": pattern, "context": 1}, **context)
        assert "«secret:" in text
        assert KEY not in text
        assert BODY not in text
    found = json.loads(search_files({"pattern": "sk-"}, **context))
    assert found["matches"][0]["content"] == f"key = '{placeholder(context)}'"


def test_commands_and_programs_do_not_get_secrets(context):
    command = f"echo {placeholder(context)}"
    text = terminal({"command": command}, **context)
    assert "placeholder of a secret" in json.loads(text)["error"]


def test_a_running_program_does_not_get_one_either(context):
    class Found:
        status = "running"

    class Table:
        def get(self, _: str) -> Found:
            return Found()

    class Place:
        processes = Table()

    args = {"action": "submit", "session_id": "p", "data": placeholder(context)}
    text = process(args, **context, environment=Place())
    assert "placeholder of a secret" in json.loads(text)["error"]


def test_without_a_session_files_are_shown_as_they_are(tmp_path):
    (tmp_path / "conf.py").write_text(f"key = '{KEY}'\n")
    assert KEY in read_file({"path": "conf.py"}, cwd=str(tmp_path))
