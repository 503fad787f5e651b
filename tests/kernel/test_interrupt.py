"""Interrupt ends a turn in less than 0.3 s, and nothing is lost."""

import random
import time

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

LIMIT = 0.3


def interrupted(notebook, request):
    """Interrupt, and the seconds until the cell ended."""
    began = time.monotonic()
    notebook.interrupt()
    notebook.reply(request)
    took = time.monotonic() - began
    assert notebook.status(request) == "error"
    return took


def is_valid(messages):
    wanted = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == wanted.pop(0)
        else:
            assert not wanted
        wanted += [c["id"] for c in message.get("tool_calls") or []]
    return not wanted


def test_while_waiting_for_a_click(start):
    notebook = start((call("terminal", command="rm a"),), "never")
    request = notebook.agent("delete")
    notebook.show_widgets()
    notebook.button("Deny")
    queued = notebook.queue("print('queued')")
    assert interrupted(notebook, request) < LIMIT
    assert notebook.status(queued) == "aborted"
    assert "Interrupted" in "".join(notebook.replies[request]["content"]["traceback"])
    assert notebook.run("print('alive')") == "alive\n"


def test_during_a_command_whose_processes_die(start):
    notebook = start((call("terminal", command="sleep 312 & sleep 313; touch later"),), "never")
    request = notebook.agent("sleep")
    notebook.until(lambda: "sleep 313" in processes(notebook), "the command", 20)
    assert interrupted(notebook, request) < LIMIT
    notebook.run("import time; time.sleep(0.5)")
    left = notebook.run("import subprocess; print(subprocess.getoutput('ps -eo args'))")
    assert "sleep 31" not in left
    assert not (notebook.folder / "later").exists()


def processes(notebook):
    import subprocess

    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


def test_while_text_streams(start):
    notebook = start(conversation("", "word " * 400, delay=0.01))
    request = notebook.agent("talk")
    notebook.show_widgets()
    notebook.until(
        lambda: any(
            "word word" in str(m["content"]["data"].get("state", {}).get("value", ""))
            for m in notebook.of(request)
            if m["msg_type"] == "comm_msg"
        ),
        "streamed text",
    )
    assert interrupted(notebook, request) < LIMIT
    assert "word" in notebook.record(request)["text/plain"]


def test_during_a_tool_that_does_not_react(start):
    notebook = start((call("nap"),), "never")
    notebook.tool("nap", "    import time; print('napping', flush=True); time.sleep(5); return 'x'")
    request = notebook.agent("nap")
    notebook.until_text("napping")
    assert interrupted(notebook, request) < LIMIT
    assert notebook.run("print('alive')") == "alive\n"


def test_while_input_asks(start):
    notebook = start((call("terminal", command="rm a"),), "never")
    request = notebook.agent("delete", allow_stdin=True)
    notebook.until(lambda: notebook.input_requests, "a prompt")
    assert interrupted(notebook, request) < LIMIT
    assert notebook.run("print('alive')") == "alive\n"


def test_nb_026_the_transcript_stays_valid_and_the_next_turn_goes_on(start):
    notebook = start(
        conversation("first", (call("nap"), call("nap", n=2)), "never"),
        conversation("second", "here again"),
    )
    notebook.tool(
        "nap", "    print('napping', flush=True); context['cancelled'].wait(9); return 'x'"
    )
    request = notebook.agent("first")
    notebook.until_text("napping")
    interrupted(notebook, request)
    assert notebook.status(notebook.agent("second")) == "ok"
    messages = notebook.requests()[-1]["messages"]
    assert is_valid(messages)
    asked = [notebook.prompt(message) for message in messages if message["role"] == "user"]
    assert asked == ["first", "second"]


def test_await_in_a_cell_is_interrupted_too(start):
    notebook = start((call("terminal", command="rm a"),), "never")
    request = notebook.execute("import hermes_jupyter\nawait hermes_jupyter.arun('delete')")
    notebook.show_widgets()
    notebook.button("Deny")
    began = time.monotonic()
    notebook.interrupt()
    assert notebook.status(request) == "error"
    assert time.monotonic() - began < 1
    assert notebook.run("print('alive')") == "alive\n"


def test_a_loop_blocked_by_a_bad_tool_is_replaced(start):
    notebook = start(conversation("bad", (call("bad"),), "never"), conversation("good", "fine"))
    notebook.run(
        "import time\nfrom tools.registry import registry\n"
        "async def bad(args, **context):\n    print('stuck', flush=True); time.sleep(6)\n"
        "registry.register('bad', 'mine', {'description': 'x'}, bad, is_async=True)"
    )
    request = notebook.agent("bad")
    notebook.until_text("stuck")
    assert interrupted(notebook, request) < 0.6
    assert notebook.status(notebook.agent("good", "--session other")) == "ok"


@pytest.mark.timeout(240)
def test_random_interrupts_lose_no_cell(start):
    chance = random.Random(7)
    notebook = start(conversation("", (call("terminal", command="rm a"),), "x"))
    for turn in range(1, 11):
        request = notebook.agent("delete")
        if turn == 1:
            notebook.show_widgets()
        button = notebook.button("Deny", nth=turn)
        queued = [notebook.execute(f"print('q{turn}{n}')", stop_on_error=False) for n in range(3)]
        for _ in range(chance.randrange(20)):
            notebook.comm(button, {"method": "custom", "content": {"event": "none"}})
        notebook.interrupt()
        for _ in range(chance.randrange(20)):
            notebook.comm(button, {"method": "custom", "content": {"event": "none"}})
        queued.append(notebook.execute(f"print('late{turn}')"))
        assert notebook.status(request) == "error"
        assert {notebook.status(cell) for cell in queued} <= {"ok", "aborted"}
    assert notebook.run("print('alive')") == "alive\n"


def test_shutdown_is_fast_with_a_tool_that_does_not_react(start):
    notebook = start((call("nap"),), "never", fresh=True)
    notebook.tool(
        "nap", "    import time; print('napping', flush=True); time.sleep(30); return 'x'"
    )
    notebook.agent("nap")
    notebook.until_text("napping")
    began = time.monotonic()
    notebook.manager.shutdown_kernel(now=False)
    assert time.monotonic() - began < 3
