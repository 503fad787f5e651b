"""What Modal and Daytona do to us, and what a person reads then: never a wait without an end."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.services.cloud_hosts import CLOUDS, everything, missing
from tools.environments import daytona_channel, daytona_host, modal_host
from tools.environments.async_host import import_extra
from tools.environments.backends import OpenOptions, backend
from tools.environments.base import CommandResult
from tools.environments.host import HostError
from tools.environments.remote import RemoteEnvironment


class Cloud:
    """A stand-in, and how to make it fail in the ways of its service."""

    def __init__(self, name, server, make):
        self.name, self.server, self.make = name, server, make

    def shell(self, **wanted) -> RemoteEnvironment:
        return RemoteEnvironment(self.name, self.make(**wanted))

    def refuse_credentials(self):
        other = {"token": ("ak-wrong", "as-wrong")} if self.name == "modal" else {"key": "wrong"}
        return self.make(**other)

    def reach_quota(self) -> None:
        if self.name == "modal":
            from grpclib import Status

            message = "Sandbox limit reached (100)"
            self.server.fail("SandboxCreateV2", Status.RESOURCE_EXHAUSTED, message, times=9)
        else:
            self.server.quota = 0

    def break_processes(self, times: int) -> None:
        """Answer with an error of the server when a process is started."""
        if self.name == "modal":
            from grpclib import Status

            self.server.fail("TaskExecStart", Status.INTERNAL, times=times)
        else:
            self.server.fail("POST /process/execute", 502, times=times)

    def never_start_processes(self) -> None:
        if self.name == "modal":
            self.server.hang("TaskExecStart", times=99)
        else:
            self.server.fail("POST /process/execute", 0, times=99)

    def never_create(self) -> None:
        if self.name == "modal":
            self.server.hang("SandboxCreateV2", times=99)
        else:
            self.server.fail("POST /sandbox", 0, times=99)


@pytest.fixture(params=CLOUDS)
def cloud(request, tmp_path) -> Iterator[Cloud]:
    if reason := missing(request.param):
        pytest.skip(reason)
    with CLOUDS[request.param](tmp_path) as (server, make):
        yield Cloud(request.param, server, make)


@pytest.fixture
def shell(cloud) -> Iterator[RemoteEnvironment]:
    with cloud.shell() as environment:
        environment.execute("true", timeout=60)
        yield environment


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def second_try(shell: RemoteEnvironment, command: str) -> CommandResult:
    """Run a command; once more if what happened just before was noticed only with it."""
    with suppress(HostError):
        return shell.execute(command, timeout=60)
    return shell.execute(command, timeout=60)


@contextmanager
def soon(happening: Callable[[], None], after: float = 0.7) -> Iterator[None]:
    """Something happens while the block runs."""
    timer = threading.Timer(after, happening)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.fixture
def impatient(monkeypatch):
    for module in (modal_host, daytona_host):
        monkeypatch.setattr(module, "CALL_TIMEOUT", 1.0)
        monkeypatch.setattr(module, "CREATE_TIMEOUT", 1.0)


def test_library_that_is_not_installed_is_named_with_its_extra():
    with pytest.raises(HostError, match=r"pip install 'hermes-jupyter\[modal\]'"):
        import_extra("no_such_library", "modal")


@pytest.mark.parametrize(
    ("name", "remedy"), [("modal", "modal token new"), ("daytona", "DAYTONA_API_KEY")]
)
def test_missing_credentials_are_named_with_the_remedy(name, remedy, monkeypatch, tmp_path):
    if reason := missing(name):
        pytest.skip(reason)
    monkeypatch.setenv("HOME", str(tmp_path))
    available, text = backend(name).available({})
    assert not available
    assert remedy in text


def test_modal_without_a_token_says_how_to_get_one(monkeypatch, tmp_path):
    if reason := missing("modal"):
        pytest.skip(reason)
    for name in ("MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        backend("modal").open({}, OpenOptions(session="s")) as environment,
        pytest.raises(HostError, match="modal token new"),
    ):
        environment.execute("true", timeout=30)


def test_daytona_without_a_key_says_how_to_get_one():
    with pytest.raises(HostError, match=r"keys, and set DAYTONA_API_KEY"):
        backend("daytona").open({}, OpenOptions(session="s"))


def test_wrong_credentials_are_told(cloud):
    host = cloud.refuse_credentials()
    with within(20), pytest.raises(HostError, match=r"does not accept the (token|key).*[Ss]et|set"):
        host.run(["true"])
    host.close()


def test_quota_is_told_with_what_to_do(cloud):
    cloud.reach_quota()
    host = cloud.make()
    with within(30), pytest.raises(HostError, match=r"limit of your (workspace|organization)"):
        host.run(["true"])
    host.close()


def test_image_that_cannot_be_made_is_told(cloud):
    cloud.server.broken_images["nosuch/image"] = "build failed: manifest unknown"
    host = cloud.make(image="nosuch/image:1")
    with within(30), pytest.raises(HostError, match=r"manifest unknown.*TERMINAL_\w+_IMAGE"):
        host.run(["true"])
    host.close()


def test_sandbox_that_is_away_is_replaced_for_the_next_command(cloud, shell):
    shell.execute("export KEPT=1", timeout=60)
    cloud.server.end_sandboxes()
    with within(60):
        result = second_try(shell, "echo ${KEPT:-nothing}")
    assert result.output == "nothing\n"
    assert "nothing of its state" in result.note
    assert shell.execute("echo on", timeout=60).output == "on\n"


def test_sandbox_that_ends_during_a_command_is_told(cloud, shell):
    with soon(cloud.server.end_sandboxes), within(40), pytest.raises(HostError, match="lost"):
        shell.execute("echo begun; sleep 60", timeout=50)
    assert shell.execute("echo on", timeout=60).output == "on\n"


def test_what_a_lost_command_had_printed_is_told(cloud, shell):
    with soon(cloud.server.end_sandboxes, 1.5), pytest.raises(HostError, match="half done"):
        shell.execute("echo half done; sleep 60", timeout=50)


def test_single_error_of_the_servers_is_not_seen_by_modal_users(cloud):
    if cloud.name != "modal":
        pytest.skip("the library of daytona does not try again")
    cloud.break_processes(times=2)
    with cloud.shell() as environment:
        assert environment.execute("echo on", timeout=60).output == "on\n"


def test_errors_of_the_servers_are_told_and_pass(cloud):
    with cloud.shell() as environment:
        environment.host.run(["true"])
        cloud.break_processes(times=1000)
        with within(60), pytest.raises(HostError, match="servers are at fault"):
            environment.execute("true", timeout=30)
        cloud.server.heal()
        assert environment.execute("echo on", timeout=60).output == "on\n"


def test_servers_that_do_not_answer_are_given_up_in_time(cloud, impatient):
    with cloud.shell() as environment:
        environment.host.home()
        cloud.never_start_processes()
        with within(15), pytest.raises(HostError, match="did not answer"):
            environment.execute("true", timeout=30)
        cloud.server.heal()
        assert environment.execute("echo on", timeout=60).output == "on\n"


def test_sandbox_that_is_never_made_is_given_up_in_time(cloud, impatient):
    cloud.never_create()
    host = cloud.make()
    with within(15), pytest.raises(HostError, match="did not answer"):
        host.run(["true"])
    cloud.server.heal()
    assert host.run(["echo", "on"]).out == b"on\n"
    host.close()


def test_servers_that_cannot_be_reached_are_told(cloud, impatient):
    host = cloud.make()
    cloud.server.stop()
    with within(15), pytest.raises(HostError, match=r"cannot be reached|did not answer"):
        host.run(["true"])
    cloud.server.start()
    host.close()


def test_command_after_a_cut_connection_goes_on_with_the_state(cloud, shell):
    shell.execute("export KEPT=1; cd /usr", timeout=60)
    cloud.server.stop()
    cloud.server.start()
    with within(60):
        result = second_try(shell, "echo $KEPT $PWD")
    assert result.output == "1 /usr\n"


def test_cut_during_a_command_ends_in_time_and_the_next_works(cloud, shell):
    def cut() -> None:
        cloud.server.stop()
        cloud.server.start()

    with soon(cut), within(30):
        if cloud.name == "modal":  # its library goes on where it was
            assert shell.execute("sleep 3; echo through", timeout=45).output == "through\n"
        else:
            with pytest.raises(HostError, match="lost"):
                shell.execute("sleep 3; echo through", timeout=45)
    assert shell.execute("echo on", timeout=60).output == "on\n"


def test_end_of_a_host_whose_servers_are_away_is_told_in_time(cloud, impatient):
    host = cloud.make()
    host.run(["true"])
    cloud.server.stop()
    with within(80), pytest.raises(HostError):
        host.close()
    cloud.server.start()


def test_health_of_a_sandbox_that_is_away_says_so_in_time(cloud):
    host = cloud.make()
    host.run(["true"])
    cloud.server.end_sandboxes()
    with within(10):
        health = host.health()
    assert not health.ok
    assert "next command" in health.text
    cloud.server.stop()
    with within(10):
        assert not host.health().ok
    cloud.server.start()
    host.close()


def test_expired_access_to_a_sandbox_is_renewed(tmp_path):
    if reason := missing("modal"):
        pytest.skip(reason)
    with CLOUDS["modal"](tmp_path) as (server, make):
        server.token_lifetime = 1
        host = make()
        host.run(["true"])
        time.sleep(1.1)  # until it has expired
        server.token_lifetime = 60
        assert host.run(["echo", "on"]).out == b"on\n"
        host.close()


def test_process_waits_for_a_reader_who_does_not_read(tmp_path):
    if reason := missing("daytona"):
        pytest.skip(reason)
    with CLOUDS["daytona"](tmp_path) as (server, make):
        host = make()
        channel = host.open(["head", "-c", "9000000", "/dev/zero"])
        time.sleep(3)  # long enough for all of it, if nothing held it up
        (sandbox,) = server.sandboxes.values()
        assert 0 < sum(terminal.sent for terminal in sandbox.terminals.values()) < 2_000_000
        came, code = everything(channel)
        assert (len(came["out"]), code) == (9_000_000, 0)
        host.close()


@pytest.fixture
def daytona(tmp_path) -> Iterator[tuple]:
    if reason := missing("daytona"):
        pytest.skip(reason)
    with CLOUDS["daytona"](tmp_path) as (server, make):
        host = make()
        yield server, host
        host.close()


GREETING = b"echo WELCOME; printf '12\\n'; PS1='\\[\\e[31m\\]\\w $ '; stty -echo"


def test_login_shell_that_greets_is_not_taken_for_output(daytona):
    _, host = daytona
    host.put(f"{host.home()}/.bash_profile", GREETING)
    assert everything(host.open(["echo", "on"])) == ({"out": b"on\n", "err": b""}, 0)


def test_login_shell_that_asks_is_given_up_and_shown(daytona, monkeypatch):
    monkeypatch.setattr(daytona_channel, "READY_TIMEOUT", 2.0)
    _, host = daytona
    host.put(f"{host.home()}/.bash_profile", b"read -p 'Which project? ' project; sleep 60")
    with within(20), pytest.raises(HostError, match=r"start files ask.*Which project"):
        host.open(["echo", "on"])


def test_sandbox_with_nothing_but_busybox_will_do(daytona, tmp_path, monkeypatch):
    busybox = shutil.which("busybox")
    if not busybox:
        pytest.skip("no busybox; install it (apt-get install busybox)")
    programs = tmp_path / "programs"
    programs.mkdir()
    subprocess.run([busybox, "--install", "-s", programs], check=True, timeout=30)
    monkeypatch.setenv("PATH", str(programs))  # the stand-in gives it to its sandboxes
    server, host = daytona
    server.login_shell = str(programs / "sh")
    channel = host.open(["sh", "-c", "readlink -f /proc/$$/exe; cat; echo problem >&2; exit 3"])
    channel.write(b"\0\xff")
    channel.close_input()
    came, code = everything(channel)
    assert b"busybox\n\0\xff" in came["out"]
    assert (came["err"], code) == (b"problem\n", 3)
    assert host.run(["cat"], stdin=b"\0\xff").out == b"\0\xff"
    host.put(f"{host.home()}/file", b"x" * 200_000)
    assert host.get(f"{host.home()}/file") == b"x" * 200_000


def test_nothing_of_the_key_is_told(cloud):
    host = cloud.refuse_credentials()
    with pytest.raises(HostError) as caught:
        host.run(["true"])
    assert "as-wrong" not in str(caught.value)
    host.close()


def test_environment_is_left_as_it_was(cloud, shell):
    before = dict(os.environ)
    shell.execute("export OTHER=1", timeout=60)
    assert dict(os.environ) == before
