"""Background processes, through the tools that a model uses."""

import json
import threading
import time
from pathlib import Path

import pytest

import tools.process_tool
import tools.terminal_tool
from tools.environments import processes
from tools.environments.local import LocalEnvironment
from tools.environments.processes import Log, ProcessTable
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
    monkeypatch.setattr(processes, "SECONDS_TO_WRITE", 0.1)
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


def test_long_log_says_which_lines_are_gone():
    log = Log(limit=100)
    for number in range(100):
        log.add(f"line {number}\n")
    page = log.page(0, 1)
    assert page.forgotten > 0
    assert page.text == f"line {page.forgotten}"
    assert page.total == 100
    assert log.page(99, 1).text == "line 99"


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
    found = shell.processes.get(started)
    found.started_at -= 3_600
    assert act("list")["processes"]
    monkeypatch.setattr(processes, "SECONDS_REMEMBERED", -1)
    assert not act("list")["processes"]


def test_table_forgets_the_longest_ended_first(shell, monkeypatch):
    monkeypatch.setattr(processes, "MOST_TRACKED", 2)
    table = shell.processes
    started = []
    for _ in range(4):
        started.append(shell.spawn("true"))
        assert started[-1].wait(10, lambda: False)
        assert started[-1].ended_at
    assert [process.id for process in table.all()] == [process.id for process in started[-2:]][-1:]


def test_no_descriptor_is_left_behind(shell, start, act):
    act("wait", start("true"))
    before = open_descriptors()
    for _ in range(5):
        found = shell.processes.get(start("echo x"))
        assert found.wait(10, lambda: False)
        found._reader.join(5)
    assert open_descriptors() == before


def test_only_input_needs_consent():
    guard = registry.get_entry("process").guard_fn
    assert guard({"action": "kill", "session_id": "proc_1"}) is None
    assert "'rm x'" in guard({"action": "submit", "session_id": "proc_1", "data": "rm x"}).shown


def test_empty_table_can_be_closed_twice():
    table = ProcessTable()
    table.close()
    table.close()
    assert table.all() == []
