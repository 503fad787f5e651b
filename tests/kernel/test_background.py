"""Turns in the background: the cell has returned, and the turn goes on below it."""

import json
import re
import time

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

RECORD = "application/vnd.hermes.turn+json"
DELETE = (call("terminal", command="rm a"),)
BUSY = """
import time
print('began', flush=True)
while not __import__('os').path.exists('go'):
    time.sleep(0.02)
print('end')
"""


def background(notebook, prompt, line="", *, draws=True, **options):
    """Start a turn; its cell has returned when this does.

    ``draws``: the page says that it shows widgets.
    """
    request = notebook.agent(prompt, f"--background {line}", **options)
    assert notebook.status(request) == "ok"
    if draws:
        notebook.show_widgets()
    return request


def until_record(notebook, request):
    notebook.until(lambda: any(RECORD in b for b in notebook.bundles(request)), "the record")
    return notebook.record(request)


def shown(notebook, request):
    """All that stands below a cell."""
    return notebook.text(request) + str(notebook.bundles(request))


def keep_busy(notebook):
    """A cell of the user that runs until `set_free`."""
    request = notebook.execute(BUSY)
    notebook.until(lambda: "began" in notebook.text(request), "the busy cell")
    return request


def set_free(notebook):
    (notebook.folder / "go").touch()


def told(notebook):
    return json.loads(notebook.requests()[-1]["messages"][-1]["content"])


def test_its_output_stays_in_its_own_cell_whatever_else_runs(start):
    notebook = start(
        conversation("behind", ("Slowly. ", call("noisy")), "The end of it."),
        conversation("front", "In front."),
    )
    notebook.tool(
        "noisy",
        "    import time, os\n"
        "    from IPython.display import display\n"
        "    for n in range(1000):\n"
        "        print('noise', n, flush=True)\n"
        "        display('picture')\n"
        "        if os.path.exists('go'): return 'loud'\n"
        "        time.sleep(0.02)\n",
    )
    behind = background(notebook, "behind", "--approve off")
    notebook.until(lambda: "noise 0" in notebook.text(behind), "noise")
    others = [
        notebook.execute("print('mine')"),
        notebook.execute("from IPython.display import clear_output; clear_output()"),
        notebook.agent("front", "--session other"),
    ]
    assert [notebook.status(each) for each in others] == ["ok"] * 3
    set_free(notebook)
    assert "The end of it." in until_record(notebook, behind)["text/plain"]
    assert notebook.text(others[0]) == "mine\n"
    assert not any("noise" in notebook.text(each) for each in others)
    assert "In front." in notebook.record(others[2])["text/plain"]
    assert "'picture'" in shown(notebook, behind)
    for unwanted in ("The end", "picture"):
        assert not any(unwanted in shown(notebook, each) for each in others)


def test_while_another_cell_is_busy_it_hears_its_buttons_or_waits_for_that_cell(start):
    notebook = start(DELETE, "done")
    (notebook.folder / "a").write_text("x")
    request = background(notebook, "delete")
    button = notebook.button("Allow once")
    busy = keep_busy(notebook)
    click = notebook.click(button)
    if notebook.major >= 7:
        until_record(notebook, request)
        assert not (notebook.folder / "a").exists()
        assert notebook.states(click)[-1] == ("status", "idle")
    assert busy not in notebook.replies
    set_free(notebook)
    assert notebook.status(busy) == "ok"
    assert notebook.text(busy) == "began\nend\n"
    assert "Allowed once" in until_record(notebook, request)["text/plain"]


def test_while_a_turn_runs_in_front_it_hears_its_buttons(start):
    notebook = start(conversation("delete", DELETE, "done"), conversation("wait", DELETE, "x"))
    (notebook.folder / "a").write_text("x")
    behind = background(notebook, "delete")
    button = notebook.button("Allow once")
    front = notebook.agent("wait", "--session other")
    deny = notebook.button("Deny", 2)
    notebook.click(button)
    assert "Allowed once" in until_record(notebook, behind)["text/plain"]
    assert front not in notebook.replies
    notebook.click(deny)
    assert notebook.status(front) == "ok"


def test_a_second_turn_of_its_conversation_is_told_where_the_first_runs(start):
    notebook = start(conversation("wait", DELETE, "x"))
    background(notebook, "wait")
    notebook.button("Deny")
    second = notebook.agent("more")
    assert notebook.status(second) == "error"
    said = "".join(notebook.replies[second]["content"]["traceback"])
    assert "in the background (job 1" in said
    assert "%hermes jobs stop 1" in said
    assert "--session NAME" in said


def test_jobs_lists_turns_and_processes_and_stops_one_by_its_number(start):
    notebook = start(
        conversation("serve", (call("terminal", command="sleep 600", background=True),), "on"),
        conversation("wait", DELETE, "never"),
    )
    assert "Nothing runs in the background" in notebook.run("%hermes jobs")
    serving = notebook.agent("serve", "--session other")
    notebook.show_widgets()
    assert notebook.status(serving) == "ok"
    request = background(notebook, "wait", draws=False)
    notebook.button("Deny")
    jobs = "%hermes jobs"
    listed = notebook.until(lambda: "waits" in (said := notebook.run(jobs)) and said, "a question")
    turn, process = listed.splitlines()[:2]
    assert re.match(
        r"1  turn +cell \[\d+\] +step 1 of 90 +\d+ s +waits for your answer: terminal rm a", turn
    )
    assert re.match(r"2  process  proc_\w+ +\d+ s +runs sleep 600", process)
    assert notebook.run("%hermes jobs stop 2").startswith("Ended proc_")
    assert "Stopping the turn of cell [" in notebook.run("%hermes jobs stop 1")
    assert "Interrupted" in until_record(notebook, request)["text/plain"]
    notebook.until(lambda: "sleep" not in (said := notebook.run("%hermes jobs")) and said, "none")
    with pytest.raises(RuntimeError, match="no background job 1 runs"):
        notebook.run("%hermes jobs stop 1")


def test_jobs_are_told_and_stopped_while_a_cell_is_busy(start):
    notebook = start(conversation("wait", DELETE, "never"), conversation("front", DELETE, "x"))
    behind = background(notebook, "wait")
    notebook.button("Deny")
    busy = keep_busy(notebook) if notebook.major >= 7 else notebook.agent("front", "--session b")
    asked = notebook.execute("%hermes jobs")
    assert notebook.status(asked) == "ok"
    assert "waits for your answer" in notebook.text(asked)
    assert notebook.status(notebook.execute("%hermes jobs stop 1")) == "ok"
    assert "Interrupted" in until_record(notebook, behind)["text/plain"]
    assert busy not in notebook.replies
    set_free(notebook)
    notebook.run("%hermes stop") if notebook.major < 7 else notebook.status(busy)


def test_its_code_runs_between_cells_and_shows_below_its_own(start):
    notebook = start(
        (call("run_python", code="print('seen', mine); display('shown'); mine = 2; mine + 1"),),
        "done",
    )
    notebook.run("mine = 1")
    busy = keep_busy(notebook)
    request = notebook.agent("go", "--background")  # behind it, and so is the next
    after = notebook.execute("print('after', mine)")
    set_free(notebook)
    until_record(notebook, request)
    assert told(notebook) == {
        "output": "seen 1\n",
        "value": "3",
        "displayed": ["'shown'"],
        "changed_variables": ["mine: 2"],
    }
    assert [b["text/plain"] for b in notebook.bundles(request) if "'shown'" in str(b)]
    assert notebook.status(after) == "ok"
    assert notebook.text(busy) == "began\nend\n"
    assert "shown" not in shown(notebook, after) + shown(notebook, busy)
    assert notebook.run("print(mine)") == "2\n"


def test_its_code_waits_for_a_busy_cell_and_says_so(start):
    notebook = start(
        conversation("look", (call("terminal", command="until [ -e busy ]; do sleep .02; done"),
                              call("run_python", code="mine = 'set'"),), "done"),
    )  # fmt: skip
    request = background(notebook, "look", "--approve off")
    busy = keep_busy(notebook)
    (notebook.folder / "busy").touch()
    notebook.until(lambda: "waits until your own cell has ended" in str(notebook.published), "it")
    assert RECORD not in str(notebook.bundles(request))
    set_free(notebook)
    until_record(notebook, request)
    assert notebook.status(busy) == "ok"
    assert notebook.run("print(mine)") == "set\n"


def test_its_code_runs_while_a_turn_waits_in_front(start):
    notebook = start(
        conversation("behind", (call("terminal", command="until [ -e busy ]; do sleep .02; done"),
                                call("run_python", code="mine = 1"),), "done"),
        conversation("front", DELETE, "x"),
    )  # fmt: skip
    behind = background(notebook, "behind", "--approve off")
    front = notebook.agent("front", "--session other")
    deny = notebook.button("Deny")
    (notebook.folder / "busy").touch()
    until_record(notebook, behind)
    assert front not in notebook.replies
    notebook.click(deny)
    assert notebook.status(front) == "ok"
    assert notebook.run("print(mine)") == "1\n"


def test_its_code_can_ask_nobody_for_input(start):
    notebook = start((call("run_python", code="input('name? ')"),), "done")
    request = background(notebook, "go", "--approve off")
    until_record(notebook, request)
    assert "nobody can be asked for input here" in told(notebook)["error"]


def test_an_interrupt_ends_its_code_and_the_turn(start):
    notebook = start(
        (call("run_python", code="print(f'{6 * 7}is')\nimport time; time.sleep(31)"),), "no"
    )
    request = background(notebook, "go", "--approve off")
    notebook.until(lambda: "42is" in str(notebook.published), "the code")
    began = time.monotonic()
    notebook.interrupt()
    assert "Interrupted" in until_record(notebook, request)["text/plain"]
    assert time.monotonic() - began < 5
    assert notebook.run("print('alive')") == "alive\n"


def test_a_front_end_without_widgets_is_asked_by_attach(start):
    notebook = start(DELETE, "All is said.")
    (notebook.folder / "a").write_text("x")
    request = background(notebook, "delete", draws=False, allow_stdin=True)
    notebook.until(lambda: "%hermes attach" in notebook.text(request), "the hint", 20)
    attached = notebook.execute("%hermes attach", allow_stdin=True)
    assert "rm a" in notebook.answer("y")
    assert notebook.status(attached) == "ok"
    notebook.until(lambda: "All is said." in notebook.text(request), "the answer")
    assert not (notebook.folder / "a").exists()


def test_an_interrupt_at_that_prompt_leaves_the_question_open(start):
    notebook = start(DELETE, "All is said.")
    (notebook.folder / "a").write_text("x")
    request = background(notebook, "delete", "--plain", draws=False, allow_stdin=True)
    notebook.until(lambda: "%hermes attach" in notebook.text(request), "the hint")
    attached = notebook.execute("%hermes attach", allow_stdin=True)
    notebook.until(lambda: notebook.input_requests, "a prompt")
    notebook.interrupt()
    assert notebook.status(attached) == "error"
    notebook.input_requests.clear()
    again = notebook.execute("%hermes attach", allow_stdin=True)
    notebook.answer("y")
    assert notebook.status(again) == "ok"
    notebook.until(lambda: "All is said." in notebook.text(request), "the answer")
    assert not (notebook.folder / "a").exists()


@pytest.mark.parametrize("now", [False, True], ids=["restarted", "killed"])
def test_a_restart_leaves_a_conversation_that_goes_on(start, now, tmp_path):
    notebook = start(
        conversation("Go on with the task", "It is finished."),
        conversation("delete", DELETE, "never"),
        fresh=True,
        env={"JPY_SESSION_NAME": str(tmp_path / "work" / "a.ipynb")},
    )
    background(notebook, "delete")
    notebook.button("Deny")
    notebook.manager.restart_kernel(now=now)
    notebook.until_heard()
    notebook.forget()
    notebook.run("%load_ext hermes_jupyter", timeout=60)
    request = notebook.execute("%hermes continue")
    assert notebook.status(request, 60) == "ok"
    assert "It is finished." in notebook.record(request)["text/plain"]
