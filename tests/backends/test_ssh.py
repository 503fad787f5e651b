"""SSH when something is wrong, and the ways to log in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time

import pytest

pytest.importorskip("asyncssh")

import asyncssh

from tests.services import sshd
from tests.services.ssh_server import PASSWORD, SshServer
from tests.services.tcp_proxy import TcpProxy
from tools.environments import ssh_settings
from tools.environments.backends import OpenOptions, backend
from tools.environments.host import HostError

LONG = 60


@pytest.fixture(params=["asyncssh", "openssh"])
def server(request, tmp_path):
    if request.param == "openssh" and (reason := sshd.missing()):
        pytest.skip(reason)
    started = SshServer(tmp_path) if request.param == "asyncssh" else sshd.Sshd(tmp_path)
    yield started
    started.stop()


@pytest.fixture
def plain(tmp_path):
    started = SshServer(tmp_path)
    yield started
    started.stop()


@pytest.fixture
def wire(server):
    """Between us and the server."""
    proxy = TcpProxy(server.port)
    server.make_known(proxy.port)
    yield proxy
    proxy.stop()


def opened(settings, **changes):
    return backend("ssh").open({**settings, **changes}, OpenOptions())


@pytest.fixture
def shell(server, wire):
    with opened(server.settings, TERMINAL_SSH_PORT=str(wire.port)) as environment:
        yield environment


def fail_while_it_runs(shell, command, fail):
    """Run a command that prints its pid first; ``fail`` happens when that has come."""
    begun = threading.Event()
    worker = threading.Thread(target=lambda: (begun.wait(LONG), fail()))
    worker.start()
    started = time.monotonic()
    try:
        with pytest.raises(HostError) as caught:
            shell.execute(f"echo pid $$; {command}", timeout=LONG, on_output=lambda _: begun.set())
    finally:
        begun.set()
        worker.join()
    return str(caught.value), time.monotonic() - started


def test_cut_connection_is_told_and_made_again_with_the_state(shell, wire):
    shell.execute("cd /usr; A=1; export B=2; f() { echo f$A$B; }; alias g='echo g'", timeout=LONG)
    text, seconds = fail_while_it_runs(shell, "sleep 60", wire.cut)
    assert "was lost" in text
    assert seconds < 20
    pid = re.search(r"It had printed:\npid (\d+)", text)[1]
    result = shell.execute("f; g; pwd", timeout=LONG)
    assert result.output == "f12\ng\n/usr\n"
    assert "lost and made again; it was started again with its state" in result.note
    living = f"grep -v ') Z' /proc/{pid}/stat 2>/dev/null"
    assert shell.execute(living, timeout=LONG).output == ""
    assert wire.connections == 2


def test_connection_cut_between_two_commands_costs_nothing(shell, wire):
    shell.execute("cd /usr; f() { echo f; }", timeout=LONG)
    wire.cut()
    time.sleep(0.3)  # the news must travel
    result = shell.execute("f; pwd", timeout=LONG)
    assert result.output == "f\n/usr\n"
    assert "made again" in result.note


def test_dead_wire_is_noticed(monkeypatch, server, wire):
    monkeypatch.setattr(ssh_settings, "SECONDS_BETWEEN_SIGNS", 0.5)
    with opened(server.settings, TERMINAL_SSH_PORT=str(wire.port)) as shell:
        shell.execute("export A=1", timeout=LONG)
        text, seconds = fail_while_it_runs(shell, "sleep 60", wire.freeze)
        assert "lost" in text
        assert seconds < 15
        wire.cut()
        wire.thaw()
        assert shell.execute("echo $A", timeout=LONG).output == "1\n"


def test_timeout_on_a_dead_wire_ends_in_time(shell, wire):
    shell.execute("export A=1", timeout=LONG)
    wire.freeze()
    started = time.monotonic()
    with pytest.raises(HostError):
        shell.execute("sleep 60", timeout=1)
    assert time.monotonic() - started < 1 + 15 + 4  # what the tool allows for ending
    wire.cut()
    wire.thaw()
    assert shell.execute("echo $A", timeout=LONG).output == "1\n"


def test_server_that_is_gone_is_named_and_used_again_when_it_is_back(plain):
    with opened(plain.settings) as shell:
        shell.execute("cd /usr; f() { echo f; }", timeout=LONG)
        plain.stop()
        with pytest.raises(HostError, match=r"cannot be reached.*is it up"):
            shell.execute("true", timeout=LONG)
        assert not shell.health().ok
        plain.start()
        assert shell.execute("f; pwd", timeout=LONG).output == "f\n/usr\n"
        assert shell.health().ok


def test_server_stopped_while_a_command_runs(plain):
    with opened(plain.settings) as shell:
        text, _ = fail_while_it_runs(shell, "sleep 60", plain.stop)
        assert "lost" in text
        plain.start()
        assert shell.execute("echo back", timeout=LONG).output == "back\n"


def test_changed_host_key_is_an_alarm_and_nothing_is_sent(plain):
    plain.stop()
    plain.host_key = asyncssh.generate_private_key("ssh-ed25519")
    plain.start()
    with opened(plain.settings) as shell, pytest.raises(HostError) as caught:
        shell.execute("true", timeout=LONG)
    assert "has changed" in str(caught.value)
    assert f"ssh-keygen -R '[127.0.0.1]:{plain.port}'" in str(caught.value)
    assert plain.logins == []


def test_unknown_host_key_is_refused(plain, tmp_path):
    (tmp_path / "known_hosts").write_text("")
    with opened(plain.settings) as shell, pytest.raises(HostError, match="not in known_hosts"):
        shell.execute("true", timeout=LONG)
    assert plain.logins == []


def test_password_is_enough(plain):
    with opened(plain.settings, TERMINAL_SSH_KEY="", TERMINAL_SSH_PASSWORD=PASSWORD) as shell:
        assert shell.execute("echo in", timeout=LONG).output == "in\n"


def test_wrong_password_says_what_to_do_and_shows_nothing(plain):
    settings = {**plain.settings, "TERMINAL_SSH_KEY": "", "TERMINAL_SSH_PASSWORD": "wrong one"}
    with opened(settings) as shell, pytest.raises(HostError, match="ssh-add") as caught:
        shell.execute("true", timeout=LONG)
    assert "wrong one" not in str(caught.value)
    assert "wrong one" not in repr(shell.host.destination)


@pytest.mark.skipif(not shutil.which("ssh-agent"), reason="no ssh-agent")
def test_agent_is_asked(plain, tmp_path, monkeypatch):
    socket = tmp_path / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            time.sleep(0.01)
        key = tmp_path / "id_ed25519"
        subprocess.run(["ssh-add", "-q", key], check=True, timeout=20, capture_output=True)
        key.unlink()
        with opened(plain.settings, TERMINAL_SSH_KEY="") as shell:
            assert shell.execute("echo in", timeout=LONG).output == "in\n"
    finally:
        agent.terminate()
        agent.wait(10)


def test_key_with_a_passphrase_says_what_to_do(plain, tmp_path):
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", tmp_path / "locked"]
    subprocess.run(key, check=True, timeout=20)
    settings = {**plain.settings, "TERMINAL_SSH_KEY": str(tmp_path / "locked")}
    with opened(settings) as shell, pytest.raises(HostError, match="ssh-add"):
        shell.execute("true", timeout=LONG)


def test_missing_key_is_named(plain):
    with (
        opened(plain.settings, TERMINAL_SSH_KEY="/no/such/key") as shell,
        pytest.raises(HostError, match="/no/such/key"),
    ):
        shell.execute("true", timeout=LONG)


def test_config_file_names_machine_user_key_and_the_way_there(plain, tmp_path):
    gate_folder = tmp_path / "gate"
    gate_folder.mkdir()
    gate = SshServer(gate_folder)
    try:
        known = tmp_path / "all_known"
        known.write_text(
            (tmp_path / "known_hosts").read_text() + (gate_folder / "known_hosts").read_text()
        )
        (tmp_path / "config").write_text(
            f"Host far\n  HostName 127.0.0.1\n  Port {plain.port}\n  User someone\n"
            f"  IdentityFile {tmp_path}/id_ed25519\n  ProxyJump gate\n"
            f"  UserKnownHostsFile {known}\n"
            f"Host gate\n  HostName 127.0.0.1\n  Port {gate.port}\n  User keeper\n"
            f"  IdentityFile {gate_folder}/id_ed25519\n  UserKnownHostsFile {known}\n"
        )
        settings = {"TERMINAL_SSH_HOST": "far", "TERMINAL_SSH_CONFIG": str(tmp_path / "config")}
        with opened(settings) as shell:
            assert shell.execute("echo in", timeout=LONG).output == "in\n"
        assert (plain.logins, gate.logins) == (["someone"], ["keeper"])
        assert gate.commands == []
    finally:
        gate.stop()


def test_what_is_missing_is_said_without_a_connection():
    ready, why = backend("ssh").available({})
    assert not ready
    assert "TERMINAL_SSH_HOST" in why
    ready, why = backend("ssh").available({"TERMINAL_SSH_HOST": "x", "TERMINAL_SSH_PORT": "many"})
    assert not ready
    assert "'many'" in why
    assert backend("ssh").available({"TERMINAL_SSH_HOST": "x", "TERMINAL_SSH_USER": "me"}) == (
        True,
        "me@x",
    )


def test_much_output_needs_little_memory(shell):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = shell.execute("yes | head -c 40000000; echo last", timeout=LONG)
    assert result.output.endswith("last\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB


def test_nothing_secret_is_in_the_list_of_processes(plain):
    with opened(plain.settings, TERMINAL_SSH_KEY="", TERMINAL_SSH_PASSWORD=PASSWORD) as shell:
        shell.execute("true", timeout=LONG)
    assert not any(PASSWORD in command for command in plain.commands)
    assert os.environ.get("SSH_AUTH_SOCK", "") not in plain.commands
