"""Turns are recorded, and made again without a model; a cell that runs again keeps its answer."""

import json
from pathlib import Path

import nbformat
import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

RECORD = "application/vnd.hermes.turn+json"
SCRIPT = (
    conversation(
        "log it",
        ("I write it down.", call("terminal", command="echo once >> log; cat log")),
        "Logged.",
    ),
    conversation("big", [call("terminal", command=f"seq {n}0000") for n in (5, 6, 7)], "Counted."),
    conversation("delete", (call("terminal", command="rm log"),), "Deleted."),
    conversation("go on", "One.", "Two."),
    conversation("which", "It was once."),
    conversation("", "Hello."),
)
OFFLINE = """
import socket
def refuse(*_args): raise OSError('the network is off')
for name in ('connect', 'connect_ex', 'sendto'): setattr(socket.socket, name, refuse)
socket.getaddrinfo = refuse
"""
"""Cuts the kernel's Python off; ZMQ has sockets of its own."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "work" / "sales.ipynb"


@pytest.fixture
def named(path):
    """The environment that Jupyter gives to the kernel of a notebook."""
    return {"JPY_SESSION_NAME": str(path)}


@pytest.fixture
def elsewhere(tmp_path, path):
    """The environment of another machine that has the notebook: no store, no model."""
    return {
        "JPY_SESSION_NAME": str(path),
        "HERMES_HOME": str(tmp_path / "other home"),
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    }


def in_cell(notebook, cell, code, *, attended=True):
    """Run a cell as JupyterLab does: its id comes with the request."""
    content = {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": attended,
        "stop_on_error": True,
    }
    session = notebook.client.session
    message = session.msg("execute_request", content, metadata={"cellId": cell})
    notebook.client.shell_channel.send(message)
    return message["header"]["msg_id"]


def answered(notebook, cell, prompt, line=""):
    """Run an agent cell to its end; the record below it."""
    request = in_cell(notebook, cell, f"%%agent --plain {line}\n{prompt}")
    assert notebook.status(request) == "ok", notebook.tail()
    return notebook.record(request)


def asked(notebook):
    """The prompts that the model read last."""
    messages = notebook.requests()[-1]["messages"]
    return [m["content"].strip() for m in messages if m["role"] == "user"]


def failure(notebook, request):
    assert notebook.status(request) == "error"
    (shown,) = notebook.replies[request]["content"]["traceback"]
    return shown


def save(path, *outputs):
    """The notebook's file, as a front end writes it: a cell for each source and its bundle."""
    made = nbformat.v4.new_notebook()
    for source, bundle in outputs:
        output = nbformat.v4.new_output("display_data", data=bundle)
        made.cells.append(nbformat.v4.new_code_cell(source, outputs=[output]))
    nbformat.write(made, path)


def facts(record):
    """What a record says, but for what says where and how it was made."""
    apart = ("session", "session_id", "whole", "replayed", "cell", "after")
    return {name: value for name, value in record[RECORD].items() if name not in apart}


@pytest.fixture
def recorded(start, named, path):
    """A notebook with one recorded turn, whose kernel is gone; the record."""
    notebook = start(*SCRIPT, fresh=True, env=named)
    request = notebook.agent("log it", "--record -o result", allow_stdin=False)
    assert notebook.status(request) == "ok", notebook.tail()
    record = notebook.record(request)
    save(path, ("%%agent --record\nlog it", record))
    assert (path.parent / "log").read_text() == "once\n"
    return record


def test_a_recorded_turn_is_made_again_on_another_machine_without_network(
    start, recorded, elsewhere, path
):
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    second.run(OFFLINE)
    request = second.agent("log it", "--replay -o result", allow_stdin=False)
    assert second.status(request) == "ok", second.tail()
    again = second.record(request)
    assert facts(again) == facts(recorded)
    assert again[RECORD]["replayed"]["how"] == "record"
    assert "nothing was run" in again["text/html"]
    assert "echo once" in again["text/plain"]
    assert second.run("print(result, result.turn, result.status)").split() == [
        "Logged.", recorded[RECORD]["turn"], "done",
    ]  # fmt: skip
    assert second.requests() == []
    assert (path.parent / "log").read_text() == "once\n"
    assert "0 tokens" in second.run("%hermes usage") or "no" in second.run("%hermes usage")
    assert "log it" not in second.run("%hermes audit")


def test_the_conversation_goes_on_behind_a_replayed_turn(start, recorded, elsewhere):
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    assert second.status(second.agent("log it", "--replay", allow_stdin=False)) == "ok"
    second.run(f"import os; os.environ['OPENAI_BASE_URL'] = {second.server.url!r}")
    assert second.status(second.agent("which word was it?", allow_stdin=False)) == "ok", (
        second.tail()
    )
    messages = second.requests()[-1]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert "once" in messages[3]["content"]


def test_a_large_recording_lies_in_a_file_that_the_record_names(start, named, path, elsewhere):
    first = start(*SCRIPT, fresh=True, env=named)
    request = first.agent("big", "--record", allow_stdin=False)
    assert first.status(request) == "ok"
    record = first.record(request)
    assert set(record[RECORD]["recording"]) == {"file", "sha256", "size"}
    assert (path.parent / record[RECORD]["recording"]["file"]).is_file()
    save(path, ("%%agent --record\nbig", record))
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    request = second.agent("big", "--replay", allow_stdin=False)
    assert second.status(request) == "ok", second.tail()
    assert facts(second.record(request)) == facts(record)


def test_a_changed_prompt_is_a_mismatch_and_the_kernel_lives(start, recorded, elsewhere):
    second = start(*SCRIPT, fresh=True, env={**elsewhere, "HERMES_REPLAY": "1"})
    said = failure(second, second.agent("log it twice", allow_stdin=False))
    assert "RecordingError: In [" in said
    assert "“log it twice” cannot be replayed" in said
    assert "--record" in said
    assert second.run("print(6 * 7)") == "42\n"
    assert second.status(second.agent("log it", allow_stdin=False)) == "ok"
    assert second.requests() == []


def test_a_cell_whose_prompt_has_changed_is_told_so(start, named, path, elsewhere):
    first = start(*SCRIPT, fresh=True, env=named)
    record = answered(first, "cell-1", "log it", "--record")
    save(path, ("%%agent --record\nlog it", record))
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    request = in_cell(second, "cell-1", "%%agent --replay\nlog that")
    assert "the prompt of this cell has changed since it was recorded" in failure(second, request)
    request = in_cell(second, "cell-1", "%%agent --replay -m other\nlog it")
    assert "it was recorded with other options (none), and now has -m other" in failure(
        second, request
    )


def test_tools_run_again_through_the_gate_and_are_compared(start, recorded, elsewhere, path):
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    request = second.agent("log it", "--replay=tools -o result", allow_stdin=False)
    assert second.status(request) == "ok", second.tail()
    record = second.record(request)
    assert (path.parent / "log").read_text() == "once\nonce\n"
    assert "1 call answered in another way than recorded" in record["text/plain"]
    assert "+once" in record["text/html"]
    assert second.run("print(len(result.differences), result)") == "1 Logged.\n"
    assert second.requests() == []


def test_a_replay_of_tools_asks_what_the_recording_claims_was_allowed(
    start, named, path, elsewhere
):
    first = start(*SCRIPT, fresh=True, env=named)
    (path.parent / "log").write_text("x")
    request = first.agent("delete", "--record --approve off", allow_stdin=False)
    assert first.status(request) == "ok", first.tail()
    save(path, ("%%agent\ndelete", first.record(request)))
    (path.parent / "log").write_text("x")
    second = start(*SCRIPT, fresh=True, env=elsewhere)
    request = in_cell(second, "c1", "%%agent --replay\ndelete", attended=False)
    assert second.status(request) == "ok"
    assert (path.parent / "log").exists()
    request = in_cell(second, "c1", "%%agent --replay=tools\ndelete", attended=False)
    assert second.status(request) == "ok"
    assert (path.parent / "log").exists()
    assert "Denied because nobody could be asked" in second.record(request)["text/plain"]


SHOWS = """from IPython.display import HTML, Image, display
import base64
display(Image(base64.b64decode('%s'), format='png', width=7))
display(HTML("<table><tr><td>42</td></tr></table><script>alert(1)</script>"))"""
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def test_what_a_turn_has_shown_is_below_it_again_and_runs_nothing(start, named, path, elsewhere):
    script = conversation("show", (call("run_python", code=SHOWS % PNG),), "Shown.")

    def shown(notebook, request):
        outputs = [m["content"] for m in notebook.of(request) if m["msg_type"] == "display_data"]
        (picture,) = [each for each in outputs if "image/png" in each["data"]]
        (table,) = [each for each in outputs if "42" in each["data"].get("text/html", "")]
        assert outputs.index(picture) < outputs.index(table)
        return picture, table["data"]["text/html"]

    first = start(script, fresh=True, env=named)
    recorded = in_cell(first, "c1", "%%agent --plain --record\nshow", attended=True)
    assert first.status(recorded) == "ok", first.tail()
    picture, table = shown(first, recorded)
    assert "<script>" in table
    kept = in_cell(first, "c1", "%%agent --plain\nshow")
    assert first.status(kept) == "ok"
    save(path, ("%%agent --record\nshow", first.record(recorded)))
    second = start(script, fresh=True, env=elsewhere)
    replayed = second.agent("show", "--replay", allow_stdin=False)
    assert second.status(replayed) == "ok", second.tail()
    for notebook, request in ((first, kept), (second, replayed)):
        again, harmless = shown(notebook, request)
        assert again["data"]["image/png"].strip() == picture["data"]["image/png"].strip()
        assert again["metadata"] == picture["metadata"] == {"image/png": {"width": 7}}
        assert harmless == "<table><tr><td>42</td></tr></table>"
    assert second.requests() == []


# A cell that runs again


def test_an_unchanged_prompt_keeps_its_answer_also_after_a_restart(start, named, path):
    first = start(*SCRIPT, fresh=True, env=named)
    record = answered(first, "c1", "log it", "-o result")
    kept = answered(first, "c1", "log it", "-o result")
    assert facts(kept) == facts(record)
    assert kept[RECORD]["replayed"]["how"] == "kept"
    assert "--fresh asks anew" in first.text()
    number = len(first.requests())
    assert first.run("print(result)") == "Logged.\n"
    first.manager.shutdown_kernel(now=True)
    second = start(*SCRIPT, fresh=True, env=named)
    assert facts(answered(second, "c1", "log it")) == facts(record)
    assert second.requests() == []
    assert len(first.requests()) == number
    assert (path.parent / "log").read_text() == "once\n"


def test_fresh_a_changed_prompt_and_another_cell_ask_anew(start, named, path):
    notebook = start(*SCRIPT, fresh=True, env=named)
    answered(notebook, "c1", "log it")
    assert "replayed" not in answered(notebook, "c1", "log it", "--fresh")[RECORD]
    assert "replayed" not in answered(notebook, "c2", "log it")[RECORD]
    assert "replayed" not in answered(notebook, "c1", "log it now")[RECORD]
    assert "replayed" not in answered(notebook, "c1", "log it now", "--no-tools")[RECORD]
    assert (path.parent / "log").read_text() == "once\n" * 4


def test_a_kept_answer_says_when_what_came_before_it_has_changed(start, named):
    notebook = start(*SCRIPT, fresh=True, env=named)
    answered(notebook, "c1", "hello")
    answered(notebook, "c2", "which word?")
    assert "has changed since" not in str(answered(notebook, "c2", "which word?"))
    answered(notebook, "c1", "hello there")
    kept = answered(notebook, "c2", "which word?")
    assert kept[RECORD]["replayed"]["how"] == "kept"
    assert "what was asked before this cell has changed since" in str(kept[RECORD]["events"])
    notebook.run("%config Hermes.keep_answers = 'context'")
    assert "replayed" not in answered(notebook, "c2", "which word?")[RECORD]
    notebook.run("%config Hermes.keep_answers = 'never'")
    assert "replayed" not in answered(notebook, "c2", "which word?")[RECORD]


def test_a_kept_answer_is_in_the_conversation_once(start, named):
    notebook = start(*SCRIPT, fresh=True, env=named)
    answered(notebook, "c1", "log it")
    answered(notebook, "c1", "log it")
    answered(notebook, "c2", "which word?")
    prompts = asked(notebook)
    assert prompts == ["log it", "which word?"]
    notebook.run("%hermes new")
    answered(notebook, "c1", "log it")
    answered(notebook, "c3", "which one?")
    prompts = asked(notebook)
    assert prompts == ["log it", "which one?"]


def test_a_turn_that_did_not_come_to_an_end_is_asked_anew(start, named):
    notebook = start(*SCRIPT, fresh=True, env=named)
    request = in_cell(notebook, "c1", "%%agent --plain --max-steps 1\nlog it")
    assert notebook.status(request) == "ok"
    assert notebook.record(request)[RECORD]["status"] == "stopped"
    assert answered(notebook, "c1", "log it")[RECORD]["status"] == "done"


def test_fresh_and_replay_exclude_each_other(start):
    notebook = start(*SCRIPT)
    request = notebook.agent("hello", "--fresh --replay", allow_stdin=False)
    assert notebook.status(request) == "error"
    assert "choose one" in notebook.replies[request]["content"]["evalue"]


def test_a_secret_is_in_no_recording(start, named, path, tmp_path):
    secret = "sk-proj-abcdefghij0123456789ABCDEFGHIJ"
    notebook = start(*SCRIPT, fresh=True, env={**named, "MY_API_KEY": secret})
    request = notebook.agent(f"hello {secret}", "--record", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert secret not in json.dumps(notebook.record(request))
    kept = [*Path(tmp_path, "home", "jupyter", "recordings").rglob("*.json")]
    assert kept
    assert not any(secret in each.read_text() for each in kept)
    save(path, ("x", notebook.record(request)))
    assert notebook.status(notebook.agent(f"hello {secret}", "--replay", allow_stdin=False)) == "ok"
