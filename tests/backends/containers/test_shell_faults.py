"""A shell in a container whose container, engine or disk fails under it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.backends.containers.conftest import DEFAULTS
from tests.backends.containers.test_docker_faults import api
from tests.backends.containers.test_docker_options import remove
from tests.services import apptainer
from tests.services.engines import EngineService
from tools.environments.backends import OpenOptions, backend
from tools.environments.containers.apptainer_program import Program
from tools.environments.host import HostError
from tools.environments.remote import RemoteEnvironment

LONG = 60.0


@pytest.fixture
def open_on() -> Iterator[Callable[..., RemoteEnvironment]]:
    opened = []

    def open_(service: EngineService, **settings: str) -> RemoteEnvironment:
        given = {**DEFAULTS, **service.settings, **settings}
        environment = backend("docker").open(given, OpenOptions(session="faults"))
        opened.append(environment)
        return environment

    yield open_
    for environment in opened:
        environment.close()


def failing(shell: RemoteEnvironment, break_it: Callable[[], None]) -> str:
    """What a running command tells when ``break_it`` happens to it."""
    started = threading.Event()

    def on_output(text: str) -> None:
        if "started" in text:
            started.set()

    def breaking() -> None:
        if started.wait(LONG):
            break_it()

    thread = threading.Thread(target=breaking)
    thread.start()
    began = time.monotonic()
    try:
        result = shell.execute("echo started; sleep 300", timeout=100, on_output=on_output)
    except HostError as error:
        return str(error)
    finally:
        thread.join(LONG)
        assert time.monotonic() - began < LONG
    raise AssertionError(f"no error, but {result}")


def test_a_command_whose_container_is_killed_fails_and_the_next_one_works(engine, open_on):
    shell = open_on(engine)
    shell.execute("cd /opt; export A=1; echo kept >x", timeout=LONG)
    told = failing(shell, lambda: api(engine, "kill", shell.host.identity))
    assert "the container was stopped" in told
    after = shell.execute("cat /opt/x", timeout=LONG)
    assert (after.output, after.exit_code) == ("kept\n", 0)
    assert "started again" in after.note


def test_a_command_whose_container_is_removed_fails_and_the_next_one_works(engine, open_on):
    shell = open_on(engine)
    told = failing(shell, lambda: remove(engine, shell.host.identity))
    assert "removed" in told
    after = shell.execute("echo works", timeout=LONG)
    assert after.output == "works\n"
    assert "nothing of its state" in after.note


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_command_whose_engine_ends_fails_and_works_when_it_is_back(own_engine, open_on, how):
    shell = open_on(own_engine)
    shell.execute("echo kept >/opt/x", timeout=LONG)
    try:
        assert "lost" in failing(shell, getattr(own_engine, how))
        began = time.monotonic()
        with pytest.raises(HostError, match="does not answer"):
            shell.execute("true", timeout=LONG)
        assert time.monotonic() - began < 10
        assert not shell.health().ok
    finally:
        own_engine.start()
    assert shell.execute("cat /opt/x", timeout=LONG).output == "kept\n"


def test_a_full_disk_stops_a_command_and_not_the_shell(engine, open_on):
    shell = open_on(engine, TERMINAL_DOCKER_TMPFS='["/tmp:size=64m", "/small:size=1m"]')
    full = shell.execute("head -c 2000000 /dev/zero >/small/x", timeout=LONG)
    assert full.exit_code != 0
    assert "No space left" in full.output
    assert shell.execute("rm /small/x; echo ok", timeout=LONG).output == "ok\n"


def test_a_full_folder_of_the_shell_is_survived(engine, open_on):
    shell = open_on(engine, TERMINAL_DOCKER_TMPFS="/tmp:size=1m")
    shell.execute("export A=1", timeout=LONG)
    shell.execute("head -c 2000000 /dev/zero >/tmp/x; export B=2", timeout=LONG)
    assert shell.execute("echo $A $B", timeout=LONG).output == "1 2\n"
    assert shell.execute("rm /tmp/x; echo ok", timeout=LONG).output == "ok\n"


def test_too_much_memory_ends_the_command_and_not_the_shell(engine, open_on):
    shell = open_on(engine, TERMINAL_CONTAINER_MEMORY="64")
    shell.execute("A=1", timeout=LONG)
    ended = shell.execute("python3 -c 'bytearray(200_000_000)'", timeout=LONG)
    assert ended.exit_code == 137
    assert shell.execute("echo $A", timeout=LONG).output == "1\n"


def test_a_command_whose_instance_is_killed_fails_and_the_next_one_works(tmp_path):
    if reason := apptainer.why_none():
        pytest.skip(reason)
    images = apptainer.images()
    settings = {
        **images.settings(),
        "TERMINAL_CONTAINER_PERSISTENT": "true",
        "TERMINAL_SCRATCH_DIR": str(tmp_path),
    }
    with backend("singularity").open(settings, OpenOptions(session="faults")) as shell:
        shell.execute("echo kept >/etc/x", timeout=LONG)
        name = shell.host.instance.name
        told = failing(shell, lambda: os.kill(Program().instances()[name], 9))
        assert "ended with its place" in told
        after = shell.execute("cat /etc/x", timeout=LONG)
        assert after.output == "kept\n"
        assert "started again" in after.note
