"""Modes, rules and what is remembered of decisions, as a notebook sees them."""

import json

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

DELETE = (call("terminal", command="rm old.log"),)
IN_OTHER_WORDS = (call("terminal", command="unlink old.log", background=True),)


def with_file(start, *replies, **options):
    notebook = start(*replies, **options)
    (notebook.folder / "old.log").write_text("x")
    return notebook


def told(notebook):
    """The results that the model has read last."""
    messages = notebook.requests()[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_a_denied_command_is_refused_in_other_words_and_in_the_background(start):
    notebook = with_file(start, DELETE, IN_OTHER_WORDS, "done")
    request = notebook.agent("delete old.log")
    notebook.show_widgets()
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert "earlier in this turn" in told(notebook)[-1]


@pytest.mark.parametrize("background", [True, False])
def test_background_is_judged_like_foreground(start, background):
    blocked = (call("terminal", command="rm -rf /", background=background),)
    asked = (call("terminal", command="rm old.log", background=background),)
    notebook = with_file(start, blocked, asked, "done")
    request = notebook.agent("go", "--approve off" if background else "--approve deny")
    assert notebook.status(request) == "ok"
    first, second = told(notebook)
    assert "nobody may approve" in first
    assert ("denied" in second) == (not background)


def test_plan_mode_changes_nothing_and_the_model_is_told_to_plan(start):
    write = (call("write_file", path="new.txt", content="x"), call("terminal", command="ls"))
    notebook = with_file(start, DELETE, write, "My plan: ...")
    request = notebook.agent("tidy up", "--approve plan")
    assert notebook.status(request) == "ok"
    assert [path.name for path in notebook.folder.iterdir()] == ["old.log"]
    assert "planning" in notebook.requests()[0]["messages"][-1]["content"]
    assert "old.log" in told(notebook)[-1]
    shown = notebook.record(request)["text/plain"]
    assert "set to plan" in shown
    assert "· approvals plan ·" in shown


def test_off_ends_with_the_kernel_and_no_file_sets_it(start):
    notebook = with_file(start, DELETE, "done", fresh=True)
    notebook.run("%config Hermes.approvals = 'off'")
    assert "approvals  off" in notebook.run("%hermes status")
    notebook.run("%unload_ext hermes_jupyter")
    notebook.run("get_ipython().config.Hermes.approvals = 'off'")
    assert "cannot switch approvals off" in notebook.run("%load_ext hermes_jupyter")
    home = notebook.folder.parent / "home"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("approvals: {mode: off}\n")
    assert "approvals  ask" in notebook.run("%hermes status")


def test_a_rule_that_cannot_be_read_is_shown_with_its_text(start):
    notebook = start()
    notebook.run("%config Hermes.ask = ['rm a b']")
    request = notebook.execute("%hermes status")
    assert notebook.status(request) == "error"
    assert "'rm a b' is no rule" in notebook.reply(request)["content"]["evalue"]


def test_always_holds_in_the_next_kernel_and_for_its_rule_alone(start, pool, tmp_path):
    notebook = with_file(
        start,
        conversation("first", DELETE, "done"),
        conversation("second", (*DELETE, call("terminal", command="rm other.log")), "done"),
    )
    request = notebook.agent("first")
    notebook.show_widgets()
    notebook.click(notebook.button("Always: terminal(rm old.log)"))
    assert notebook.status(request) == "ok"
    for name in ("old.log", "other.log"):
        (notebook.folder / name).write_text("x")
    env = {"HERMES_HOME": str(tmp_path / "home"), "OPENAI_BASE_URL": notebook.server.url,
           "OPENAI_API_KEY": ""}  # fmt: skip
    other, stack = pool.start(notebook.version, env)
    with stack:
        other.run(f"import os; os.chdir({str(notebook.folder)!r})\n%load_ext hermes_jupyter")
        request = other.agent("second", allow_stdin=False)
        assert other.status(request) == "ok"
    assert [path.name for path in notebook.folder.iterdir()] == ["other.log"]


def test_a_session_grant_of_one_notebook_is_none_of_another(start, pool, tmp_path):
    notebook = with_file(
        start, conversation("first", DELETE, "done"), conversation("second", DELETE, "done")
    )
    request = notebook.agent("first")
    notebook.show_widgets()
    notebook.click(notebook.button("Allow this session"))
    assert notebook.status(request) == "ok"
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("second", "--session other", allow_stdin=False)
    notebook.status(request)
    assert (notebook.folder / "old.log").exists()


def test_the_audit_log_has_the_decisions_and_no_secret(start, tmp_path):
    key = "sk-" + "a1B2" * 12
    notebook = with_file(start, (call("terminal", command=f"rm old.log # {key}"),), DELETE, "done")
    request = notebook.agent("delete", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert "nobody could be asked: terminal: rm old.log" in notebook.record(request)["text/plain"]
    text = (tmp_path / "home" / "jupyter" / "audit.jsonl").read_text()
    assert key not in text
    entries = [json.loads(line) for line in text.splitlines()]
    assert [(e["decision"], e["by"], e["session"]) for e in entries] == [
        ("deny", "policy", "main"), ("deny", "policy", "main"),
    ]  # fmt: skip
    shown = notebook.run("%hermes audit 1")
    assert "rm old.log" in shown
    assert shown.count("deny") == 1
