"""What each setting of the docker backend does, seen from inside a container."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from tests.services.engines import EngineService
from tools.environments.containers.docker_engine import Engine
from tools.environments.containers.docker_host import DockerHost
from tools.environments.containers.docker_spec import spec_from
from tools.environments.host import HostError

STATUS = "cat /proc/self/status"


def sh(host: DockerHost, script: str) -> str:
    done = host.run(["/bin/sh", "-c", script])
    return (done.out + done.err).decode().strip()


def field(status: str, name: str) -> str:
    return next(line.split(":")[1].strip() for line in status.splitlines() if line.startswith(name))


def inspect(service: EngineService, identity: str) -> dict:
    client = service.client()
    try:
        return client.api.inspect_container(identity)
    finally:
        client.close()


def names(service: EngineService, session: str) -> set[str]:
    """The containers of a session, running or not."""
    client = service.client()
    try:
        label = {"label": f"hermes.jupyter.session={session}"}
        return {c.name for c in client.containers.list(all=True, filters=label)}
    finally:
        client.close()


@pytest.fixture
def session() -> str:
    return uuid.uuid4().hex[:8]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/file.txt").write_text("from here")
    (tmp_path / "link").symlink_to("sub/file.txt")
    return tmp_path


def test_too_much_memory_is_refused_and_the_container_lives_on(engine, hosts):
    host = hosts(engine, {"TERMINAL_CONTAINER_MEMORY": "64"})
    done = host.run(["python3", "-c", "len(bytearray(200_000_000))"])
    assert done.exit_code == 137
    assert sh(host, "echo alive") == "alive"


def test_processes_are_limited(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_PIDS": "20"})
    said = sh(host, "for i in $(seq 40); do sleep 1 & done; wait")
    assert "fork" in said.lower()


def test_processors_are_limited(engine, hosts):
    host = hosts(engine, {"TERMINAL_CONTAINER_CPU": "0.2"})
    script = (
        "import time; wall, cpu = time.time(), time.process_time()\n"
        "while time.time() - wall < 1: pass\n"
        "print(time.process_time() - cpu)"
    )
    assert float(host.run(["python3", "-c", script]).out) < 0.5


def test_more_processors_than_there_are_is_no_error(engine, hosts):
    assert sh(hosts(engine, {"TERMINAL_CONTAINER_CPU": "64"}), "echo up") == "up"


def test_a_limit_on_the_disk_holds_or_is_said_not_to(engine, hosts):
    host = hosts(engine, {"TERMINAL_CONTAINER_DISK": "64m"})
    written = host.run(["sh", "-c", "head -c 100000000 /dev/zero >/opt/big"])
    assert written.exit_code != 0 or "cannot limit the disk" in host.health().text


def test_nobody_gains_privileges(engine, hosts):
    status = sh(hosts(engine), STATUS)
    assert field(status, "NoNewPrivs") == "1"


def test_only_few_capabilities_are_left(engine, hosts):
    #   CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, KILL 5, SETGID 6, SETUID 7
    held = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7
    host = hosts(engine)
    assert int(field(sh(host, STATUS), "CapEff"), 16) == held
    assert int(field(sh(host, STATUS), "CapBnd"), 16) == held
    assert host.run(["mount", "-t", "tmpfs", "none", "/opt"]).exit_code != 0


def test_capabilities_can_be_chosen(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_CAPABILITIES": "CHOWN"})
    assert int(field(sh(host, STATUS), "CapEff"), 16) == 1


def test_root_can_kill_what_another_user_started(engine, hosts):
    host = hosts(engine)
    channel = host.open(
        ["python3", "-c", "import os, time; os.setuid(1000); print(1, flush=True); time.sleep(99)"]
    )
    assert channel.read(10)
    assert sh(host, "kill -9 $(pgrep -u 1000)") == ""
    while channel.exit_code is None:
        channel.read(1)
    assert channel.exit_code == 137
    channel.close()


def test_a_read_only_root_leaves_room_to_work(engine, hosts, project):
    host = hosts(
        engine,
        {"TERMINAL_DOCKER_READ_ONLY": "true", "TERMINAL_DOCKER_WORKSPACE": "copy"},
        workspace=str(project),
    )
    assert "Read-only file system" in sh(host, "touch /opt/x")
    assert sh(host, "touch /tmp/x ~/x /workspace/x && cat /workspace/sub/file.txt") == "from here"
    host.put("/workspace/new", b"new")
    assert host.get("/workspace/new") == b"new"


def test_a_tmpfs_has_its_size_and_options(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_TMPFS": '["/tmp:size=1m", "/scratch:size=2m,noexec"]'})
    assert "No space left" in sh(host, "head -c 2000000 /dev/zero >/tmp/x")
    host.put("/scratch/run", b"#!/bin/sh\n", 0o755)
    assert host.run(["/bin/sh", "-c", "/scratch/run"]).exit_code == 126
    host.put("/tmp/run", b"", 0o755)
    assert "nosuid" in sh(host, "grep ' /tmp ' /proc/mounts")


def test_a_full_disk_is_an_error_that_loses_nothing(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_TMPFS": "/tmp:size=1m"})
    host.put("/tmp/kept", b"as it was")
    with pytest.raises(OSError, match="No space left"):
        host.put("/tmp/kept", b"x" * 3_000_000)
    assert host.get("/tmp/kept") == b"as it was"
    assert sh(host, "ls -A /tmp; echo and it works") == "kept\nand it works"


def test_no_network_means_none(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_NETWORK": "false"})
    assert not host.isolation.network
    assert sh(host, "cut -d: -f1 /proc/net/dev | tail -n +3").split() == ["lo"]


def test_a_network_can_be_chosen(engine, hosts):
    if engine.title == "podman":
        pytest.skip("this podman gives every container the network none (its containers.conf)")
    client = engine.client()
    network = client.networks.create(f"hermes-{uuid.uuid4().hex[:6]}", driver="bridge")
    try:
        host = hosts(engine, {"TERMINAL_DOCKER_NETWORK": network.name})
        assert host.isolation.network
        assert "eth0" in sh(host, "cat /proc/net/dev")
        host.close()
    finally:
        network.remove()
        client.close()


def test_volumes_are_mounted_and_told_as_host_paths(engine, hosts, tmp_path):
    (tmp_path / "rw").mkdir()
    (tmp_path / "ro").mkdir()
    (tmp_path / "ro/x").write_text("read me")
    volumes = f'["{tmp_path}/rw:/data", "{tmp_path}/ro:/fixed:ro", "hermes-cache:/cache"]'
    host = hosts(engine, {"TERMINAL_DOCKER_VOLUMES": volumes})
    assert sh(host, "cat /fixed/x; echo out >/data/y; touch /cache/z && echo ed") == "read meed"
    assert (tmp_path / "rw/y").read_text() == "out\n"
    assert "Read-only file system" in sh(host, "touch /fixed/z")
    assert host.isolation.host_paths == (f"{tmp_path}/rw",)


def test_a_mounted_workspace_is_the_same_folder(engine, hosts, project):
    host = hosts(engine, {"TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE": "true"}, workspace=str(project))
    assert sh(host, "pwd; cat link; echo out >made") == "/workspace\nfrom here"
    assert (project / "made").read_text() == "out\n"
    assert host.isolation.host_paths == (str(project),)


def test_a_copied_workspace_is_another_folder(engine, hosts, project):
    host = hosts(engine, {"TERMINAL_DOCKER_WORKSPACE": "copy"}, workspace=str(project))
    assert sh(host, "cat link; rm -r sub; echo out >made") == "from here"
    assert (project / "sub/file.txt").exists()
    assert not (project / "made").exists()
    assert host.isolation.host_paths == ()


def test_a_workspace_that_is_too_large_is_not_copied(engine, hosts, project, session, monkeypatch):
    monkeypatch.setattr("tools.environments.containers.docker_workspace.COPY_LIMIT", 5)
    copy = {"TERMINAL_DOCKER_WORKSPACE": "copy"}
    with pytest.raises(HostError, match="too much to be copied"):
        hosts(engine, copy, session=session, workspace=str(project)).run(["true"])
    assert names(engine, session) == set()


def test_without_workspace_nothing_of_this_machine_is_there(engine, hosts, project):
    host = hosts(engine, workspace=str(project))
    assert sh(host, "pwd; ls -A") == "/workspace"
    assert host.isolation.host_paths == ()


def test_commands_can_run_as_the_user_of_this_machine(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_RUN_AS_HOST_USER": "true"})
    assert sh(host, "id -u") == str(os.getuid())


def test_an_ordinary_user_may_write_to_the_workspace(engine, hosts):
    host = hosts(engine, {"TERMINAL_DOCKER_USER": "1234:1234"})
    assert sh(host, "id -u; touch x && stat -c %u x; touch ~/y && echo $HOME") == "1234\n1234\n/tmp"
    assert field(sh(host, STATUS), "CapEff") == "0000000000000000"


def test_the_starting_folder_can_be_chosen(engine, hosts):
    assert sh(hosts(engine, {"TERMINAL_CWD": "/srv/work"}), "pwd") == "/srv/work"


def test_variables_are_passed_and_not_written_into_the_container(engine, hosts):
    host = hosts(engine, env={"TOKEN": "s3cret, and more"})
    assert sh(host, 'echo "$TOKEN"') == "s3cret, and more"
    assert "s3cret" not in str(inspect(engine, host.identity))


def test_a_throw_away_container_is_gone_after_the_session(engine, hosts, session):
    host = hosts(engine, session=session)
    host.run(["true"])
    assert len(names(engine, session)) == 1
    host.close()
    assert names(engine, session) == set()
    with pytest.raises(HostError, match="closed"):
        host.run(["true"])


def test_a_persistent_container_is_found_again(engine, hosts, session):
    settings = {"TERMINAL_CONTAINER_PERSISTENT": "true"}
    first = hosts(engine, settings, session=session)
    sh(first, "echo kept >/opt/x; echo too >/workspace/y")
    first.close()
    assert not inspect(engine, first.identity)["State"]["Running"]
    second = hosts(engine, settings, session=session)
    assert sh(second, "cat /opt/x /workspace/y") == "kept\ntoo"
    assert second.identity == first.identity
    second.close()
    remove(engine, first.identity)


def test_a_persistent_container_can_stay_up(engine, hosts, session):
    settings = {
        "TERMINAL_CONTAINER_PERSISTENT": "true",
        "TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES": "true",
    }
    first = hosts(engine, settings, session=session)
    pid = sh(first, "setsid sleep 600 >/dev/null 2>&1 & echo $!")
    first.close()
    second = hosts(engine, settings, session=session)
    assert second.run(["kill", "-0", pid]).exit_code == 0
    remove(engine, second.identity)


def test_other_settings_are_another_container(engine, hosts, session):
    settings = {"TERMINAL_CONTAINER_PERSISTENT": "true"}
    first = hosts(engine, settings, session=session)
    sh(first, "touch /opt/x")
    second = hosts(engine, {**settings, "TERMINAL_DOCKER_PIDS": "99"}, session=session)
    assert "No such file" in sh(second, "ls /opt/x")
    for host in (first, second):
        remove(engine, host.identity)


def remove(service: EngineService, identity: str) -> None:
    client = service.client()
    client.api.remove_container(identity, force=True, v=True)
    client.close()


def test_an_image_that_is_nowhere_is_a_clear_error(engine, hosts, session):
    host = hosts(engine, {"TERMINAL_DOCKER_IMAGE": "127.0.0.1:1/no/such:image"}, session=session)
    with pytest.raises(HostError, match=r"127\.0\.0\.1:1/no/such:image.*TERMINAL_DOCKER_IMAGE"):
        host.run(["true"])
    assert names(engine, session) == set()


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("TERMINAL_CONTAINER_MEMORY", "lots"),
        ("TERMINAL_CONTAINER_CPU", "-1"),
        ("TERMINAL_CONTAINER_PERSISTENT", "perhaps"),
        ("TERMINAL_DOCKER_VOLUMES", "/only/one"),
        ("TERMINAL_DOCKER_VOLUMES", "[broken"),
        ("TERMINAL_DOCKER_WORKSPACE", "sync"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(setting, text):
    with pytest.raises(ValueError, match=setting):
        spec_from({setting: text}, "s", "/w")


def test_a_home_of_this_machine_is_no_folder_of_the_container():
    assert spec_from({"TERMINAL_CWD": "/home/me/project"}, "s", "/w").cwd == "/workspace"


def test_an_engine_behind_ssh_is_refused_with_a_way_out():
    with pytest.raises(HostError, match="TERMINAL_ENV=ssh"):
        Engine({"DOCKER_HOST": "ssh://me@there"}).api  # noqa: B018
