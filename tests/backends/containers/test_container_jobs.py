"""Background jobs in containers: started, fed, read and killed through the engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.place import all_places
from tools.environments.base import Environment

PLACES = {name: all_places()[name] for name in ("docker", "podman", "singularity")}


@pytest.fixture(params=list(PLACES))
def shell(request, tmp_path_factory) -> Iterator[Environment]:
    found = PLACES[request.param]
    if reason := found.missing():
        pytest.skip(reason)
    with found.start(tmp_path_factory.mktemp("jobs")) as open_, open_() as environment:
        yield environment


def test_a_job_has_the_state_of_the_shell_and_is_read_from_any_byte(shell):
    shell.execute("export A=7; cd /tmp", timeout=60)
    job = shell.spawn("echo $A; pwd; exit 3")
    assert job.wait(30, lambda: False)
    assert job.exit_code == 3
    assert job.read(0, 100).data == b"7\n/tmp\n"
    assert job.read(2, 100).data == b"/tmp\n"


def test_a_job_reads_what_is_written_to_it(shell):
    job = shell.spawn("read line; echo got $line")
    job.write(b"this\n")
    assert job.wait(30, lambda: False)
    assert job.read(0, 100).data == b"got this\n"


def test_a_killed_job_is_gone_inside(shell):
    job = shell.spawn("sleep 4711")
    find = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep [4]711'"
    assert shell.execute(find, timeout=60).output.strip() != "0"
    job.kill()
    assert job.wait(30, lambda: False)
    assert shell.execute(find, timeout=60).output.strip() == "0"
