"""What Modal and Daytona promise as hosts, by their unchanged libraries."""

from __future__ import annotations

import os
import time

import pytest

from tests.services.cloud_hosts import CLOUDS, everything, missing
from tools.environments.host import HostError

BYTES = bytes(range(256)) * 4 + b"\x01\x01\x01\x02\x02\x02 no newline"


@pytest.fixture(scope="module", params=CLOUDS)
def cloud(request, tmp_path_factory):
    if reason := missing(request.param):
        pytest.skip(reason)
    with CLOUDS[request.param](tmp_path_factory.mktemp(request.param)) as (server, make):
        host = make()
        yield server, make, host
        host.close()


@pytest.fixture
def make(cloud):
    return cloud[1]


@pytest.fixture
def host(cloud):
    return cloud[2]


@pytest.fixture
def folder(host):
    path = f"{host.home()}/{os.urandom(6).hex()}"
    host.run(["mkdir", path])
    return path


def test_short_process_has_input_two_streams_and_a_code(host):
    done = host.run(["sh", "-c", "cat; echo problem >&2; exit 3"], stdin=BYTES)
    assert (done.exit_code, done.out, done.err) == (3, BYTES, b"problem\n")


def test_short_process_takes_large_input(host):
    data = os.urandom(300_000)
    assert host.run(["cat"], stdin=data).out == data


def test_short_process_that_reads_nothing_ends_all_the_same(host):
    assert host.run(["true"], stdin=b"x" * 300_000).exit_code == 0


@pytest.mark.parametrize("word", ["a b", "$HOME", "'", '"', "\\", "new\nline", "*", "ü", ""])
def test_words_arrive_as_they_are(host, word):
    assert host.run(["printf", "<%s>", word]).out == f"<{word}>".encode()


def test_short_process_that_does_not_end_is_an_error_in_time(host):
    began = time.monotonic()
    with pytest.raises(HostError, match="did not end within 1 s"):
        host.run(["sleep", "60"], timeout=1)
    assert time.monotonic() - began < 5


def test_streams_stay_apart_and_carry_all_bytes(host):
    channel = host.open(["sh", "-c", "cat; echo problem >&2; exit 7"])
    channel.write(BYTES[:500])
    channel.write(BYTES[500:])
    channel.close_input()
    assert everything(channel) == ({"out": BYTES, "err": b"problem\n"}, 7)


def test_output_comes_before_the_process_ends(host):
    channel = host.open(["sh", "-c", "echo one; read x; echo $x; read y"])
    assert channel.read(10).data == b"one\n"
    assert channel.exit_code is None
    channel.write(b"two\n")
    assert channel.read(10).data == b"two\n"
    channel.close_input()
    assert everything(channel)[1] == 1


def test_reading_waits_no_longer_than_asked(host):
    channel = host.open(["sleep", "60"])
    began = time.monotonic()
    assert channel.read(0.2) is None
    assert 0.15 < time.monotonic() - began < 2
    channel.close()


def test_signal_that_ends_a_process_is_told(host):
    channel = host.open(["sh", "-c", "kill -TERM $$"])
    assert everything(channel)[1] == 128 + 15


def test_process_is_killed_by_its_number(host):
    channel = host.open(["sh", "-c", "echo $$; exec sleep 60"])
    host.run(["kill", "-KILL", channel.read(10).data.decode().strip()])
    assert everything(channel)[1] == 128 + 9


def test_child_that_holds_the_output_does_not_hold_up_the_end(host):
    channel = host.open(["sh", "-c", "sleep 60 & echo started; exit 4"])
    began = time.monotonic()
    assert everything(channel) == ({"out": b"started\n", "err": b""}, 4)
    assert time.monotonic() - began < 10


def test_large_output_is_complete_for_a_slow_reader(host):
    channel = host.open(["sh", "-c", "head -c 3000000 /dev/zero; echo done >&2"])
    time.sleep(0.5)  # a slow reader is what is tested
    came, code = everything(channel)
    assert (len(came["out"]), came["err"], code) == (3_000_000, b"done\n", 0)


def test_large_input_is_complete(host):
    channel = host.open(["wc", "-c"])
    channel.write(b"x" * 700_000)
    channel.close_input()
    assert int(everything(channel)[0]["out"]) == 700_000


def test_process_gets_variables_and_folder(host, folder):
    script = 'pwd; printf %s "$GIVEN"'
    channel = host.open(["sh", "-c", script], cwd=folder, env={"GIVEN": "a 'b'\n$c"})
    assert everything(channel)[0]["out"].decode() == f"{folder}\na 'b'\n$c"


def test_process_gets_a_terminal(host):
    channel = host.open(["sh", "-c", "test -t 0 && tty && read x && echo got $x"], pty=True)
    channel.write(b"typed\n")
    came, code = everything(channel)
    assert b"/dev/pts/" in came["out"]
    assert b"got typed" in came["out"]
    assert code == 0


def test_writing_after_the_end_is_an_error(host):
    channel = host.open(["true"])
    assert everything(channel)[1] == 0
    with pytest.raises(HostError, match="no more input"):
        channel.write(b"x")


def test_file_goes_there_and_back(host, folder):
    host.put(f"{folder}/a 'b'", BYTES, 0o750)
    assert host.get(f"{folder}/a 'b'") == BYTES
    assert host.run(["stat", "-c", "%a", f"{folder}/a 'b'"]).out == b"750\n"


def test_large_file_goes_there_and_back_and_leaves_nothing_else(host, folder):
    data = os.urandom(2_000_000)
    host.put(f"{folder}/large", b"before")
    host.put(f"{folder}/large", data)
    assert host.get(f"{folder}/large") == data
    assert host.run(["ls", "-A", folder]).out == b"large\n"


def test_files_that_are_not_there_are_told_apart(host, folder):
    with pytest.raises(FileNotFoundError):
        host.get(f"{folder}/none")
    with pytest.raises(IsADirectoryError):
        host.get(folder)
    with pytest.raises(FileNotFoundError):
        host.put(f"{folder}/none/file", b"x")
    with pytest.raises(IsADirectoryError):
        host.put(folder, b"x")


def test_host_is_isolated_from_this_machine(host):
    assert host.isolation.isolated
    assert host.isolation.host_paths == ()


def test_many_threads_may_use_a_host_at_once(host):
    channels = [host.open(["sh", "-c", f"read x; echo {n} $x"]) for n in range(8)]
    for channel in channels:
        channel.write(b"go\n")
    outs = [everything(channel)[0]["out"] for channel in channels]
    assert outs == [f"{n} go\n".encode() for n in range(8)]


def test_throw_away_sandbox_ends_with_its_host(cloud):
    server, make, _ = cloud
    host = make()
    machine = host.run(["printenv", "STAND_IN_SANDBOX"]).out.decode().strip()
    channel = host.open(["sleep", "60"])
    host.close()
    host.close()
    kept = [each.machine for each in server.sandboxes.values() if each.machine.name == machine]
    assert not any(each.alive or each.pids() for each in kept)
    with pytest.raises(HostError, match="closed"):
        host.run(["true"])
    channel.close()


def test_persistent_sandbox_keeps_its_files(make):
    first = make(name="kept")
    path = f"{first.home()}/note"
    first.put(path, b"for later", 0o600)
    first.close()
    second = make(name="kept")
    assert second.get(path) == b"for later"
    second.close()


def test_running_sandbox_is_found_by_its_name(make):
    first, second = make(name="shared"), make(name="shared")
    first.put("/tmp/hermes-shared", b"x")
    first.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $! >$HOME/pid"])
    pid = second.get(f"{second.home()}/pid").decode().strip()
    assert second.run(["kill", pid]).exit_code == 0
    second.close()
    first.close()


def test_health_says_what_there_is(make):
    host = make()
    assert host.health().text == "starts when needed"
    host.run(["true"])
    assert host.health().ok
    host.close()
    assert not host.health().ok
