"""Files of another machine: names and contents of all kinds, and what may go wrong on the way."""

from __future__ import annotations

import ast
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.tools.places import Places
from tests.unit.tools.process_host import ProcessHost
from tools.files import bundle
from tools.files.findings import Clock, Query
from tools.files.local_place import LOCAL
from tools.files.problems import Problem
from tools.files.remote_place import RemotePlace

NAMES = (
    "two words", "two\nlines", "ends in a line feed\n", "it's", '"quoted"', "$(touch oops)", "`x`",
    "back\\slash", "-rf", "--", "*", "[a-z]?", "ünï→🐍", "\udcff\udcfe", "a;b&c|d", "tab\there",
    " ", "~", "#", "%s\\n", "x" * 255,
)  # fmt: skip
CONTENTS = (
    b"", b"\n", b"no line feed", b"\0", bytes(range(256)) * 20, b"\xff\xfe\r\n", b"x" * 3_000_000,
    b"--\n'EOF'\n",
)  # fmt: skip


def never() -> bool:
    return False


@pytest.fixture(params=["python", "shell", "coreutils"])
def kind(request: pytest.FixtureRequest) -> str:
    """What there is on the other machine."""
    return str(request.param)


@pytest.fixture
def host(kind: str, places: Places) -> Iterator[ProcessHost]:
    made = places.host(kind)
    yield made
    made.close()


@pytest.fixture
def place(host: ProcessHost) -> Iterator[RemotePlace]:
    made = RemotePlace(host, "there")
    yield made
    made.close()


def searched(root: Path, pattern: str, cancelled: threading.Event | None = None) -> tuple:
    query = Query(pattern=pattern, root=str(root), folder=str(root))
    return query, 0, Clock(time.monotonic() + 20, cancelled)


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_any_name_is_a_name(place, tmp_path, name):
    path = str(tmp_path / "folder" / name)
    assert place.make_folders(str(tmp_path / "folder")) == [str(tmp_path / "folder")]
    place.write_bytes_atomic(path, b"needle\n")
    assert place.real(path) == path
    assert place.stat(path) == LOCAL.stat(path)
    assert [entry.name for entry in place.iterdir(str(tmp_path / "folder"))] == [name]
    assert place.read_bytes(path) == b"needle\n"
    found = place.search_contents(*searched(tmp_path, "needle"))
    assert list(found.counts) == list(LOCAL.search_contents(*searched(tmp_path, "needle")).counts)
    assert len(found.counts) == 1
    place.remove(path)
    place.remove_folder(str(tmp_path / "folder"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: repr(content[:12]))
def test_any_content_comes_back_as_it_was(place, tmp_path, content):
    path = str(tmp_path / "file")
    place.write_bytes_atomic(path, content)
    assert (tmp_path / "file").read_bytes() == content
    assert place.read_bytes(path) == content
    assert place.read_lines(path, 1, 9, never) == LOCAL.read_lines(path, 1, 9, never)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_write_keeps_the_mode_and_takes_another_one(place, tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    place.write_bytes_atomic(str(path), b"new")
    assert path.stat().st_mode & 0o777 == mode
    place.write_bytes_atomic(str(path), b"new", 0o604)
    assert path.stat().st_mode & 0o777 == 0o604


def test_links_are_followed_to_where_they_lead(place, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("real/new")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")
    (tmp_path / "to file").symlink_to("file")
    asked = [
        "link", "link/a/b", "link/../file", "dangling", "none/../file", "to file", ".", "none/..",
        "link/..", "/", "/..",
    ]  # fmt: skip
    for name in asked:
        assert place.real(str(tmp_path / name)) == LOCAL.real(str(tmp_path / name)), name
    assert place.iterdir(str(tmp_path)) == LOCAL.iterdir(str(tmp_path))
    with pytest.raises(OSError, match="symbolic link"):
        place.stat(str(tmp_path / "loop"))
    place.remove(str(tmp_path / "to file"))
    assert (tmp_path / "file").exists()


def test_what_is_not_there_is_told_as_on_this_machine(place, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "full" / "x").mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    attempts: list[Callable[[object], object]] = [
        lambda at: at.read_bytes(str(tmp_path / "none")),
        lambda at: at.read_bytes(str(tmp_path / "pipe")),
        lambda at: at.read_bytes(str(tmp_path / "full")),
        lambda at: at.read_lines(str(tmp_path / "none"), 1, 1, never),
        lambda at: at.iterdir(str(tmp_path / "none")),
        lambda at: at.iterdir(str(tmp_path / "file")),
        lambda at: at.stat(str(tmp_path / "file" / "below")),
        lambda at: at.remove(str(tmp_path / "none")),
        lambda at: at.remove_folder(str(tmp_path / "full")),
        lambda at: at.make_folders(str(tmp_path / "file" / "below")),
        lambda at: at.write_bytes_atomic(str(tmp_path / "none" / "x"), b""),
        lambda at: at.write_bytes_atomic(str(tmp_path / "file" / "x"), b""),
    ]
    for number, attempt in enumerate(attempts):
        errors = []
        for at in (LOCAL, place):
            with pytest.raises((OSError, Problem)) as caught:
                attempt(at)
            errors.append((type(caught.value), getattr(caught.value, "errno", None)))
        assert errors[0] == errors[1], number
    assert place.stat(str(tmp_path / "none")) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_what_one_may_not_do_there_is_refused(host, tmp_path):
    host.prefix = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    (tmp_path / "shut").mkdir(0o700)
    place = RemotePlace(host, "there")
    for attempt in (
        lambda: place.read_bytes(str(secret)),
        lambda: place.read_lines(str(secret), 1, 1, never),
        lambda: place.iterdir(str(tmp_path / "shut")),
        lambda: place.write_bytes_atomic(str(tmp_path / "new"), b"x"),
        lambda: place.write_bytes_atomic(str(secret), b"x"),
        lambda: place.remove(str(secret)),
        lambda: place.make_folders(str(tmp_path / "shut" / "x")),
    ):
        with pytest.raises(PermissionError):
            attempt()
    assert secret.read_text() == "x"
    place.close()


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(host, tmp_path):
    host.prefix = ("/bin/sh", "-c", 'ulimit -f 16; exec "$@"', "sh")
    path = tmp_path / "file"
    path.write_text("old")
    place = RemotePlace(host, "there")
    with pytest.raises(OSError, match=r"(?i)file"):
        place.write_bytes_atomic(str(path), b"x" * 100_000)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    place.close()


def test_a_connection_cut_in_the_middle_of_a_write_leaves_the_old_file(place, host, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    assert place.read_bytes(str(path)) == b"old"
    for channel in host.channels:
        channel.cut_after = channel.sent + 500_000
    host.cut_after = 500_000
    with pytest.raises(ConnectionError):
        place.write_bytes_atomic(str(path), b"x" * 1_000_000)
    host.cut_after = None
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    place.write_bytes_atomic(str(path), b"new")
    assert path.read_text() == "new"


def test_a_place_that_was_started_anew_is_found_again(place, host, tmp_path):
    path = str(tmp_path / "file")
    place.write_bytes_atomic(path, b"one")
    host.channels[-1].process.kill()
    host.channels[-1].process.wait()
    assert place.read_bytes(path) == b"one"
    host.channels[-1].process.kill()
    host.channels[-1].process.wait()
    place.write_bytes_atomic(path, b"two")
    assert place.read_bytes(path) == b"two"


def test_a_place_that_cannot_be_reached_says_so(place, host, tmp_path):
    host.refuses = "the engine is stopped; start it"
    with pytest.raises(ConnectionError, match="the engine is stopped; start it"):
        place.stat(str(tmp_path))
    host.refuses = ""
    assert place.stat(str(tmp_path)).kind == "folder"


def test_what_a_login_shell_prints_does_no_harm(host, tmp_path):
    host.prefix = ("/bin/sh", "-c", 'echo welcome; echo "to this" >&2; exec "$@"', "sh")
    place = RemotePlace(host, "there")
    assert place.stat(str(tmp_path)).kind == "folder"
    place.close()


def test_a_program_that_does_not_start_is_told(host, tmp_path):
    host.prefix = ("/bin/sh", "-c", "echo no shell for you >&2; exit 1", "sh")
    with pytest.raises(ConnectionError, match="no shell for you"):
        RemotePlace(host, "there").stat(str(tmp_path))


def test_calls_from_many_threads_get_their_own_answers(place, tmp_path):
    for number in range(30):
        (tmp_path / str(number)).write_text(f"content {number}")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: place.read_bytes(str(tmp_path / str(n))), range(30)))
    assert found == [f"content {number}".encode() for number in range(30)]


@pytest.mark.parametrize("first", [1, 2, 399_990, 500_000])
def test_lines_of_a_large_file_are_those_of_a_small_one(place, tmp_path, first):
    path = tmp_path / "large"
    path.write_text("".join(f"line number {n} é\n" for n in range(400_000)) + "the last")
    assert path.stat().st_size > 4 << 20
    here, there = (at.read_lines(str(path), first, 20, never) for at in (LOCAL, place))
    assert there.page == here.page


def test_a_search_finds_the_same_as_on_this_machine(place, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("needle")
    (tmp_path / ".gitignore").write_text("ignored/\n*.log\n")
    for name in ("ignored/a.txt", "src/deep/b.py", "src/c.log", "node_modules/x.js", "d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\nthe NEEDLE\r\nneedle needle\n")
    (tmp_path / "latin").write_bytes(b"caf\xe9 needle\n")
    (tmp_path / "binary").write_bytes(b"\0needle\n")
    (tmp_path / "book.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": ["a\\u006eeedle\\n"]}], "nbformat": 4}'
    )
    (tmp_path / "link").symlink_to("d.txt")
    (tmp_path / ".env").write_text("needle=1")
    for pattern in ("needle", "^needle", "ne+dle$", r"\bneedle\b", "nee(dle|x)", "caf.", "NEEDLE"):
        for flags in (0, 2):
            asked = searched(tmp_path, pattern)
            here, there = (at.search_contents(asked[0], flags, asked[2]) for at in (LOCAL, place))
            assert there == here, pattern
    query = Query(pattern="*.txt", root=str(tmp_path), folder=str(tmp_path))
    clock = Clock(time.monotonic() + 20)
    assert place.search_names(query, clock) == LOCAL.search_names(query, clock)


@pytest.mark.parametrize("kind", ["python"], indirect=True)
def test_a_search_that_runs_for_ever_is_ended_there(place, host, tmp_path):
    (tmp_path / "a.txt").write_text("a" * 60 + "!")
    place.home()  # it has started now
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    found = place.search_contents(*searched(tmp_path, "(a+)+$", cancelled))
    assert found.stopped == "cancelled"
    assert host.channels[-1].process.wait(timeout=10) == 137


@pytest.mark.parametrize("kind", ["shell"], indirect=True)
def test_a_search_that_could_not_be_ended_is_refused(place, tmp_path):
    with pytest.raises(Problem, match="run for ever"):
        place.search_contents(*searched(tmp_path, "(a+)+$"))


def test_what_is_too_large_is_not_moved(host, tmp_path):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2_000)
    place = RemotePlace(host, "there", most_bytes=1_000)
    with pytest.raises(Problem, match="2,000 bytes"):
        place.read_bytes(str(path))
    with pytest.raises(Problem, match="2,000 bytes"):
        place.write_bytes_atomic(str(path), b"y" * 2_000)
    place.close()


def test_its_processes_end_with_it(place, host, tmp_path):
    place.stat(str(tmp_path))
    place.close()
    assert host.channels[-1].process.wait(timeout=10) is not None
    with pytest.raises(ConnectionError):
        place.stat(str(tmp_path))


def test_a_python_that_is_too_old_is_left_alone(places, tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    host = places.host("shell")
    host.env["PATH"] = f"{tmp_path}:{host.env['PATH']}"
    place = RemotePlace(host, "there")
    assert place.read_bytes(str(old)) == old.read_bytes()
    place.close()


def test_what_is_sent_is_readable_for_python_3_9():
    sources = dict(bundle._sources())
    for name, (source, _) in sources.items():
        ast.parse(source, name, feature_version=(3, 9))
        wanted = {
            alias
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tools")
            for alias in (node.module, *(f"{node.module}.{each.name}" for each in node.names))
        }
        missing = {each for each in wanted if each.count(".") == 2 and each not in sources}
        assert name.startswith("pathspec") or not {
            each
            for each in missing
            if (Path(bundle.tools.__file__).parent.parent / f"{each.replace('.', '/')}.py").exists()
        }, name
    assert sys.version_info >= (3, 9)
