"""The file tools act where the terminal acts, in every place."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import patch_tool, read_file_tool, search_files_tool, write_file_tool  # noqa: F401
from tools.environments.base import Environment
from tools.files.trash import Trash
from tools.registry import registry

LONG = 60
SMALL_KB = 70_000
ODD = 'two words\nit\'s $(x) ünï-🐍 \\ "q"'
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(shell: Environment) -> Call:
    """Call a tool as the agent does."""
    written: set[str] = set()

    def run(tool: str, context: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
        more = {"environment": shell, "written": written, **(context or {})}
        return json.loads(registry.dispatch(tool, args, **more))

    return run


def printed(shell: Environment, command: str) -> str:
    result = shell.execute(command, timeout=LONG)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_file_that_is_written_is_there_for_a_command(shell, call):
    text = "one\n\ttwo 'quoted' $HOME\nthree ünï 🐍\n"
    answer = call("write_file", path="new/folder/a.txt", content=text)
    assert answer["dirs_created"] is True
    assert printed(shell, "cat new/folder/a.txt") == text


def test_a_file_that_a_command_writes_is_read(shell, call):
    printed(shell, "seq 1 1000 > numbers")
    answer = call("read_file", path="numbers", offset=500, limit=2)
    assert answer["content"] == "500|500\n501|501"
    assert (answer["total_lines"], answer["next_offset"]) == (1000, 502)


def test_a_relative_path_counts_from_where_the_shell_is(shell, call):
    printed(shell, "mkdir -p sub && cd sub && echo here > a.txt")
    assert call("read_file", path="a.txt")["content"] == "1|here"
    assert call("write_file", path="b.txt", content="x\n")["resolved_path"].endswith("/sub/b.txt")


def test_the_home_folder_is_the_one_there(shell, call):
    home = printed(shell, "cd && pwd -P && cd - >/dev/null").strip()
    missing = call("read_file", path="~/no such file")["error"]
    assert missing.startswith(f"No such file: {home}/no such file")


def test_a_patch_changes_one_place_and_keeps_the_mode(shell, call):
    printed(shell, "printf 'def a():\\n    return 1\\n' > a.py && chmod 750 a.py")
    answer = call("patch", path="a.py", old_string="return 1", new_string="return 2")
    assert answer["success"] is True, answer
    assert "+    return 2" in answer["diff"]
    assert printed(shell, "cat a.py; stat -c %a a.py") == "def a():\n    return 2\n750\n"


def test_a_patch_of_several_files_makes_all_or_nothing(shell, call):
    printed(shell, "echo old > a; echo gone > b; echo x > c")
    patch = (
        "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** Delete File: b\n"
        "*** Update File: c\n-not there\n+y\n*** End Patch"
    )
    assert call("patch", mode="patch", patch=patch)["success"] is False
    assert printed(shell, "cat a b c") == "old\ngone\nx\n"
    assert call("patch", mode="patch", patch=patch.replace("not there", "x"))["success"] is True
    assert printed(shell, "cat a c; ls") == "new\ny\na\nc\n"


def test_a_search_looks_there_and_counts_everything(shell, call):
    printed(
        shell,
        'mkdir -p src .git && for i in 1 2 3 4 5; do echo "needle $i" > src/f$i.py; done '
        "&& echo needle > .git/x && printf 'a\\0needle' > binary",
    )
    answer = call("search_files", pattern=r"needle \d", limit=2)
    assert (answer["total_count"], len(answer["matches"]), answer["next_offset"]) == (5, 2, 2)
    assert answer["matches"][0] == {"path": "src/f1.py", "line": 1, "content": "needle 1"}
    names = call("search_files", pattern="f[12].py", target="files")
    assert names["files"] == ["src/f1.py", "src/f2.py"]


def test_a_name_with_everything_in_it_works(shell, call):
    assert "error" not in call("write_file", path=ODD, content="inside\n")
    assert call("read_file", path=ODD)["content"] == "1|inside"
    assert call("search_files", pattern="inside")["total_count"] == 1
    assert printed(shell, "cat *") == "inside\n"


def test_a_large_text_goes_there_and_back(shell, call):
    text = "".join(f"{number} {'x' * 90}\n" for number in range(30_000))
    assert call("write_file", path="large.txt", content=text)["bytes_written"] == len(text)
    assert printed(shell, "wc -c < large.txt").strip() == str(len(text))
    last = call("read_file", path="large.txt", offset=30_000)
    assert (last["total_lines"], last["content"][:12]) == (30_000, "30000|29999 ")


def test_what_is_no_text_is_told(shell, call):
    printed(shell, "printf '\\211PNG\\r\\n\\032\\n\\0\\0' > a.png")
    answer = call("read_file", path="a.png")
    assert (answer["is_binary"], answer["kind"]) == (True, "PNG")


def test_a_wrong_name_is_answered_with_names_that_are_there(shell, call):
    printed(shell, "echo x > config.yaml")
    assert call("read_file", path="confg.yaml")["similar_files"] == ["config.yaml"]


def test_a_full_disk_leaves_the_old_file(shell, call):
    free = shell.execute("df -Pk /dev/shm | tail -1 | grep ^shm", timeout=LONG)
    if free.exit_code or int(free.output.split()[3]) > SMALL_KB:
        pytest.skip("no small disk there to fill")
    printed(shell, "mkdir -p /dev/shm/t && echo old > /dev/shm/t/a")
    try:
        shell.execute("head -c 80m /dev/zero > /dev/shm/t/fill", timeout=LONG)
        answer = call("write_file", path="/dev/shm/t/a", content="x" * 1_000_000)
        assert "disk is full" in answer["error"], answer
        printed(shell, "rm /dev/shm/t/fill")
        assert printed(shell, "cat /dev/shm/t/a; ls -A /dev/shm/t") == "old\na\n"
    finally:
        shell.execute("rm -rf /dev/shm/t", timeout=LONG)


def test_a_file_that_is_replaced_can_be_had_back(shell, call, tmp_path):
    trash = Trash(tmp_path / "trash", "test")
    printed(shell, "echo precious > a.txt; chmod 640 a.txt")
    call("write_file", {"trash": trash}, path="a.txt", content="new\n")
    (entry,) = trash.entries()
    trash.restore(entry, files=shell.files)
    assert printed(shell, "cat a.txt; stat -c %a a.txt") == "precious\n640\n"


def test_what_a_guard_shows_is_of_the_file_there(shell, call):
    printed(shell, "echo theirs > a.txt")
    entry = registry.get_entry("write_file")
    assert entry is not None
    args = {"path": "a.txt", "content": "mine\n"}
    said = entry.guard_fn(args, environment=shell, written=set())
    assert "-theirs\n+mine" in said.shown
    assert said.reason.startswith("replaces a.txt (1 line)")
    assert said.reason.endswith(f" on {shell.files.name}" if shell.files.name else "(1 line)")
    protected = entry.guard_fn({**args, "path": "~/.bashrc"}, environment=shell, written=set())
    assert "a shell start-up file" in protected.reason


def test_a_batch_of_calls_side_by_side_keeps_its_answers_apart(shell, call):
    printed(shell, "for i in 1 2 3 4 5 6; do echo $i > f$i; done")
    answers: dict[int, str] = {}

    def read(number: int) -> None:
        answers[number] = call("read_file", path=f"f{number}")["content"]

    threads = [threading.Thread(target=read, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert answers == {number: f"1|{number}" for number in range(1, 7)}


def test_nothing_is_touched_on_this_machine(shell, call):
    if not shell.files.name:
        pytest.skip("it is this machine")
    call("write_file", path="only-there.txt", content="x\n")
    assert not Path("only-there.txt").exists()


def test_a_write_that_is_killed_leaves_the_old_file_or_all_of_the_new_one(shell, call):
    if not shell.files.name:
        pytest.skip("on this machine nothing is sent")
    printed(shell, "echo old > a.txt")
    call("read_file", path="a.txt")
    pid = shell.files._idle[0]._pid
    killer = threading.Timer(0.05, lambda: shell.execute(f"kill -9 {pid}", timeout=LONG))
    killer.start()
    answer = call("write_file", path="a.txt", content="x" * 20_000_000)
    killer.join(LONG)
    size = printed(shell, "wc -c < a.txt").strip()
    assert size == ("4" if "error" in answer else "20000000"), answer
    assert "error" not in call("write_file", path="a.txt", content="new\n")
    assert printed(shell, "cat a.txt") == "new\n"


def test_a_lost_process_is_started_again(shell, call):
    if not shell.files.name:
        pytest.skip("on this machine there is none")
    printed(shell, "echo one > a.txt")
    call("read_file", path="a.txt")
    printed(shell, f"kill -9 {shell.files._idle[0]._pid}")
    assert call("read_file", path="a.txt")["content"] == "1|one"
