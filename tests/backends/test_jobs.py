"""Background processes: the same in every place."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tools.environments.base import Environment
from tools.environments.job_pages import page, stretch
from tools.environments.jobs import Job, JobError, JobOptions
from tools.environments.pty import run_in_terminal

LONG = 60.0
PTY = JobOptions(pty=True)


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


def ended(job: Job) -> Job:
    assert job.wait(LONG, lambda: False)
    return job


def at_terminal(shell: Environment, command: str) -> Job:
    try:
        return shell.spawn(command, options=PTY)
    except JobError as error:
        if "no terminal can be had there" not in str(error):
            raise
        pytest.skip(str(error))


def test_a_job_ends_with_its_output_and_code(shell):
    job = ended(shell.spawn("echo out; echo err >&2; exit 3"))
    assert (job.tail(100), job.exit_code) == ("out\nerr\n", 3)
    assert (job.end.reason, job.status) == ("exited", "exited")
    assert shell.processes.get(job.id) is job


def test_a_job_starts_in_the_folder_of_the_shell(shell):
    assert shell.execute("mkdir sub; cd sub", timeout=LONG).exit_code == 0
    assert ended(shell.spawn("pwd; cd /")).tail(200) == f"{shell.cwd}\n"
    assert shell.cwd.endswith("/sub")
    assert ended(shell.spawn("pwd", cwd="/")).tail(200) == "/\n"


def test_a_job_runs_beside_the_shell_and_takes_input(shell):
    job = shell.spawn("while read x; do echo got $x; done; echo end")
    assert shell.execute("echo here", timeout=LONG).output == "here\n"
    job.write("grün\n".encode())
    until(lambda: job.tail(100) == "got grün\n", "the answer")
    assert job.status == "running"
    job.close_input()
    assert ended(job).tail(100) == "got grün\nend\n"
    with pytest.raises(JobError):
        job.write(b"late\n")


def test_output_is_read_from_any_byte_and_by_lines(shell):
    job = ended(shell.spawn("seq 1 1000; printf 'a\\377b'"))
    whole = "".join(f"{n}\n" for n in range(1, 1001)).encode() + b"a\xffb"
    assert job.read(0, 10**6).data == whole
    assert job.read(500, 20).data == whole[500:520]
    assert job.read(-3, 9).data == b"a\xffb"
    assert stretch(job, 0, 2).text == "1\n2\n"
    assert (page(job, 997, 2).text, page(job, None, 1).total) == ("998\n999", 1001)


def test_long_output_is_kept_in_part_and_counted_whole(shell):
    job = ended(shell.spawn("head -c 9000000 /dev/zero | tr '\\0' x; echo; echo last"))
    output = job.read(0, 10)
    assert output.total == 9_000_006
    assert output.first > 0
    assert job.tail(5) == "last\n"


def test_kill_ends_all_of_a_job(shell):
    job = shell.spawn("trap '' TERM; sleep 600 & echo $!; sleep 601")
    until(lambda: job.tail(20).endswith("\n"), "its output")
    child = job.tail(20).strip()
    job.kill()
    assert (ended(job).end.reason, job.exit_code) == ("killed", 137)
    check = f"[ ! -r /proc/{child}/stat ] || grep -q ') Z' /proc/{child}/stat"
    until(lambda: shell.execute(check, timeout=LONG).exit_code == 0, "the end of its child")


def test_a_job_may_tidy_up(shell):
    job = shell.spawn("trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.2; done")
    until(lambda: job.tail(20) == "on\n", "its output")
    job.kill()
    assert ended(job).exit_code == 5
    assert job.tail(20).endswith("bye\n")


def test_several_jobs_do_not_mix(shell):
    jobs = [shell.spawn(f"read x; echo {number}$x; exit {number}") for number in range(5)]
    for job in jobs:
        job.write(b"!\n")
    assert [(ended(job).tail(9), job.exit_code) for job in jobs] == [
        (f"{number}!\n", number) for number in range(5)
    ]


def test_jobs_end_with_the_environment(opener):
    with opener() as environment:
        job = environment.spawn("sleep 600")
        assert job.status == "running"
    assert environment.processes.all() == []


def test_a_job_in_a_terminal_has_one(shell):
    job = at_terminal(shell, "test -t 0 && test -t 1 && echo both; read x; echo got $x; cat")
    until(lambda: "both\n" in job.tail(100), "its output")
    job.write(b"it\r")
    until(lambda: "got it\n" in job.tail(100), "the answer")
    job.close_input()
    assert ended(job).exit_code == 0


def test_a_command_in_a_terminal_is_waited_for(shell):
    at_terminal(shell, "true")
    result = run_in_terminal(shell, "test -t 1 && echo yes; exit 3", timeout=LONG)
    assert (result.output, result.exit_code) == ("yes\n", 3)
    late = run_in_terminal(shell, "echo begun; sleep 600", timeout=2)
    assert (late.exit_code, late.timed_out) == (124, True)
    output = late.output
    if shell.backend == "daytona":  # the shell there may have the time to say what was ended
        output = output.replace("Terminated\n", "")
    assert output == "begun\n[Command timed out after 2s]"
