"""What a notebook user is promised of a turn."""

import json

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

RECORD = "application/vnd.hermes.turn+json"


def test_the_output_ends_as_one_static_bundle_without_widgets(start):
    notebook = start((call("terminal", command="echo hi"),), "All **done**.")
    request = notebook.agent("go")
    notebook.show_widgets()
    assert notebook.status(request) == "ok"
    bundle = notebook.record(request)
    assert set(bundle) == {"text/plain", "text/markdown", "text/html", RECORD}
    assert "All **done**." in bundle["text/markdown"]
    assert "<script" not in bundle["text/html"]
    assert bundle[RECORD]["v"] == 2
    opened = {m["content"]["comm_id"] for m in notebook.of(request) if m["msg_type"] == "comm_open"}
    closed = {
        m["content"]["comm_id"] for m in notebook.of(request) if m["msg_type"] == "comm_close"
    }
    assert opened
    assert opened == closed


def test_secrets_do_not_stay_in_the_notebook(start):
    key = "sk-" + "Ab1" * 16
    notebook = start((call("terminal", command=f"echo key={key}"),), f"It is {key}.")
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    assert key not in json.dumps(notebook.record(request))


def test_nb_003_run_all_keeps_its_order(start):
    notebook = start((call("terminal", command="rm a"),), "agent")
    cells = [
        notebook.execute("print('A')"),
        notebook.agent("delete"),
        notebook.execute("print('B')"),
        notebook.execute("print('C')"),
    ]
    notebook.show_widgets()
    button = notebook.button("Deny")
    cells.append(notebook.execute("print('D')"))
    assert [cell for cell in cells if cell in notebook.replies] == cells[:1]
    notebook.click(button)
    assert [notebook.status(cell) for cell in cells] == ["ok"] * 5
    assert [reply for reply in notebook.reply_order if reply in cells] == cells
    assert [notebook.text(cell) for cell in cells] == ["A\n", "", "B\n", "C\n", "D\n"]
    counts = [notebook.replies[cell]["content"]["execution_count"] for cell in cells]
    assert counts == list(range(counts[0], counts[0] + 5))


@pytest.mark.parametrize(("stop_on_error", "after"), [(True, "aborted"), (False, "ok")])
def test_a_failed_turn_stops_the_queue_as_the_user_chose(start, stop_on_error, after):
    notebook = start((call("nap"),), env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    failed = notebook.agent("go", stop_on_error=stop_on_error)
    queued = notebook.queue("print('B')")
    assert notebook.status(failed) == "error"
    assert notebook.status(queued) == after
    assert notebook.run("print('after')") == "after\n"


def test_asyncio_is_not_patched(start):
    notebook = start((call("terminal", command="echo hi"),), "done")
    notebook.run("import asyncio; before = asyncio.run, asyncio.Task, asyncio.get_event_loop")
    assert notebook.status(notebook.agent("go")) == "ok"
    said = notebook.run(
        "print(before == (asyncio.run, asyncio.Task, asyncio.get_event_loop), "
        "hasattr(asyncio, '_nest_patched'))"
    )
    assert said == "True False\n"
    assert notebook.stderr() == ""


@pytest.mark.parametrize("module", ["nest_asyncio", "nest_asyncio2"])
def test_a_user_who_applied_nest_asyncio_is_served(start, module):
    notebook = start((call("terminal", command="rm a"),), "done", fresh=True)
    notebook.run(f"import {module}; {module}.apply()")
    request = notebook.agent("delete")
    queued = notebook.execute("print('queued')")
    notebook.show_widgets()
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"
    assert notebook.status(queued) == "ok"
    warned = "nest_asyncio is applied" in notebook.record(request)["text/plain"]
    risky = tuple(map(int, notebook.version.split(".")[:2])) >= (7, 1)
    assert warned == (risky and module == "nest_asyncio")


def test_await_runs_a_turn_and_cells_queue_behind(start):
    notebook = start((call("terminal", command="rm a"),), "the end")
    request = notebook.execute(
        "import hermes_jupyter\nresult = await hermes_jupyter.arun('delete')\nprint(result.text)"
    )
    queued = notebook.execute("print('queued')")
    notebook.show_widgets()
    button = notebook.button("Deny")
    assert queued not in notebook.replies
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert "the end" in notebook.text(request)
    assert notebook.status(queued) == "ok"


def test_a_turn_in_the_background_lets_other_cells_run(start):
    notebook = start((call("terminal", command="rm a"),), "done")
    (notebook.folder / "a").write_text("x")
    request = notebook.agent("delete", "--background")
    assert notebook.status(request) == "ok"
    button = notebook.button("Allow once")
    assert notebook.run("print('other')") == "other\n"
    notebook.click(button)
    notebook.until(lambda: any(RECORD in b for b in notebook.bundles(request)), "the record")
    assert not (notebook.folder / "a").exists()


def test_threads_take_turns_more_often_while_an_agent_works(start):
    notebook = start((call("terminal", command="rm a"),), "done")
    interval = "import sys; print(sys.getswitchinterval())"
    before = notebook.run(interval)
    notebook.status(notebook.agent("delete", "--background"))
    button = notebook.button("Deny")
    assert (before, notebook.run(interval)) == ("0.005\n", "0.0005\n")
    notebook.click(button)
    notebook.until(lambda: notebook.run(interval) == before, "it is as before")


def test_a_busy_session_says_so(start):
    notebook = start(conversation("wait", (call("terminal", command="rm a"),), "x"))
    notebook.status(notebook.agent("wait", "--background"))
    notebook.button("Deny")
    second = notebook.agent("more")
    assert notebook.status(second) == "error"
    assert "busy" in "".join(notebook.replies[second]["content"]["traceback"])
    assert "Stopping" in notebook.run("%hermes stop")


def test_a_turn_inside_a_tool_is_served_by_the_outer_cell(start):
    notebook = start(
        conversation("outer", (call("inner_turn"),), "outer done"),
        conversation("inner", (call("terminal", command="rm a"),), "inner done"),
    )
    (notebook.folder / "a").write_text("x")
    notebook.tool(
        "inner_turn",
        "    import hermes_jupyter\n    return hermes_jupyter.run('inner', session='inner').text",
    )
    request = notebook.agent("outer")
    notebook.show_widgets()
    notebook.click(notebook.button("Allow once"))
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "a").exists()


def test_names_of_the_notebook_stand_for_their_values(start):
    notebook = start("done")
    notebook.run("name = 'Ada'")
    notebook.status(notebook.agent('Greet {name}; {"json": {"stays": 1}} {nope} {}'))
    asked = notebook.prompt(notebook.requests()[-1]["messages"][-1])
    assert asked == 'Greet Ada; {"json": {"stays": 1}} {nope} {}'


def test_the_result_goes_into_a_variable(start):
    notebook = start("forty-two")
    assert notebook.status(notebook.agent("go", "-o answer")) == "ok"
    assert notebook.run("print(answer.text, answer.status, answer.steps)") == "forty-two done 1\n"


def test_a_conversation_goes_on_and_new_begins_another(start):
    notebook = start("ok")
    for line in ("", "", "--new", "--session other"):
        assert notebook.status(notebook.agent("go", line)) == "ok"
    users = [
        sum(m["role"] == "user" for m in request["messages"]) for request in notebook.requests()
    ]
    assert users == [1, 2, 1, 1]


def test_the_shell_of_a_session_keeps_its_state(start):
    notebook = start(
        conversation("set", (call("terminal", command="cd / && x=1 && f() { echo f$x; }"),), "ok"),
        conversation("use", (call("terminal", command="f; pwd"),), "ok"),
    )
    for prompt in ("set", "use"):
        assert notebook.status(notebook.agent(prompt)) == "ok"
    assert "f1\\n/\\n" in notebook.requests()[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("option", ["--no-tools", "-t todo", "-t file,todo"])
def test_tools_of_a_turn_can_be_chosen(start, option):
    notebook = start("ok")
    assert notebook.status(notebook.agent("go", option)) == "ok"
    tools = [t["function"]["name"] for t in notebook.requests()[-1].get("tools", [])]
    files = ["patch", "read_file", "search_files", "todo", "write_file"]
    assert tools == {"--no-tools": [], "-t todo": ["todo"]}.get(option, files)


def test_calls_run_side_by_side_and_max_steps_holds(start):
    notebook = start((call("nap"), call("nap", n=2)), (call("nap"),), "so far")
    notebook.tool("nap", "    import time; time.sleep(0.2); return 'ok'", effects="'read'")
    request = notebook.agent("go", "--max-steps 2")
    assert notebook.status(request) == "ok"
    assert "all 2 steps are used" in notebook.record(request)["text/plain"]


def test_plain_shows_text_and_no_widgets(start):
    notebook = start((call("terminal", command="echo hi"),), "All done.")
    request = notebook.agent("go", "--plain")
    assert notebook.status(request) == "ok"
    assert "All done." in notebook.text(request)
    assert not notebook.widgets("VBoxModel")
    assert RECORD in notebook.bundles(request)[-1]


def test_a_front_end_without_widgets_gets_text(start):
    notebook = start("All done.")
    request = notebook.agent("go", allow_stdin=True)
    assert notebook.status(request) == "ok"
    assert "All done." in notebook.text(request) or RECORD in notebook.bundles(request)[-1]
