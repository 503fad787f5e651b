"""Jobs are found again by their folders, and nobody else's process is taken for one."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tools.environments import job_table
from tools.environments.births import birth_of, is_alive
from tools.environments.job_table import JobOwner, JobTable
from tools.environments.local import LocalEnvironment
from tools.environments.local_jobs import LocalJob

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
OWNER = JobOwner(key="kernel-1")


@pytest.fixture
def opened(tmp_path):
    tables = []

    def opens(owner=OWNER):
        tables.append(JobTable(tmp_path / "jobs", owner))
        return tables[-1]

    yield opens
    for table in tables:
        table.close()


@pytest.fixture
def shell(opened, tmp_path):
    with LocalEnvironment(tmp_path, jobs=opened()) as environment:
        yield environment


def until(holds, seconds=15):
    deadline = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def test_a_job_is_found_again_and_can_be_spoken_with(shell, opened):
    job = shell.spawn("read x; echo got $x; exit 3")
    (again,) = opened().adopt("local", LocalJob)
    assert (again.record, again.status) == (job.record, "running")
    again.write(b"it\n")
    assert again.wait(10, lambda: False)
    assert (again.exit_code, again.tail(99)) == (3, "got it\n")


def test_one_that_has_ended_meanwhile_is_found_with_its_end(shell, opened):
    job = shell.spawn("echo x; exit 4")
    assert job.wait(10, lambda: False)
    (again,) = opened().adopt("local", LocalJob)
    assert (again.exit_code, again.end.reason, again.tail(9)) == (4, "exited", "x\n")


def test_jobs_of_others_are_left_alone(shell, opened):
    shell.spawn("sleep 60")
    assert opened(JobOwner(key="kernel-2")).adopt("local", LocalJob) == []
    assert opened(replace(OWNER, session="other")).adopt("local", LocalJob) == []
    assert opened().adopt("ssh:there", LocalJob) == []


def test_it_is_found_although_its_number_was_not_written_down(shell, opened, tmp_path):
    job = shell.spawn("sleep 60")
    path = tmp_path / "jobs" / job.id / "job.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "pid": 0, "birth": ""}))
    (again,) = opened().adopt("local", LocalJob)
    assert again.record == job.record
    again.kill()
    assert again.end.reason == "killed"


def test_a_number_that_is_used_again_is_not_killed(shell, tmp_path):
    job = shell.spawn("true")
    assert job.wait(10, lambda: False)
    with subprocess.Popen(["sleep", "60"]) as other:
        # Started within one tick of the clock, both would have the same birth.
        record = replace(job.record, pid=other.pid, birth=f"{job.record.birth}0")
        folder = tmp_path / "jobs" / job.id
        LocalJob(record, folder).kill()
        (folder / "exit").unlink()
        (folder / "keeper").write_text(f"{os.getpid()} {birth_of(os.getpid())}\n")
        assert LocalJob(record, folder).status == "running"
        assert not LocalJob(record, folder)._number_is_its_own()
        assert other.poll() is None
        other.kill()


def test_one_whose_keeper_was_killed_is_lost_and_can_be_ended(shell, tmp_path):
    job = shell.spawn("trap '' PIPE TERM; while :; do sleep 0.1; done")
    keeper = int((tmp_path / "jobs" / job.id / "keeper").read_text().split()[0])
    os.kill(keeper, 9)
    assert until(lambda: job.end)
    assert job.end.reason == "lost"
    assert is_alive(job.pid, job.record.birth)
    job.kill()
    assert until(lambda: not is_alive(job.pid, job.record.birth))


CODE = """
import sys
from pathlib import Path
from tools.environments.job_table import JobOwner, JobTable
from tools.environments.local import LocalEnvironment
owner = JobOwner(key="kernel-1", connection_file=sys.argv[2])
shell = LocalEnvironment(sys.argv[1], jobs=JobTable(Path(sys.argv[1], "jobs"), owner))
job = shell.spawn("sleep 600")
print(job.pid, job.record.birth, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def killed_kernel(tmp_path):
    """Start a process with a job, kill it; the job's process. Its connection file stays."""
    connection_file = tmp_path / "kernel.json"
    connection_file.touch()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    command = [sys.executable, "-c", CODE, str(tmp_path), str(connection_file)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as python:
        pid, birth = python.stdout.readline().decode().split()
        python.kill()
    return int(pid), birth


def test_a_job_waits_for_its_kernel_and_not_for_ever(killed_kernel, tmp_path):
    time.sleep(3)  # longer than its keeper takes to notice
    assert is_alive(*killed_kernel)
    (tmp_path / "kernel.json").unlink()
    assert until(lambda: not is_alive(*killed_kernel))


def test_a_job_whose_kernel_was_started_again_stays(killed_kernel, tmp_path, opened):
    (job,) = opened().adopt("local", LocalJob)
    (tmp_path / "kernel.json").unlink()
    time.sleep(3)
    assert job.status == "running"


def test_what_is_left_of_kernels_that_are_gone_is_removed(shell, opened, tmp_path, monkeypatch):
    shell.spawn("true").wait(10, lambda: False)
    (folder,) = (tmp_path / "jobs").iterdir()
    shutil.copytree(folder, tmp_path / "jobs" / "proc_old")
    (tmp_path / "jobs" / "proc_old" / "owner").write_text("1 1\n\n")
    monkeypatch.setattr(job_table, "DAY", -1.0)
    opened(JobOwner(key="kernel-2")).adopt("local", LocalJob)
    assert list((tmp_path / "jobs").iterdir()) == [folder]


def test_jobs_end_when_the_process_ends_unless_it_is_started_again(tmp_path):
    code = CODE.replace("sys.stdin.read()", "")
    survivor = code.replace("connection_file=sys.argv[2]", "connection_file=sys.argv[2], "
                            "survives=lambda: True")  # fmt: skip
    (tmp_path / "kernel.json").touch()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    for text, lives in ((code, False), (survivor, True)):
        command = [sys.executable, "-c", text, str(tmp_path), str(tmp_path / "kernel.json")]
        said = subprocess.run(command, capture_output=True, env=environment, check=True).stdout
        pid, birth = said.decode().split()
        assert is_alive(int(pid), birth) is lives
    (tmp_path / "kernel.json").unlink()
    assert until(lambda: not is_alive(int(pid), birth))
