"""What a notebook user is promised of background processes."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

TOLD = "[IMPORTANT: Background process"
WAIT = "until [ -e go ]; do sleep 0.05; done; echo built"
ACT = """
from hermes_jupyter import api
from tools.process_tool import process
print(process({args!r}, environment=api.desktop().hermes.session().environment))
"""


ASKED = conversation(r"(now\?|more)\s*$", "Answered.")
"""What the model says in turns after the first one."""


def started(command, **options):
    return (call("terminal", command=command, background=True, **options),)


def until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not (held := holds()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return held


def events(home):
    return "".join(path.read_text() for path in (home / "jupyter/job_events").glob("*.jsonl"))


def act(notebook, **args):
    """The answer of the process tool, without the question that input needs."""
    return json.loads(notebook.run(ACT.format(args=args)))


def jobs(notebook):
    return act(notebook, action="list")["processes"]


def told(notebook):
    """How often the model has read of an event, in all that it is sent now."""
    return json.dumps(notebook.requests()[-1]["messages"]).count(TOLD)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def restart(notebook, *, now):
    notebook.manager.restart_kernel(now=now)
    notebook.until_heard()
    notebook.forget()
    notebook.run("%load_ext hermes_jupyter", timeout=60)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_an_end_is_told_in_the_turn_that_runs(start, home):
    wait = f"until grep -qs proc_ {home}/jupyter/job_events/*; do sleep 0.05; done"
    notebook = start(
        conversation("IMPORTANT", "All done."),
        started("echo built; exit 3", notify_on_complete=True),
        (call("terminal", command=wait),),
        "Not told.",
    )
    request = notebook.agent("go")
    assert notebook.status(request, 60) == "ok"
    assert told(notebook) == 1
    messages = notebook.requests()[-1]["messages"]
    (note,) = [m["content"] for m in messages if m["role"] == "user" and TOLD in m["content"]]
    assert "ended with exit code 3" in note
    assert "built" in note
    seen = notebook.text(request) + json.dumps(notebook.record(request))
    assert "ended with exit code 3" in seen
    assert "Not told" not in seen


def test_an_end_is_told_in_the_next_turn_and_only_once(start, home):
    notebook = start(ASKED, started(WAIT, notify_on_complete=True), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    assert told(notebook) == 0
    (notebook.folder / "go").touch()
    until(lambda: "built" in events(home))
    assert notebook.status(notebook.agent("what now?")) == "ok"
    assert told(notebook) == 1
    content = notebook.requests()[-1]["messages"][-1]["content"]
    assert content.index(TOLD) < content.index("what now?")
    assert notebook.status(notebook.agent("and now?")) == "ok"
    assert told(notebook) == 1


def test_what_the_model_has_seen_itself_is_not_told(start, home):
    notebook = start(ASKED, started(WAIT, notify_on_complete=True), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    (notebook.folder / "go").touch()
    until(lambda: "exit code" in events(home))
    job = jobs(notebook)[0]["session_id"]
    assert act(notebook, action="wait", session_id=job)["exit_code"] == 0
    assert notebook.status(notebook.agent("what now?")) == "ok"
    assert told(notebook) == 0


def test_what_only_the_person_has_looked_at_is_told(start, home):
    notebook = start(ASKED, started(WAIT, notify_on_complete=True), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    (notebook.folder / "go").touch()
    until(lambda: "exit code" in events(home))
    job = jobs(notebook)[0]["session_id"]
    notebook.run(f"%hermes call process action=wait session_id={job}")
    assert notebook.status(notebook.agent("what now?")) == "ok"
    assert told(notebook) == 1


def test_a_turn_that_fails_does_not_lose_it(start, home):
    notebook = start(ASKED, started(WAIT, notify_on_complete=True), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    (notebook.folder / "go").touch()
    until(lambda: "built" in events(home))
    notebook.run("%config Hermes.base_url = 'http://127.0.0.1:9/v1'")
    assert notebook.status(notebook.agent("what now?"), 60) == "error"
    notebook.run(f"%config Hermes.base_url = {notebook.server.url!r}")
    assert notebook.status(notebook.agent("once more")) == "ok"
    assert told(notebook) == 1


def test_a_line_that_matches_is_told(start, home):
    command = f"{WAIT}; echo Listening on $((79 + 1)); sleep 60"
    notebook = start(ASKED, started(command, watch_patterns=["Listening"]), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    (notebook.folder / "go").touch()
    until(lambda: "Listening on 80" in events(home))
    assert notebook.status(notebook.agent("what now?")) == "ok"
    assert told(notebook) == 1
    assert "matches a watch pattern" in notebook.requests()[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("now", [False, True], ids=["restarted", "killed"])
def test_a_kernel_that_starts_again_finds_its_jobs(start, now):
    notebook = start(
        started("echo on; read x; echo got $x", notify_on_complete=True), "Started.", fresh=True
    )
    assert notebook.status(notebook.agent("go")) == "ok"
    before = until(lambda: [j for j in jobs(notebook) if j["output_preview"] == "on\n"])
    restart(notebook, now=now)
    (after,) = jobs(notebook)
    assert (after["session_id"], after["pid"]) == (before[0]["session_id"], before[0]["pid"])
    assert after["status"] == "running"
    act(notebook, action="submit", data="it", session_id=after["session_id"])
    until(lambda: jobs(notebook)[0]["status"] == "exited")
    assert jobs(notebook)[0]["output_preview"] == "on\ngot it\n"


def test_what_ends_while_no_kernel_lives_is_told_once_to_the_next(start):
    notebook = start(ASKED, started(WAIT, notify_on_complete=True), "Started.", fresh=True)
    assert notebook.status(notebook.agent("go")) == "ok"
    (job,) = jobs(notebook)
    os.kill(notebook.manager.provisioner.pid, signal.SIGKILL)
    (notebook.folder / "go").touch()
    until(lambda: not alive(job["pid"]))
    restart(notebook, now=True)
    until(lambda: jobs(notebook)[0]["status"] == "exited")
    until(lambda: "built" in events(notebook.folder.parent / "home"))
    assert notebook.status(notebook.agent("what now?"), 60) == "ok"
    assert told(notebook) == 1
    assert notebook.status(notebook.agent("and now?")) == "ok"
    assert told(notebook) == 1
    restart(notebook, now=False)
    notebook.run("%hermes status")
    assert events(notebook.folder.parent / "home").count('"told"') == 1


@pytest.mark.parametrize("now", [False, True], ids=["shut down", "killed for good"])
def test_a_kernel_that_does_not_come_back_ends_its_jobs(start, now):
    notebook = start(started("sleep 600"), "Started.", fresh=True)
    assert notebook.status(notebook.agent("go")) == "ok"
    (job,) = jobs(notebook)
    assert alive(job["pid"])
    notebook.manager.shutdown_kernel(now=now)
    until(lambda: not alive(job["pid"]))


def test_a_command_ends_with_a_kernel_that_is_killed_and_its_shell_with_it(start):
    sleeper = "sh -c 'echo $$ > {}; sleep 600'"
    command = f"echo $$ > shell; {sleeper.format('one')} & setsid {sleeper.format('two')}"
    notebook = start((call("terminal", command=command),), "never", fresh=True)
    notebook.agent("go", "--approve off")
    named = [notebook.folder / name for name in ("shell", "one", "two")]
    until(lambda: all(path.exists() and path.read_text().strip() for path in named))
    pids = [int(path.read_text()) for path in named]
    assert all(map(alive, pids))
    os.kill(notebook.manager.provisioner.pid, signal.SIGKILL)
    until(lambda: not any(map(alive, pids)))


def test_a_new_conversation_ends_the_jobs_of_the_old_one(start):
    notebook = start(started("sleep 600"), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    (job,) = jobs(notebook)
    notebook.run("%hermes new")
    assert not alive(job["pid"])
    assert jobs(notebook) == []


def test_a_program_in_a_terminal_can_be_spoken_with(start):
    program = (
        "import sys; print('terminal', sys.stdin.isatty(), sys.stdout.isatty()); input('Name? ')"
    )
    notebook = start(
        started(f'python3 -c "{program}"', pty=True),
        (call("terminal", command="test -t 0 && test -t 1 && echo both", pty=True),),
        "Done.",
    )
    assert notebook.status(notebook.agent("go"), 60) == "ok"
    assert "both" in json.dumps(notebook.requests()[-1]["messages"])
    (job,) = until(lambda: [j for j in jobs(notebook) if "Name? " in j["output_preview"]])
    assert "terminal True True" in job["output_preview"]
    act(notebook, action="submit", data="x", session_id=job["session_id"])
    until(lambda: jobs(notebook)[0]["status"] == "exited")


MANY = """
import os
from hermes_jupyter import api
shell = api.desktop().hermes.session().environment
shell.execute('true')
count = lambda: len(os.listdir('/proc/self/fd'))
shell.spawn('true').wait(20, lambda: False)
before = count()
for number in range(1000):
    shell.execute('true')
running = [shell.spawn(f'read x; echo {number}$x') for number in range(50)]
states = {job.status for job in running}
for job in running:
    job.write(b'!\\n')
ended = all(job.wait(60, lambda: False) for job in running)
said = all(job.tail(9) == f'{number}!\\n' for number, job in enumerate(running))
print(count() - before, states, ended, said)
"""


def test_many_commands_and_fifty_jobs_leave_no_descriptors(start):
    notebook = start()
    assert notebook.run(MANY, timeout=110) == "0 {'running'} True True\n"
