"""The terminal tool, with a real bash."""

import json
import threading

import pytest

import tools.terminal_tool as terminal_tool
from tools.environments.local import LocalEnvironment
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
