"""Containers and engines that end under a session: nothing hangs, the next command works."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid

import pytest

from tests.backends.containers.test_docker_options import inspect, names, remove, sh
from tests.services.engines import EngineService
from tools.environments.containers import owner
from tools.environments.containers.docker_create import create
from tools.environments.containers.docker_engine import Engine
from tools.environments.containers.docker_host import DockerHost
from tools.environments.containers.docker_reaper import reap
from tools.environments.containers.docker_spec import ContainerSpec
from tools.environments.host import Channel, HostError, Piece

PERSISTENT = {"TERMINAL_CONTAINER_PERSISTENT": "true"}


@pytest.fixture
def session() -> str:
    return uuid.uuid4().hex[:8]


def sleeping(host: DockerHost) -> Channel:
    """A process that has started and goes on for long."""
    channel = host.open(["sh", "-c", "echo started; sleep 600"])
    assert channel.read(20) == Piece("out", b"started\n")
    return channel


def fails(channel: Channel, seconds: float = 20) -> str:
    """Read until the connection is lost; how that is told."""
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            piece = channel.read(0.5)
            assert piece is None or not piece.data
            assert channel.exit_code is None
    except HostError as error:
        return str(error)
    finally:
        channel.close()
    raise AssertionError(f"nobody told that the connection is lost in {seconds} s")


def api(service: EngineService, method: str, identity: str) -> None:
    client = service.client()
    getattr(client.api, method)(identity)
    client.close()


def test_a_killed_container_is_started_again_with_its_files(engine, hosts):
    host = hosts(engine)
    sh(host, "echo kept >/opt/x")
    channel = sleeping(host)
    api(engine, "kill", host.identity)
    assert "the container was stopped (exit code 137)" in fails(channel)
    assert not host.health().ok
    assert sh(host, "cat /opt/x") == "kept"
    assert host.health().ok


def test_a_removed_container_is_made_again(engine, hosts):
    host = hosts(engine)
    channel = sleeping(host)
    first = host.identity
    remove(engine, first)
    assert "removed" in fails(channel)
    assert "removed" in host.health().text
    assert sh(host, "echo works") == "works"
    assert host.identity != first


def test_a_paused_container_goes_on(engine, hosts):
    host = hosts(engine)
    host.run(["true"])
    api(engine, "pause", host.identity)
    assert sh(host, "echo works") == "works"


def test_a_killed_engine_is_told_and_its_return_is_enough(own_engine, hosts):
    host = hosts(own_engine)
    sh(host, "echo kept >/opt/x")
    channel = sleeping(host)
    own_engine.kill()
    try:
        assert "does not answer" in fails(channel)
        began = time.monotonic()
        with pytest.raises(HostError, match="DOCKER_HOST"):
            host.run(["true"])
        assert not host.health().ok
        assert time.monotonic() - began < 5
    finally:
        own_engine.start()
    assert sh(host, "cat /opt/x") == "kept"


def test_a_stopped_engine_is_told_and_its_return_is_enough(own_engine, hosts):
    host = hosts(own_engine)
    channel = sleeping(host)
    own_engine.stop()
    try:
        fails(channel)
        with pytest.raises(HostError, match="does not answer"):
            host.run(["true"])
    finally:
        own_engine.start()
    assert sh(host, "echo works") == "works"


def test_a_frozen_engine_holds_up_nobody_beyond_the_deadline(own_engine, hosts):
    host = hosts(own_engine)
    channel = sleeping(host)
    own_engine.freeze()
    try:
        began = time.monotonic()
        with pytest.raises(HostError):
            host.run(["true"], timeout=2)
        assert not host.health().ok
        channel.close()
        assert time.monotonic() - began < 12
    finally:
        own_engine.thaw()
    assert sh(host, "echo works") == "works"


def test_two_sessions_of_one_name_share_their_persistent_container(engine, hosts, session):
    both = [hosts(engine, PERSISTENT, session=session) for _ in range(2)]
    threads = [threading.Thread(target=host.run, args=(["true"],)) for host in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert both[0].identity == both[1].identity != ""
    remove(engine, both[0].identity)


# Orphans: a process makes a container and is killed.

LEAVE = """
import os, sys
from tools.environments.containers.docker_engine import Engine
from tools.environments.containers.docker_host import DockerHost
from tools.environments.containers.docker_spec import spec_from
settings = dict(pair.split("=", 1) for pair in sys.argv[2:])
host = DockerHost(spec_from(settings, sys.argv[1], "/w"), Engine(settings), {})
host.run(["/bin/sh", "-c", os.environ.get("LEAVE", "true")])
print(host.identity, flush=True)
os.kill(os.getpid(), 9)
"""


def left(service: EngineService, session: str, persistent: str, script: str = "true") -> str:
    """A container whose process is gone."""
    settings = {
        **service.settings,
        "TERMINAL_CONTAINER_PERSISTENT": persistent,
        "TERMINAL_DOCKER_NETWORK": "none",
    }
    pairs = [f"{name}={value}" for name, value in settings.items()]
    done = subprocess.run(
        [sys.executable, "-c", LEAVE, session, *pairs],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "LEAVE": script, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout, done.stderr
    return done.stdout.strip()


def test_a_throw_away_container_of_a_dead_process_is_removed_by_the_next(engine, hosts, session):
    left(engine, session, "false")
    assert len(names(engine, session)) == 1
    hosts(engine).run(["true"])
    assert names(engine, session) == set()


def test_a_persistent_container_of_a_dead_process_is_stopped_and_kept(engine, hosts, session):
    identity = left(engine, session, "true")
    hosts(engine).run(["true"])
    assert not inspect(engine, identity)["State"]["Running"]
    remove(engine, identity)


def test_a_persistent_container_in_which_a_job_runs_is_left_alone(engine, hosts, session):
    identity = left(engine, session, "true", "setsid tail -f /dev/null >/dev/null 2>&1 &")
    hosts(engine).run(["true"])
    assert inspect(engine, identity)["State"]["Running"]
    remove(engine, identity)


def test_nothing_is_reaped_if_that_is_switched_off(engine, hosts, session):
    identity = left(engine, session, "false")
    hosts(engine, reaps=False).run(["true"])
    assert len(names(engine, session)) == 1
    remove(engine, identity)


def test_the_containers_of_living_processes_and_other_machines_are_left_alone(
    engine, session, monkeypatch
):
    connection = Engine(engine.settings)
    image = engine.settings["TERMINAL_DOCKER_IMAGE"]
    spec = ContainerSpec(session=session, image=image, network="none", persistent=False)
    mine, _ = create(connection, spec)
    with monkeypatch.context() as patch:
        patch.setattr("tools.environments.containers.docker_labels.this_owner", lambda: "other/1:1")
        theirs, _ = create(connection, spec)
    assert reap(connection) == []
    for identity in (mine, theirs):
        remove(engine, identity)
    connection.close()


def test_an_owner_is_gone_only_if_this_machine_can_tell():
    place, _, process = owner.this_owner().rpartition("/")
    pid, _, started = process.partition(":")
    assert not owner.is_gone(f"{place}/{pid}:{started}")
    assert owner.is_gone(f"{place}/{pid}:1")
    assert not owner.is_gone(f"elsewhere/{pid}:1")
    assert not owner.is_gone("")
