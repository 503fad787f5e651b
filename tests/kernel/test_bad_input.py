"""Bad input: a clear message, a living kernel, a transcript that stays valid."""

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True


def error_of(notebook, request):
    assert notebook.status(request) == "error"
    content = notebook.replies[request]["content"]
    said = "".join(content["traceback"]) + notebook.text(request)
    assert notebook.run("print('alive')") == "alive\n"
    return said


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%%agent\n   \n", "empty"),
        ("%%agent --nope\ngo", "--nope"),
        ("%%agent --max-steps x\ngo", "max-steps"),
        ("%%agent --max-steps -3\ngo", "-3"),
        ("%%agent --approve maybe\ngo", "maybe"),
        ("%%agent -t nothing_like_this\ngo", "nothing_like_this"),
        ("%%agent -o 7up\ngo", "7up"),
        ("%hermes tools --huh", "--huh"),
        ("%hermes stats", "%hermes status"),
        ("%hermes modle local", "%hermes model"),
        ("%hermes -m other hello", "-m"),
        ("%config Hermes.allow = ['not a rule']\n%hermes go on with it", "not a rule"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(start, cell, says):
    notebook = start("ok")
    request = notebook.execute(cell)
    said = error_of(notebook, request)
    assert says in said
    assert "Traceback" not in said


def test_a_setting_that_is_not_allowed_changes_nothing(start):
    notebook = start("ok")
    notebook.run("%config Hermes.approvals = 'maybe'")
    assert "maybe" in notebook.text()
    assert "approvals  ask" in notebook.run("%hermes status")


def test_an_empty_line_shows_the_help(start):
    assert "%hermes doctor" in start("ok").run("%hermes")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"status": 401}, "key"),
        ({"status": 404, "message": "The model `x` does not exist"}, "x"),
        ({"status": 429}, "too many requests"),
        ({"status": 500}, "500"),
    ],
)
def test_a_model_error_is_one_clear_line(start, reply, says):
    from hermes_jupyter.testing.scripted_server import Conversation, Refusal, Step

    refusal = Refusal(retry_after="0", **reply) if reply["status"] == 429 else Refusal(**reply)
    notebook = start(Conversation(steps=(Step(reply=refusal),)))
    request = notebook.agent("go", "-m x")
    said = error_of(notebook, request)
    assert says in said
    assert len(notebook.replies[request]["content"]["traceback"]) == 1
    assert notebook.stderr() == ""


def test_a_refused_connection_is_one_clear_line(start):
    notebook = start(env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    said = error_of(notebook, notebook.agent("go"))
    assert "127.0.0.1:9" in said


def test_a_megabyte_is_a_prompt_like_any_other(start):
    notebook = start("ok")
    assert notebook.status(notebook.agent("x" * 1_000_000)) == "ok"
    assert len(notebook.requests()[-1]["messages"][-1]["content"]) >= 1_000_000


def test_a_prompt_beyond_the_limit_is_refused(start):
    notebook = start("ok")
    notebook.run("long = 'x' * 2_100_000")
    request = notebook.execute("import hermes_jupyter; hermes_jupyter.run(long)")
    assert "put the text in a file" in error_of(notebook, request)


def test_lone_surrogates_do_no_harm(start):
    notebook = start("ok")
    request = notebook.execute("import hermes_jupyter; hermes_jupyter.run('a\\ud800b').text")
    assert notebook.status(request) == "ok"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("    return 'x' * 10_000_000", "characters left out"),
        ("    raise ValueError('no such thing')", "no such thing"),
        ("    return None", "instead of text"),
        ("    return b'bytes'", "instead of text"),
        ("    return 'a\\ud800b'", "a\ufffdb"),
        ("    raise SystemExit(3)", "SystemExit"),
        ("    return chr(0) + '\\x1b[31m<script>alert(1)</script>'", "script"),
    ],
)
def test_a_bad_tool_is_told_to_the_model(start, body, says):
    notebook = start((call("odd"),), "done")
    notebook.tool("odd", body)
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    assert says in notebook.requests()[-1]["messages"][-1]["content"]
    assert "<script>" not in notebook.record(request)["text/html"]
    assert notebook.run("print('alive')") == "alive\n"


def test_a_tool_that_never_returns_is_left(start):
    notebook = start((call("stuck"),), "done")
    notebook.tool("stuck", "    import threading; threading.Event().wait()")
    notebook.run("%config Hermes.tool_timeout = 0.3")
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    assert "did not finish within 0.3 s" in notebook.requests()[-1]["messages"][-1]["content"]


def test_unknown_tools_and_broken_arguments_go_back_to_the_model(start):
    broken = call("terminal")
    object.__setattr__(broken, "arguments", '{"command": "rm -r')
    notebook = start((call("no_such_tool"),), (broken,), "done")
    assert notebook.status(notebook.agent("go")) == "ok"
    told = [m["content"] for m in notebook.requests()[-1]["messages"] if m["role"] == "tool"]
    assert "no tool 'no_such_tool'" in told[0]
    assert "not valid JSON" in told[1]


def test_a_call_printed_as_text_is_a_call(start):
    printed = '<tool_call>{"name": "terminal", "arguments": {"command": "echo hi"}}</tool_call>'
    notebook = start(printed, "done")
    request = notebook.agent("go")
    notebook.show_widgets()
    assert notebook.status(request) == "ok"
    assert "hi" in notebook.requests()[-1]["messages"][-1]["content"]
    assert "tool_call" not in notebook.record(request)["text/markdown"]


def test_a_tool_file_that_cannot_be_imported_is_reported(start, tmp_path):
    tools = tmp_path / "home" / "jupyter" / "tools"
    tools.mkdir(parents=True)
    (tools / "bad_tool.py").write_text(
        "import no_such_module\nfrom tools.registry import registry\n"
        "registry.register('x', 'y', {}, print)"
    )
    notebook = start(conversation("", "ok"))
    assert "no_such_module" in notebook.run("%hermes status")
    assert notebook.stderr() == ""


def test_a_tool_file_dropped_in_later_is_found_by_the_next_turn(start, tmp_path):
    notebook = start("ok")
    assert notebook.status(notebook.agent("go")) == "ok"
    tools = tmp_path / "home" / "jupyter" / "tools"
    tools.mkdir(parents=True)
    (tools / "late_tool.py").write_text(
        "from tools.registry import registry\n"
        "registry.register('late', 'mine', {'description': 'x'}, lambda args, **_: 'ok')"
    )
    assert notebook.status(notebook.agent("go")) == "ok"
    assert "late" in [t["function"]["name"] for t in notebook.requests()[-1]["tools"]]
    assert notebook.stderr() == ""


def test_a_model_that_cannot_be_used_is_not_taken(start):
    notebook = start(env={"OPENAI_BASE_URL": ""})
    request = notebook.execute("%hermes model no-such-model")
    assert "stays as it was" in error_of(notebook, request)
