"""Whole answers are kept: on disk for their owner alone, in memory if need be, and not for ever."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.store import leftovers
from hermes_jupyter.store.handles import Handles, NotKept


@pytest.fixture
def handles(tmp_path):
    handles = Handles(tmp_path, "main")
    yield handles
    handles.close()


def files(home):
    return [path for path in home.rglob("*") if path.is_file()]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_comes_back_to_the_letter(tmp_path_factory, text):
    handles = Handles(tmp_path_factory.getbasetemp(), "main")
    assert handles.whole(handles.keep(text)) == text
    handles.close()


def test_nothing_is_made_before_the_first_text(handles, tmp_path):
    assert handles.known() == []
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_look(handles, tmp_path):
    handles.keep("secret")
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_two_sessions_of_one_name_do_not_meet(handles, tmp_path):
    other = Handles(tmp_path, "main")
    assert handles.keep("mine") == other.keep("yours") == "r1"
    assert (handles.whole("r1"), other.whole("r1")) == ("mine", "yours")
    other.close()
    assert handles.whole("r1") == "mine"


@pytest.mark.parametrize("written", ["r1", "R1", " 'r1' ", "1", '"r1"'])
def test_handles_are_understood_as_models_write_them(handles, written):
    handles.keep("text")
    assert handles.whole(written) == "text"


def test_the_oldest_make_room_and_that_is_said(tmp_path):
    handles = Handles(tmp_path, "main", most_on_disk=1_000)
    for number in range(5):
        handles.keep(str(number) * 300)
    assert handles.known() == ["r3", "r4", "r5"]
    assert len(files(tmp_path)) == 3
    with pytest.raises(NotKept, match="r1 is no longer kept"):
        handles.whole("r1")
    with pytest.raises(NotKept, match="no result 'r6'"):
        handles.whole("r6")
    assert handles.keep("x" * 1_001) == ""
    assert handles.known() == ["r3", "r4", "r5"]
    handles.close()


@pytest.mark.parametrize("obstacle", ["file", "read-only", "full"])
def test_a_disk_that_takes_nothing_leaves_memory(tmp_path, monkeypatch, obstacle):
    home = tmp_path / "home"
    if obstacle == "file":
        home.write_text("")
    else:
        from tools.files.local_place import LOCAL

        def refuse(*args, **kwargs):
            raise OSError(30 if obstacle == "read-only" else 28, "no")

        monkeypatch.setattr(type(LOCAL), "write_bytes_atomic", refuse)
    handles = Handles(home, "main", most_in_memory=1_000)
    for number in range(5):
        handles.keep(str(number) * 300)
    assert handles.known() == ["r3", "r4", "r5"]
    assert handles.whole("r5") == "4" * 300
    assert handles.keep("x" * 2_000) == ""
    handles.close()
    assert handles.known() == []


def test_a_file_that_is_gone_is_no_longer_kept_and_the_next_is_written_again(handles, tmp_path):
    handles.keep("one")
    for path in files(tmp_path):
        path.unlink()
        path.parent.rmdir()
    with pytest.raises(NotKept, match="no longer kept"):
        handles.whole("r1")
    assert handles.whole(handles.keep("two")) == "two"
    assert len(files(tmp_path)) == 1


def test_closing_removes_all(handles, tmp_path):
    handles.keep("text")
    handles.close()
    assert files(tmp_path) == []
    assert handles.known() == []
    handles.close()


def test_the_end_of_the_process_removes_all(tmp_path):
    code = (
        "import sys, pathlib; from hermes_jupyter.store.handles import Handles\n"
        "handles = Handles(pathlib.Path(sys.argv[1]), 'main'); handles.keep('text')\n"
        "print(len(list(pathlib.Path(sys.argv[1]).rglob('r1.txt'))))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "1"
    assert files(tmp_path) == []


def dead_process():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.mark.parametrize(
    ("machine", "is_dead", "days", "stays"),
    [("own", True, 2, False), ("own", True, 0.5, True), ("own", False, 20, True),
     ("00000000", True, 2, True), ("00000000", True, 8, False)],
)  # fmt: skip
def test_what_dead_kernels_left_is_swept(handles, tmp_path, machine, is_dead, days, stays):
    machine = leftovers._machine() if machine == "own" else machine
    process = dead_process() if is_dead else os.getpid()
    old = tmp_path / "jupyter" / "handles" / f"main.{machine}.{process}.0123abcd"
    old.mkdir(parents=True)
    (old / "r1.txt").write_text("x")
    then = time.time() - days * leftovers.DAY
    os.utime(old, (then, then))
    handles.keep("text")
    assert old.exists() == stays


@pytest.mark.parametrize("name", ["", "..", "a/b", "../../x", "名前", "x" * 500, "a\0b"])
def test_any_name_of_a_session_makes_a_folder_of_its_own(tmp_path, name):
    handles = Handles(tmp_path, name)
    handles.keep("text")
    [path] = files(tmp_path)
    assert path.parent.parent == tmp_path / "jupyter" / "handles"
    assert re.fullmatch(r"\w+\.[0-9a-f]{8}\.\d+\.[0-9a-f]{8}", path.parent.name)
    handles.close()


def test_many_threads_keep_at_once(handles):
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda number: handles.keep(f"text {number}"), range(64)))
    assert len(set(names)) == 64
    assert {handles.whole(name) for name in names} == {f"text {number}" for number in range(64)}
