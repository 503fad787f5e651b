"""Conversations outlive their kernel, and can be listed, copied, exported and deleted."""

import json
import os
import signal
from pathlib import Path

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

SCRIPT = (
    conversation("remember", "I remember it."),
    conversation("which", "It was 7."),
    conversation("log", (call("terminal", command="echo once >> log; sleep 40"),), "never"),
)


@pytest.fixture
def named(tmp_path):
    """The environment that Jupyter gives to the kernel of a notebook."""
    return {"JPY_SESSION_NAME": str(tmp_path / "work" / "sales.ipynb")}


def prompts(notebook):
    messages = notebook.requests()[-1]["messages"]
    return [m["content"].rpartition("\n\n")[2].strip() for m in messages if m["role"] == "user"]


def kill(notebook):
    """As the system does when the memory is full."""
    os.kill(notebook.manager.provisioner.pid, signal.SIGKILL)


def test_a_notebook_goes_on_after_its_kernel_was_killed(start, named):
    first = start(*SCRIPT, fresh=True, env=named)
    assert first.status(first.agent("remember 7")) == "ok"
    kill(first)
    second = start(*SCRIPT, fresh=True, env=named)
    request = second.agent("which number?")
    assert second.status(request) == "ok"
    assert prompts(second) == ["remember 7", "which number?"]
    record = second.record(request)["application/vnd.hermes.turn+json"]
    assert record["session_id"] in second.run("%hermes sessions")
    assert second.run("%hermes new").startswith("A new conversation")
    assert second.status(second.agent("which number?")) == "ok"
    assert prompts(second) == ["which number?"]


def test_a_command_that_ran_when_the_kernel_was_killed_runs_once(start, named):
    first = start(*SCRIPT, fresh=True, env=named)
    first.agent("log it")
    log = Path(first.folder, "log")
    first.until(log.exists, "the log")
    kill(first)
    second = start(*SCRIPT, fresh=True, env=named)
    assert second.status(second.agent("which was it?")) == "ok"
    (answer,) = [m for m in second.requests()[-1]["messages"] if m["role"] == "tool"]
    assert json.loads(answer["content"])["status"] == "unknown whether it ran"
    assert log.read_text() == "once\n"


def test_a_conversation_that_is_open_in_another_kernel_can_be_copied(start):
    first = start(*SCRIPT, fresh=True)
    assert first.status(first.agent("remember 7")) == "ok"
    second = start(*SCRIPT, fresh=True)
    assert "open in another kernel" in second.run("%hermes sessions")
    refused = second.execute("%hermes resume main")
    assert second.status(refused) == "error"
    (shown,) = second.replies[refused]["content"]["traceback"]
    assert "is open in another kernel" in shown
    assert "Now in twin" in second.run("%hermes fork main twin")
    assert second.status(second.agent("which number?")) == "ok"
    assert prompts(second) == ["remember 7", "which number?"]


def test_the_commands(start):
    notebook = start(*SCRIPT)
    assert "is stored yet" in notebook.run("%hermes sessions")
    assert notebook.status(notebook.agent("remember 7")) == "ok"
    (line, _) = notebook.run("%hermes sessions").strip().splitlines()
    assert line.startswith("* ")
    assert line.endswith("2 messages  main  “remember 7”")
    identity = line.split()[1]
    assert "now named sales" in notebook.run("%hermes rename sales")
    assert "sales" in notebook.run("%hermes list")
    for ending in ("md", "ipynb", "json"):
        assert f"chat.{ending}" in notebook.run(f"%hermes export chat.{ending}")
    assert "I remember it." in Path(notebook.folder, "chat.md").read_text()
    assert json.loads(Path(notebook.folder, "chat.ipynb").read_text())["nbformat"] == 4
    assert "Now in sales-copy" in notebook.run("%hermes fork")
    assert f"Now in sales ({identity}), 2 messages" in notebook.run(f"%hermes resume {identity}")
    assert "Last asked: remember 7" in notebook.run("%hermes resume sales")
    assert "Deleted: " in notebook.run("%hermes delete sales-copy")
    assert len(notebook.run("%hermes sessions").strip().splitlines()) == 2
    assert "No conversation with 'nothing'" in notebook.run("%hermes sessions nothing")
    notebook.run("%hermes delete sales")
    assert "is stored yet" in notebook.run("%hermes sessions")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%hermes resume nope", "there is no session 'nope'"),
        ("%hermes resume", "no other conversation"),
        ("%hermes export chat.docx", "md, json, ipynb"),
        ("%hermes export", "to which file?"),
        ("%hermes delete", "which one?"),
        ("%hermes rename", "which name?"),
        ("%hermes fork", "nothing is stored of session 'main' yet"),
    ],
)
def test_slips_are_one_line(start, line, said):
    notebook = start(*SCRIPT)
    if "docx" in line:
        notebook.status(notebook.agent("remember 7"))
    request = notebook.execute(line)
    assert notebook.status(request) == "error"
    (shown,) = notebook.replies[request]["content"]["traceback"]
    assert said in shown
