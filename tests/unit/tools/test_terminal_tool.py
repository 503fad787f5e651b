"""The terminal tool, with a real bash."""

import json
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import tools.terminal_tool as terminal_tool
from tools.environments.local import LocalEnvironment
from tools.environments.timeouts import longest_wait, usual_wait
from tools.registry import registry


@pytest.fixture
def shell(tmp_path):
    with LocalEnvironment(tmp_path) as environment:
        yield environment


@pytest.fixture
def run(shell):
    def call(command, **args):
        context = {"environment": shell}
        return json.loads(registry.dispatch("terminal", {"command": command, **args}, **context))

    return call


def test_result_has_the_documented_keys(run):
    assert run("echo hi; exit_code() { return 4; }; exit_code") == {
        "output": "hi\n",
        "exit_code": 4,
        "error": None,
    }


def test_state_stays_in_the_environment_of_the_session(run, tmp_path):
    run("mkdir sub && cd sub && A=1")
    assert run("echo $A $PWD")["output"] == f"1 {tmp_path}/sub\n"


def test_workdir_is_for_one_call(run, tmp_path):
    assert run("pwd", workdir="/")["output"] == "/\n"
    assert run("pwd")["output"] == f"{tmp_path}\n"
    assert "no such folder" in run("pwd", workdir="missing")["error"]


def test_without_a_session_a_throwaway_shell_does(tmp_path):
    answer = json.loads(registry.dispatch("terminal", {"command": "pwd"}, cwd=str(tmp_path)))
    assert answer["output"] == f"{tmp_path}\n"


def test_timeout_is_told(run):
    answer = run("echo a; sleep 60", timeout=1)
    assert answer["exit_code"] == 124
    assert answer["output"] == "a\n[Command timed out after 1s]"
    assert "killed" in answer["note"]


def test_cancelled_call_ends(shell):
    cancelled = threading.Event()
    cancelled.set()
    context = {"environment": shell, "cancelled": cancelled}
    answer = json.loads(registry.dispatch("terminal", {"command": "sleep 60"}, **context))
    assert answer["exit_code"] == 130
    assert answer["output"].endswith("[Command interrupted]")


def test_output_is_told_while_it_comes(shell):
    pieces = []
    context = {"environment": shell, "on_output": pieces.append}
    registry.dispatch("terminal", {"command": "echo a; echo b"}, **context)
    assert "".join(pieces) == "a\nb\n"


def test_default_timeout_comes_from_the_environment(run, monkeypatch):
    monkeypatch.setenv("TERMINAL_TIMEOUT", "0.2")
    assert run("sleep 60")["exit_code"] == 124


def test_longer_than_ten_minutes_needs_the_background(run):
    assert "background=true" in run("sleep 1", timeout=601)["error"]


@pytest.mark.parametrize(
    "command",
    ["sleep 5 &", "cd app && npm run dev", "python -m http.server 8000", "tail -f x.log", "vite"],
)
def test_endless_commands_are_refused_with_the_remedy(run, command):
    assert "background=true" in run(command)["error"]


@pytest.mark.parametrize(
    "command",
    [
        "echo 'run: npm run dev &'",
        "uvicorn --version || true",
        "sleep 0 & wait",
        "echo a # b &",
        "timeout 0.1 tail -f /dev/null; true",
        "true && echo '&'",
    ],
)
def test_commands_that_only_look_endless_run(run, command):
    assert run(command).get("error") is None


@pytest.mark.parametrize(
    ("command", "code", "meaning"),
    [
        ("grep -q x /dev/null", 1, "no line matched"),
        ("cat /dev/null | grep x", 1, "no line matched"),
        ("[ 1 = 2 ]", 1, "the condition is false"),
        ("diff a b", 1, "the files differ"),
        ("curl -s x", 28, "the request timed out"),
        ("nosuchprogram", 127, "no such command"),
        ("python x.py", 1, ""),
        ("grep x /dev/null", 0, ""),
    ],
)
def test_exit_codes_are_explained(command, code, meaning):
    assert terminal_tool.exit_code_meaning(command, code) == meaning


def test_explanation_is_in_the_result(run):
    assert run("grep -q x /dev/null")["exit_code_meaning"] == "no line matched"


def test_background_returns_at_once_with_an_id(run, shell):
    answer = run("sleep 60", background=True)
    assert answer["output"] == "Background process started"
    assert answer["session_id"].startswith("proc_")
    assert shell.processes.get(answer["session_id"]).pid == answer["pid"]


def test_background_without_a_session_is_an_error():
    answer = json.loads(registry.dispatch("terminal", {"command": "true", "background": True}))
    assert "needs a session" in answer["error"]


def test_impossible_text_is_an_error_for_the_model(run):
    assert "NUL" in run("echo \0")["error"]


def test_guard_knows_the_folder_of_the_shell(shell):
    shell.execute("cd /")
    guard = registry.get_entry("terminal").guard_fn
    assert guard({"command": "ls"}, environment=shell) is None
    assert guard({"command": "rm -rf *"}, environment=shell).forbidden
    assert not guard({"command": "rm -rf *", "workdir": "/tmp/x"}, environment=shell).forbidden


def test_deadline_of_a_call_follows_its_timeout():
    entry = registry.get_entry("terminal")
    assert entry.timeout({"command": "x", "timeout": 30}) > 30
    assert entry.timeout({"command": "x", "background": True}) < 30
    assert entry.effects == "unknown"


def test_consent_names_the_folder_where_it_runs(shell, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    args = {"command": "rm -r build", "workdir": "link"}
    assert terminal_tool.objection(args, environment=shell).cwd == f"{tmp_path}/other"


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("a.sh", "rm -rf data", "bash a.sh"),
        ("a.sh", "rm -rf data", ". ./a.sh"),
        ("a.txt", "rm -rf data", "bash a.txt"),
        ("a.py", "import os\nos.remove('data')", "python a.py"),
    ],
)
def test_a_script_that_the_session_wrote_is_judged_by_what_it_says(shell, tmp_path, name, text,
                                                                   command):  # fmt: skip
    script = tmp_path / name
    script.write_text(text)
    said = terminal_tool.objection(
        {"command": command}, environment=shell, written={str(script), f"{script}\0stamp"}
    )
    assert text in said.shown
    assert terminal_tool.objection({"command": command}, environment=shell, written=set()) is None


# Terminals, and what is told of background processes


def test_a_command_can_have_a_terminal(run):
    answer = run("test -t 0 && test -t 1 && stty size; exit 3", pty=True)
    assert (answer["output"], answer["exit_code"]) == ("30 120\n", 3)
    assert "beside the shell" in answer["note"]


def test_a_command_in_a_terminal_starts_with_the_state_of_the_shell(run, shell):
    shell.execute("mkdir sub; cd sub; A=1; f() { echo f$A; }")
    assert run("f; pwd; cd /", pty=True)["output"] == f"f1\n{shell.cwd}\n"
    assert run("pwd")["output"].endswith("/sub\n")


def test_a_command_in_a_terminal_ends_in_time_with_what_it_has_printed(run, shell):
    answer = run("echo begun; trap '' TERM; sleep 60", pty=True, timeout=1)
    assert (answer["output"], answer["exit_code"]) == (
        "begun\n[Command timed out after 1s]",
        124,
    )
    assert shell.processes.all() == []


def test_a_command_in_a_terminal_can_be_interrupted(shell):
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    given = {"command": "echo begun; sleep 60", "pty": True}
    context = {"environment": shell, "cancelled": cancelled}
    answer = json.loads(registry.dispatch("terminal", given, **context))
    assert answer["exit_code"] == 130
    assert "[Command interrupted]" in answer["output"]


def test_output_at_a_terminal_is_told_as_it_comes(shell):
    pieces = []
    given = {"command": "echo one; sleep 0.5; echo two", "pty": True}
    registry.dispatch("terminal", given, environment=shell, on_output=pieces.append)
    assert "".join(pieces) == "one\ntwo\n"
    assert len(pieces) > 1


def test_who_wants_to_be_told_is_reminded_of_it(run, shell):
    answer = run("sleep 60", background=True, notify_on_complete=True, watch_patterns=["x"])
    assert answer["notify_on_complete"] is True
    assert "watch_patterns_ignored" in answer
    assert not shell.processes.get(answer["session_id"]).record.options.watch_patterns
    watched = run("sleep 60", background=True, watch_patterns=["x", ""])
    assert watched["watch_patterns"] == ["x"]


def test_only_what_runs_in_the_background_is_told(run):
    assert "background=true" in run("true", notify_on_complete=True)["error"]
    assert "background=true" in run("true", watch_patterns=["x"])["error"]


@pytest.mark.parametrize(
    ("usual", "most", "expected"),
    [("", "", (180, 600)), ("30", "", (30, 600)), ("700", "", (600, 600)), ("", "60", (60, 60)),
     ("soon", "-1", (180, 600)), ("inf", "1000", (180, 1000))],
)  # fmt: skip
def test_the_user_says_how_long_commands_may_take(monkeypatch, usual, most, expected):
    monkeypatch.setenv("TERMINAL_TIMEOUT", usual)
    monkeypatch.setenv("TERMINAL_MAX_FOREGROUND_TIMEOUT", most)
    assert (usual_wait(), longest_wait()) == expected


def test_a_call_does_not_pay_for_the_commands_before_it(shell):
    turn, waited = threading.Lock(), []

    @contextmanager
    def waiting():
        begun = time.monotonic()
        yield
        waited.append(time.monotonic() - begun)

    def call(command):
        context = {"environment": shell, "shell_turn": turn, "waiting": waiting}
        return json.loads(registry.dispatch("terminal", {"command": command}, **context))

    first = threading.Thread(target=call, args=("echo > begun; sleep 0.7",))
    first.start()
    while not (Path(shell.cwd) / "begun").exists():
        time.sleep(0.01)
    assert call("echo second")["output"] == "second\n"
    first.join(10)
    assert max(waited) > 0.4
    assert min(waited) < 0.2
