"""The interface `Host` on Docker's API: each test runs on dockerd and on podman's service."""

from __future__ import annotations

import os
import threading
import time

import pytest

from tests.services.engines import BUSYBOX
from tools.environments.containers.docker_host import DockerHost
from tools.environments.host import Channel, HostError


@pytest.fixture(scope="module")
def host(engine):
    """One host for all tests that leave nothing behind."""
    from tests.backends.containers.conftest import Hosts

    hosts = Hosts()
    yield hosts(engine)
    for host in hosts.opened:
        host.close()


def everything(channel: Channel, seconds: float = 10) -> tuple[bytes, bytes]:
    """Read to the end of both streams."""
    streams = {"out": b"", "err": b""}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        piece = channel.read(0.2)
        if piece is not None:
            streams[piece.stream] += piece.data
        elif channel.exit_code is not None:
            return streams["out"], streams["err"]
    raise AssertionError(f"no end after {seconds} s; so far {streams}")


def until(channel: Channel, wanted: bytes, seconds: float = 10) -> bytes:
    """Read standard output until it holds ``wanted``."""
    seen = b""
    deadline = time.monotonic() + seconds
    while wanted not in seen:
        assert time.monotonic() < deadline, seen
        if (piece := channel.read(0.2)) is not None:
            seen += piece.data
    return seen


def sh(host: DockerHost, script: str, **about) -> str:
    done = host.run(["/bin/sh", "-c", script], **about)
    assert done.exit_code == 0, done
    return done.out.decode().strip()


def test_a_process_has_two_streams_and_an_exit_code(host):
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (done.out, done.err, done.exit_code) == (b"out\n", b"err\n", 7)


def test_the_signal_that_ended_a_process_is_in_its_exit_code(host):
    assert host.run(["sh", "-c", "kill -KILL $$"]).exit_code == 137


def test_every_byte_comes_back_as_it_was_sent(host):
    given = bytes(range(256)) * 40_000  # 10 MB, more than any buffer on the way
    assert host.run(["cat"], stdin=given).out == given


def test_nothing_is_lost_at_the_start_or_end_of_short_processes(host):
    assert {host.run(["echo", "hi"]).out for _ in range(10)} == {b"hi\n"}


def test_input_can_be_written_line_by_line_and_ended(host):
    channel = host.open(["cat"])
    channel.write(b"one\n")
    assert until(channel, b"one\n")
    channel.write(b"two\n")
    channel.close_input()
    assert everything(channel) == (b"two\n", b"")
    with pytest.raises(HostError, match="input is closed"):
        channel.write(b"three\n")
    channel.close()


def test_a_process_that_reads_nothing_does_not_block_who_feeds_and_reads(host):
    channel = host.open(["sh", "-c", "echo ready; sleep 0.5; wc -c"])
    channel.feed(b"x" * 3_000_000)
    channel.close_input()
    assert everything(channel)[0] == b"ready\n3000000\n"
    channel.close()


def test_reading_waits_no_longer_than_it_is_told(host):
    channel = host.open(["sleep", "60"])
    began = time.monotonic()
    assert channel.read(0.3) is None
    assert 0.25 < time.monotonic() - began < 2
    assert channel.exit_code is None
    channel.close()


def test_a_channel_that_is_closed_by_another_thread_wakes_its_reader(host):
    channel = host.open(["sleep", "60"])
    threading.Timer(0.3, channel.close).start()
    began = time.monotonic()
    with pytest.raises(HostError, match="closed"):
        channel.read(30)
    assert time.monotonic() - began < 5


def test_variables_and_folder_are_those_that_were_asked_for(host):
    env = {"A": "1,2", "B": "x y"}
    channel = host.open(["sh", "-c", 'echo "$A $B"; pwd'], cwd="/tmp", env=env)
    assert everything(channel)[0] == b"1,2 x y\n/tmp\n"
    channel.close()


def test_a_process_starts_in_the_home(host):
    assert sh(host, "pwd") == host.home() == "/workspace"


def test_a_missing_program_is_told_by_exit_code_and_text(host):
    done = host.run(["no-such-program"])
    assert done.exit_code in (126, 127)
    assert b"no-such-program" in done.out + done.err


def test_a_terminal_is_one(host):
    script = "tty >/dev/null && stty size && read x && echo got $x"
    channel = host.open(["sh", "-c", script], pty=True)
    assert b"24 80" in until(channel, b"24 80")
    channel.write(b"yes\n")
    assert b"got yes" in until(channel, b"got yes")
    channel.close()


def test_a_process_is_killed_by_its_number_there(host):
    channel = host.open(["sh", "-c", "echo $$; exec sleep 600"])
    pid = until(channel, b"\n").strip().decode()
    host.run(["kill", "-9", pid])
    assert everything(channel) == (b"", b"")
    assert channel.exit_code == 137
    assert f"{pid} " not in sh(host, "ps -e -o pid= -o stat=")
    channel.close()


def test_a_process_outlives_its_channel(host):
    channel = host.open(["sh", "-c", "echo $$; exec sleep 600 >/dev/null"])
    pid = until(channel, b"\n").strip().decode()
    channel.close()
    assert host.run(["kill", "-0", pid]).exit_code == 0
    host.run(["kill", "-9", pid])


def test_a_run_that_does_not_end_in_time_raises(host):
    began = time.monotonic()
    with pytest.raises(HostError, match="in time"):
        host.run(["sleep", "5"], timeout=1)
    assert time.monotonic() - began < 4


def test_a_child_that_holds_the_streams_does_not_hold_up_the_run(host):
    began = time.monotonic()
    assert host.run(["sh", "-c", "sleep 8 & echo done"]).out == b"done\n"
    assert time.monotonic() - began < 6


def test_orphans_are_buried(host):
    script = "for i in 1 2 3 4 5; do (sh -c 'sleep 0.1' &) ; done; sleep 1; ps -e -o stat="
    assert "Z" not in sh(host, script)


def test_ten_threads_use_a_host_at_once(host):
    seen: list[bytes] = []

    def echo(number: int) -> None:
        seen.append(host.run(["echo", str(number)], timeout=60).out)

    threads = [threading.Thread(target=echo, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert sorted(seen) == sorted(f"{n}\n".encode() for n in range(10))


def test_a_hundred_processes_leave_no_descriptor_open(host):
    host.run(["true"])
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        host.run(["true"])
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # noqa: PTH208


@pytest.mark.parametrize("path", ["/workspace/a b", "/tmp/ünï'\"$(x)", "/root/-n"])
def test_a_file_comes_back_as_it_was_put(host, path):
    content = bytes(range(256)) * 1000
    host.put(path, content, 0o640)
    assert host.get(path) == content
    host.put(path, b"")
    assert host.get(path) == b""


def test_a_file_has_the_mode_that_was_asked_for(host):
    host.put("/tmp/run-me", b"#!/bin/sh\necho ran\n", 0o755)
    assert sh(host, "/tmp/run-me; stat -c %a /tmp/run-me") == "ran\n755"


def test_a_link_stays_a_link_when_its_file_is_written(host):
    sh(host, "echo old >/tmp/target; ln -sf target /tmp/link")
    host.put("/tmp/link", b"new")
    assert sh(host, "readlink /tmp/link; cat /tmp/target") == "target\nnew"


@pytest.mark.parametrize(
    ("path", "error"),
    [("/tmp/none", FileNotFoundError), ("/tmp", IsADirectoryError)],
)
def test_what_cannot_be_read_is_told_as_python_does(host, path, error):
    with pytest.raises(error):
        host.get(path)


@pytest.mark.parametrize(
    ("path", "error"),
    [("/none/x", FileNotFoundError), ("/tmp", IsADirectoryError), ("/sys/x", PermissionError)],
)
def test_what_cannot_be_written_is_told_as_python_does(host, path, error):
    with pytest.raises(error):
        host.put(path, b"x")


def test_busybox_is_enough(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_IMAGE": BUSYBOX})
    host.put("/workspace/x", b"\0\xff" * 100)
    assert host.get("/workspace/x") == b"\0\xff" * 100
    assert host.run(["sh", "-c", "echo $((1+1))"]).out == b"2\n"
    assert host.run(["sh", "-c", "(sleep 0.1 &); sleep 0.6; ps | grep -c '[Z] '"]).out == b"0\n"


def test_health_names_engine_and_container(engine, hosts):
    host = hosts(engine)
    assert host.health().ok
    assert "starts with the first command" in host.health().text
    host.run(["true"])
    assert host.health().ok
    assert "running" in host.health().text
