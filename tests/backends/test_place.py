"""What every place offers beside its shell: files, health, isolation, an end."""

from __future__ import annotations

import pytest

from tools.environments.host import HostError


def test_files_come_back_as_they_were_put(shell):
    content = bytes(range(256)) * 40
    shell.put("a file ü", content)
    assert shell.get("a file ü") == content
    assert shell.execute("wc -c <'a file ü'", timeout=60).output.strip() == str(len(content))


def test_empty_and_large_files_travel(shell):
    large = b"0123456789abcdef" * 200_000
    shell.put("empty", b"")
    shell.put("large", large)
    assert shell.get("empty") == b""
    assert shell.get("large") == large


def test_put_replaces_a_file_and_sets_its_mode(shell):
    shell.put("x", b"old and longer")
    shell.put("x", b"#!/bin/sh\necho ran\n", 0o755)
    assert shell.execute("./x", timeout=60).output == "ran\n"
    assert shell.execute("ls -a", timeout=60).output.split() == [".", "..", "x"]


def test_get_of_nothing_says_so(shell):
    with pytest.raises(FileNotFoundError):
        shell.get("missing")
    shell.execute("mkdir folder", timeout=60)
    with pytest.raises(IsADirectoryError):
        shell.get("folder")


def test_put_where_it_cannot_be_says_so(shell):
    shell.execute("mkdir folder", timeout=60)
    with pytest.raises(FileNotFoundError):
        shell.put("missing/x", b"x")
    with pytest.raises(IsADirectoryError):
        shell.put("folder", b"x")


def test_it_is_well(shell):
    health = shell.health()
    assert health.ok
    assert health.text


def test_it_says_how_isolated_it_is(shell, place):
    assert shell.backend
    assert shell.isolation.isolated == place.isolated


def test_host_runs_short_programs(shell):
    done = shell.host.run(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"a\0b")
    assert (done.exit_code, done.out, done.err) == (3, b"a\0b", b"err\n")


def test_host_does_not_wait_for_ever(shell):
    with pytest.raises(HostError):
        shell.host.run(["sleep", "30"], timeout=1)


def test_arguments_arrive_as_they_are(shell):
    words = ["", "a b", "it's", '"$HOME"', "ü\n*", "\\0"]
    done = shell.host.run(["printf", "[%s]", *words])
    assert done.out.decode() == "".join(f"[{word}]" for word in words)


def test_home_is_a_folder(shell):
    assert shell.host.run(["test", "-d", shell.host.home()]).exit_code == 0


def test_close_ends_everything_and_refuses_more(opener):
    shell = opener()
    shell.execute("true", timeout=60)
    shell.close()
    shell.close()
    with pytest.raises(RuntimeError, match="closed"):
        shell.execute("true", timeout=60)


def test_two_environments_do_not_share_a_shell(opener):
    with opener() as one, opener() as other:
        one.execute("A=1; cd /", timeout=60)
        assert other.execute("echo [$A]", timeout=60).output == "[]\n"
