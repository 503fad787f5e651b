"""Background processes, through the tools that a model uses."""

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import tools.process_tool
import tools.terminal_tool
from tools.environments import job_table, local_jobs
from tools.environments.job_table import JobTable
from tools.environments.jobs import JobError, JobOptions
from tools.environments.local import LocalEnvironment
from tools.registry import registry

assert tools.process_tool
assert tools.terminal_tool


@pytest.fixture
def shell(tmp_path):
    with LocalEnvironment(tmp_path) as environment:
        yield environment


@pytest.fixture
def start(shell):
    def call(command, **args):
        answer = registry.dispatch(
            "terminal", {"command": command, "background": True, **args}, environment=shell
        )
        return json.loads(answer)["session_id"]

    return call


@pytest.fixture
def act(shell):
    def call(action, process_id=None, **args):
        cancelled = args.pop("cancelled", None)
        given = {"action": action, "session_id": process_id, **args}
        context = {"environment": shell, "cancelled": cancelled}
        return json.loads(registry.dispatch("process", given, **context))

    return call


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for(act, started, text):
    deadline = time.monotonic() + 10
    while text not in act("poll", started)["output_preview"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_starts_with_the_state_of_the_shell(shell, start, act):
    shell.execute("mkdir sub; cd sub; export A=1; B=2; f() { echo f; }; alias g='echo g'")
    started = start("echo $A $B; f; g; pwd")
    assert act("wait", started)["output"] == f"1 2\nf\ng\n{shell.cwd}\n"


def test_it_does_not_change_the_shell(shell, start, act):
    shell.execute("A=1")
    act("wait", start("A=2; cd /; exit 3"))
    assert shell.execute("echo $A $PWD").output == f"1 {shell.cwd}\n"


def test_list_shows_state_and_newest_output(start, act):
    started = start("echo hello; exit 3")
    act("wait", started)
    (listed,) = act("list")["processes"]
    assert listed["session_id"] == started
    assert listed["output_preview"] == "hello\n"
    assert (listed["status"], listed["exit_code"]) == ("exited", 3)
    assert {"command", "cwd", "pid", "started_at", "uptime_seconds"} <= listed.keys()


def test_poll_tells_running_from_exited(start, act):
    started = start("read x")
    assert act("poll", started)["status"] == "running"
    act("close", started)
    act("wait", started)
    polled = act("poll", started)
    assert (polled["status"], polled["completion_reason"]) == ("exited", "exited")


def test_input_can_be_written_submitted_and_closed(start, act):
    started = start("cat; echo end")
    assert act("write", started, data="a")["bytes_written"] == 1
    assert act("submit", started, data="ü")["bytes_written"] == 3
    assert act("close", started)["status"] == "ok"
    assert act("wait", started)["output"] == "aü\nend\n"
    assert "error" in act("write", started, data="late")


def test_writing_to_one_that_does_not_read_ends_with_an_error(start, act, monkeypatch):
    monkeypatch.setattr(local_jobs, "SECONDS_TO_WRITE", 0.3)
    started = start("sleep 60")
    assert "does not read" in act("write", started, data="x" * 1_000_000)["error"]


def test_log_counts_lines_from_the_first(start, act):
    started = start("seq 1 500")
    act("wait", started)
    first = act("log", started, offset=0, limit=2)
    assert (first["output"], first["total_lines"]) == ("1\n2", 500)
    assert first["showing"] == "lines 0 to 1 of 500, counted from 0"
    assert act("log", started, offset=498)["output"] == "499\n500"
    assert act("log", started, limit=1)["output"] == "500"
    assert act("log", started)["output"].startswith("301\n")
    assert "no lines" in act("log", started, offset=500)["showing"]


def test_long_log_says_which_lines_are_gone(start, act):
    started = start("seq 1 600000")
    assert act("wait", started)["status"] == "exited"
    first = act("log", started, offset=0, limit=1)
    assert first["total_lines"] == 600_000
    gone = int(first["showing"].split("the first ")[1].split()[0])
    assert 0 < gone < 590_000
    assert act("log", started, offset=gone + 1, limit=1)["output"] == str(gone + 2)
    assert act("log", started, offset=599_999)["output"] == "600000"


def test_log_goes_on_from_a_byte(start, act):
    started = start("printf 'one\\nt\\303'; read x; printf '\\274o\\nthree'")
    wait_for(act, started, "one\nt")
    first = act("log", started, cursor=0)
    assert (first["output"], first["next_cursor"], first["total_bytes"]) == ("one\nt", 5, 6)
    act("submit", started)
    act("wait", started)
    rest = act("log", started, cursor=5)
    assert (rest["output"], rest["next_cursor"]) == ("üo\nthree", 14)
    assert act("log", started, cursor=14)["output"] == ""
    assert act("log", started, cursor=2, limit=1)["output"] == "e\n"


def test_log_by_bytes_says_what_is_gone(start, act):
    started = start("seq 1 600000")
    act("wait", started)
    part = act("log", started, cursor=0, limit=100_000)
    assert "are no longer kept" in part["showing"]
    assert part["total_bytes"] == sum(len(f"{n}\n") for n in range(1, 600_001))
    assert len(part["output"]) <= 40_000
    following = act("log", started, cursor=part["next_cursor"], limit=1)["output"]
    assert int(following) == int(part["output"].splitlines()[-1]) + 1


def test_kill_ends_children_too(start, act, tmp_path):
    started = start("sleep 60 & echo $!; wait")
    deadline = time.monotonic() + 10
    while not (output := act("poll", started)["output_preview"]).endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    killed = act("kill", started)
    assert (killed["status"], killed["completion_reason"]) == ("killed", "killed")
    assert not alive(int(output))
    assert act("kill", started)["status"] == "already_exited"


def test_wait_gives_up_in_time_or_when_cancelled(start, act):
    started = start("sleep 60")
    assert act("wait", started, timeout=1)["status"] == "timeout"
    cancelled = threading.Event()
    threading.Timer(0.1, cancelled.set).start()
    begun = time.monotonic()
    assert act("wait", started, cancelled=cancelled)["status"] == "interrupted"
    assert time.monotonic() - begun < 1


def test_unknown_process_and_action_are_errors(act):
    assert act("poll", "proc_0")["status"] == "not_found"
    assert "session_id" in act("poll")["error"]
    assert "unknown action" in act("explode", "proc_0")["error"]
    assert "session" in json.loads(registry.dispatch("process", {"action": "list"}))["error"]


def test_it_ends_with_its_environment(tmp_path):
    shell = LocalEnvironment(tmp_path)
    pid = shell.spawn("sleep 60").pid
    shell.close()
    assert not alive(pid)


def test_finished_ones_are_remembered_from_their_end(shell, start, act, monkeypatch):
    started = start("true")
    act("wait", started)
    assert act("list")["processes"]
    monkeypatch.setattr(job_table, "SECONDS_REMEMBERED", -1)
    assert not act("list")["processes"]


def test_table_forgets_the_longest_ended_first(shell, monkeypatch):
    monkeypatch.setattr(job_table, "MOST_TRACKED", 2)
    started = []
    for _ in range(4):
        started.append(shell.spawn("true"))
        assert started[-1].wait(10, lambda: False)
    assert [job.id for job in shell.processes.all()] == [job.id for job in started[-2:]]


def test_there_are_not_too_many_at_once(shell, monkeypatch):
    monkeypatch.setattr(job_table, "MOST_RUNNING", 2)
    first, _ = shell.spawn("sleep 60"), shell.spawn("sleep 60")
    with pytest.raises(JobError, match="2 background processes run already"):
        shell.spawn("true")
    first.kill()
    shell.spawn("true")


def test_one_that_is_too_old_is_ended(shell):
    order = local_jobs.LocalOrder(argv=["sleep", "60"], env={}, longest=0.0)
    record = shell.processes.prepare("sleep 60", shell.cwd, "local", JobOptions())
    job = local_jobs.start_job(order, record, shell.processes.folder_of(record))
    shell.processes.add(job)
    assert job.wait(10, lambda: False)
    assert job.end.reason == "expired"


def test_kill_lets_it_tidy_up(start, act):
    started = start("trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.05; done")
    wait_for(act, started, "on")
    killed = act("kill", started)
    assert (killed["exit_code"], killed["completion_reason"]) == (5, "killed")
    assert killed["output"].endswith("bye\n")


def test_kill_ends_what_does_not_listen(start, act):
    started = start("trap '' TERM; echo on; while :; do sleep 0.05; done")
    wait_for(act, started, "on")
    begun = time.monotonic()
    assert act("kill", started)["exit_code"] == 137
    assert time.monotonic() - begun < 6


def test_one_in_a_terminal_sees_one_and_takes_keys(start, act):
    started = start("tty; stty size; read x; echo got $x; cat", pty=True)
    wait_for(act, started, "30 120")
    assert "/dev/pts/" in act("poll", started)["output_preview"]
    act("submit", started, data="it")
    wait_for(act, started, "got it\n")
    act("close", started)
    assert act("wait", started)["exit_code"] == 0


def test_a_program_that_reads_keys_takes_enter(start, act):
    code = "import tty,sys; tty.setraw(0); print('ready'); print(repr(sys.stdin.read(3)))"
    started = start(f'{sys.executable} -c "{code}"', pty=True)
    wait_for(act, started, "ready")
    act("submit", started, data="ab")
    assert "'ab\\r'" in act("wait", started)["output"]


def test_ctrl_c_reaches_a_terminal(start, act):
    started = start("echo on; exec sleep 60", pty=True)
    wait_for(act, started, "on")
    act("write", started, data="\x03")
    assert act("wait", started)["exit_code"] == 130


def test_fifty_run_at_once_and_each_has_its_own_output(shell):
    jobs = [shell.spawn(f"read x; echo {number}$x") for number in range(50)]
    assert all(job.status == "running" for job in jobs)
    for job in jobs:
        job.write(b"!\n")
    assert all(job.wait(30, lambda: False) for job in jobs)
    assert [job.tail(99) for job in jobs] == [f"{number}!\n" for number in range(50)]


def test_no_descriptor_and_no_zombie_is_left_behind(shell):
    shell.spawn("true").wait(10, lambda: False)
    before, dead = open_descriptors(), zombies()
    for number in range(10):
        job = shell.spawn("echo x", options=JobOptions(pty=bool(number % 2)))
        assert job.wait(10, lambda: False)
        job.kill()
    assert open_descriptors() == before
    # One of another test may just be about to be reaped.
    wait_until(lambda: not zombies() - dead)


def zombies():
    """Dead children of this process that nobody has waited for."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            state, parent, *_ = path.read_text().rpartition(")")[2].split()
            if state == "Z" and parent == str(os.getpid()):
                found.add(path.parent.name)
    return found


def test_only_input_needs_consent():
    guard = registry.get_entry("process").guard_fn
    assert guard({"action": "kill", "session_id": "proc_1"}) is None
    assert "'rm x'" in guard({"action": "submit", "session_id": "proc_1", "data": "rm x"}).shown


def test_empty_table_can_be_closed_twice():
    table = JobTable()
    table.close()
    table.close()
    assert table.all() == []
