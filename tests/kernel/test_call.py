"""``%hermes call``: one tool by hand, on the road of the agent's calls; and the trace of calls."""

import json

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True

MIME = "application/vnd.hermes.turn+json"
DELETE = '%hermes call terminal command="rm old.log"'


def calling(start, code, **options):
    """A cell that wants to delete a file."""
    notebook = start()
    (notebook.folder / "old.log").write_text("x")
    return notebook, notebook.execute(code, **options)


def error_of(notebook, code):
    """The one line that a cell fails with."""
    request = notebook.execute(code)
    assert notebook.status(request) == "error"
    lines = "\n".join(notebook.reply(request)["content"]["traceback"]).strip().splitlines()
    said = lines or notebook.stderr().strip().splitlines()
    assert len(said) == 1, said
    return said[0]


@pytest.mark.parametrize(
    "line", ['read_file {"path": "a.txt"}', "read_file path=a.txt", "ReadFile {'path': 'a.txt',}"]
)
def test_a_call_shows_its_answer_and_leaves_the_conversation_alone(start, line):
    notebook = start()
    (notebook.folder / "a.txt").write_text("forty-two\n")
    request = notebook.execute(f"%hermes call {line}")
    assert notebook.status(request) == "ok"
    record = notebook.record(request)
    for mime in ("text/plain", "text/markdown", "text/html"):
        assert "forty-two" in record[mime], mime
        assert "step" not in record[mime], mime
    assert record[MIME]["status"] == "done"
    assert notebook.requests() == []
    said = "from hermes_jupyter.api import desktop; print(desktop().hermes.session().transcript)"
    assert notebook.run(said) == "[]\n"


@pytest.mark.parametrize("label", ["Allow once", "Deny"])
def test_a_click_decides_while_the_cell_is_busy(start, label):
    notebook, request = calling(start, DELETE)
    notebook.show_widgets()
    button = notebook.button(label)
    assert request not in notebook.replies
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists() == (label == "Deny")
    decided = "Denied by you" if label == "Deny" else "Allowed once by you"
    assert decided in notebook.record(request)["text/plain"]


def test_without_widgets_input_asks(start):
    notebook, request = calling(start, DELETE.replace("call", "call --plain"), allow_stdin=True)
    assert "rm old.log" in notebook.answer("y")
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_headless_denies_and_says_so(start):
    notebook, request = calling(start, DELETE, allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert "nobody could be asked" in notebook.record(request)["text/plain"]


def test_approve_off_runs_without_asking(start):
    notebook, request = calling(start, DELETE.replace("call", "call --approve off"))
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_an_interrupt_ends_the_call_and_what_it_started(start):
    notebook = start()
    started = notebook.folder / "started"
    request = notebook.execute('%hermes call terminal command="touch started; sleep 31"')
    notebook.until(lambda: started.exists(), "the command", 5)
    notebook.interrupt()
    assert notebook.status(request, 5) == "error"
    assert notebook.record(request)[MIME]["status"] == "interrupted"
    left = notebook.run("!ps -eo args | grep -c '[s]leep 31'")
    assert left.strip() == "0"
    assert "running    nothing" in notebook.run("%hermes status")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("read_files path=a.txt", "did you mean read_file"),
        ("read_text_file a.txt", "name=value"),
        ("no_such_thing_at_all", "%hermes tools lists them"),
        ('read_file {"path": "a', "the arguments of read_file cannot be read"),
        ('read_file {"path": "a"} {"path": "b"}', "2 different objects"),
        ("read_file a.txt", "name=value"),
        ("terminal command=rm old.log", "needs quotes"),
        ("--huh todo", "'--huh'"),
        ("", "which tool"),
    ],
)
def test_what_cannot_be_called_is_one_line(start, line, said):
    notebook = start()
    assert said in error_of(notebook, f"%hermes call {line}")
    assert notebook.requests() == []


def test_arguments_that_do_not_fit_are_the_answer(start):
    notebook = start()
    request = notebook.execute("%hermes call read_file")
    assert notebook.status(request) == "ok"
    assert "path" in notebook.record(request)["text/plain"]


def test_prose_that_begins_with_call_is_a_prompt(start):
    notebook = start("I will.")
    request = notebook.execute("%hermes call me maybe tomorrow")
    assert notebook.status(request) == "ok"
    assert notebook.requests()[-1]["messages"][-1]["content"] == "call me maybe tomorrow"


def test_what_is_switched_off_is_refused_with_the_reason(start):
    notebook = start()
    notebook.run("%config Hermes.toolsets = ['file']")
    refused = error_of(notebook, "%hermes call terminal command=pwd")
    assert "not among the chosen toolsets: file" in refused
    assert "--tools terminal" in refused
    named = notebook.execute("%hermes call --tools terminal terminal command=pwd")
    assert notebook.status(named) == "ok"
    notebook.run("%config Hermes.disabled = ['terminal']")
    disabled = error_of(notebook, "%hermes call --tools all terminal command=pwd")
    assert "disabled" in disabled


def test_a_tool_that_cannot_be_used_says_why(start):
    notebook = start()
    notebook.tool("oracle", "    return 'x'", check_fn="lambda: (False, 'no oracle here')")
    assert "no oracle here" in error_of(notebook, "%hermes call oracle")


def test_python_gets_the_result(start):
    notebook = start()
    (notebook.folder / "a.txt").write_text("forty-two\n")
    said = notebook.run(
        "import hermes_jupyter, pathlib\n"
        "r = hermes_jupyter.call('read_file', path=pathlib.Path('a.txt'), limit='5')\n"
        "print(r.status, dict(r.args)['limit'], 'forty-two' in r.text, type(r.json()).__name__)"
    )
    assert said.splitlines()[-1] == "ok 5 True dict"
    said = notebook.run("print((await hermes_jupyter.acall('read_file', path='none')).status)")
    assert said.splitlines()[-1] == "error"


def test_the_result_can_be_kept_and_the_call_can_run_in_the_background(start):
    notebook = start()
    notebook.run("%hermes call -o found terminal command=pwd")
    assert notebook.run("print(found.status)") == "ok\n"
    request = notebook.execute("%hermes call --background terminal command='echo in the back'")
    assert notebook.status(request) == "ok"
    notebook.until(
        lambda: any("in the back" in b.get("text/plain", "") for b in notebook.bundles(request)),
        "the record of the call",
    )


def test_last_shows_what_coercion_changed_and_who_allowed_it(start):
    notebook = start(
        (call("read_file", path="a.txt", limit="5"), call("read_file", path="none.txt")), "Read."
    )
    (notebook.folder / "a.txt").write_text("forty-two\n")
    notebook.status(notebook.agent("go"))
    request = notebook.execute("%hermes last")
    assert notebook.status(request) == "ok"
    assert "Read." in notebook.record(request)["text/plain"]
    trace = notebook.bundles(request)[-1]
    assert "Trace: 2 tool calls" in trace["text/plain"]
    assert 'coerced limit: "5" -> 5' in trace["text/plain"]
    assert "✗ failed" in trace["text/plain"]
    assert "<table" in trace["text/html"]


def test_the_trace_goes_over_turns_and_masks_secrets(start):
    notebook = start((call("terminal", command="echo sk-ant-abcdef0123456789abcdef"),), "Done.")
    notebook.status(notebook.agent("go"))
    notebook.status(notebook.execute("%hermes call terminal command=pwd"))
    last = notebook.execute("%hermes last")
    notebook.status(last)
    assert "Trace: 1 tool call" in notebook.bundles(last)[-1]["text/plain"]
    both = notebook.execute("%hermes last --trace")
    notebook.status(both)
    (trace,) = notebook.bundles(both)
    assert "Trace: 2 tool calls" in trace["text/plain"]
    assert "sk-ant-abc" not in json.dumps(trace)


def test_the_tools_are_listed_by_toolset_and_explained(start):
    notebook = start()
    notebook.tool("oracle", "    return 'x'", check_fn="lambda: (False, 'no oracle here')")
    notebook.run("%config Hermes.disabled = ['todo']")
    listed = notebook.run("%hermes tools")
    assert "file: Read, write and search files." in listed
    assert "read_file" in listed
    assert "todo" not in listed
    assert "2 not usable now, 1 switched off" in listed
    why = notebook.run("%hermes tools --why")
    assert "✗ oracle           no oracle here" in why
    assert "○ todo" in why
    assert "is disabled" in why


def test_why_names_files_that_failed_and_what_was_replaced(start, tmp_path):
    notebook = start()
    folder = tmp_path / "home" / "jupyter" / "tools"
    folder.mkdir(parents=True)
    register = "from tools.registry import registry\nregistry.register('{}', 'own', {{}}, {}{})\n"
    (folder / "bad_tool.py").write_text(register.format("new", "missing", ""))
    (folder / "twin_tool.py").write_text(register.format("read_file", "print", ""))
    (folder / "better_tool.py").write_text(
        register.format("todo", "lambda args, **_: 'x'", ", override=True")
    )
    why = notebook.run("%hermes tools --why")
    assert "bad_tool.py: NameError" in why
    assert "twin_tool.py" in why
    assert "already registered" in why
    assert "'todo' of toolset 'own'" in why


def test_a_schema_is_shown_for_people_and_as_json(start):
    notebook = start()
    shown = notebook.run("%hermes tools --schema read_file")
    assert "path" in shown
    assert "string, required" in shown
    assert json.loads(shown.partition("As JSON:\n")[2])["name"] == "read_file"
    assert "did you mean read_file" in error_of(notebook, "%hermes tools --schema reed_files")
    assert "--schema NAME" in error_of(notebook, "%hermes tools --schema")
