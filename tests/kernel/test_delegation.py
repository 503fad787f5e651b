"""Agents that work for the agent: side by side, asked for in its card, ended with it."""

import json
import random
import subprocess
import time

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

MIME = "application/vnd.hermes.turn+json"
LIMIT = 0.3


def delegating(*goals, answer="All is done."):
    return conversation(
        "share", (call("delegate_task", tasks=[{"goal": goal} for goal in goals]),), answer
    )


def results_of(notebook):
    """What the agent reads of its children."""
    last = notebook.requests()[-1]["messages"]
    (told,) = [m["content"] for m in last if m["role"] == "tool"]
    return json.loads(told)["results"]


def processes():
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    return listed.stdout


def lanes_of(record):
    (called,) = [each for each in record[MIME]["events"] if each["type"] == "called"]
    return called["lanes"]


def meet(name):
    """A command that ends once all three have begun: none of them can, if one waits for another."""
    there = "[ -f one ] && [ -f two ] && [ -f three ]"
    return f"touch {name}; until {there}; do sleep 0.02; done; echo {name} has met the others"


def test_three_children_run_side_by_side_and_leave_lanes_in_the_record(start):
    names = ("one", "two", "three")
    notebook = start(
        *(
            conversation(f"meet {n}", (call("terminal", command=meet(n)),), f"I am {n}.")
            for n in names
        ),
        delegating(*(f"meet {n}" for n in names)),
    )
    request = notebook.agent("share")
    notebook.show_widgets()
    assert notebook.status(request, 60) == "ok"
    assert shells(notebook) == []
    record = notebook.record(request)
    lanes = lanes_of(record)
    assert [lane["text"] for lane in lanes] == ["I am one.", "I am two.", "I am three."]
    assert {lane["status"] for lane in lanes} == {"completed"}
    for lane in lanes:
        (inside,) = [part for part in lane["parts"] if part["type"] == "called"]
        assert inside["name"] == "terminal"
        assert "has met the others" in inside["result"]
        for kind in ("text/html", "text/markdown", "text/plain"):
            assert lane["name"] in record[kind]
    assert [each["status"] for each in results_of(notebook)] == ["completed"] * 3


def test_a_childs_command_asks_in_the_parents_card_while_the_cell_runs(start):
    notebook = start(
        conversation("tidy", (call("terminal", command="rm old.log"),), "Tidied."),
        delegating("tidy up"),
    )
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("share", allow_stdin=True)
    notebook.show_widgets()
    button = notebook.button("Allow once")
    shown = str([m["content"] for m in notebook.of(request) if m["msg_type"] == "comm_open"])
    assert "for 1: tidy up" in shown
    assert request not in notebook.replies
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()
    assert notebook.input_requests == []
    (lane,) = lanes_of(notebook.record(request))
    (inside,) = [part for part in lane["parts"] if part["type"] == "called"]
    assert inside["decisions"] == ["Allowed once by you"]


def test_where_there_are_no_widgets_the_prompt_says_who_asks(start):
    notebook = start(
        conversation("tidy", (call("terminal", command="rm old.log"),), "Tidied."),
        delegating("tidy up"),
    )
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("share", "--plain", allow_stdin=True)
    assert "terminal (for 1: tidy up): deletes old.log" in notebook.answer("y")
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()
    assert "│ 1: tidy up │ 💻 terminal  rm old.log  ✓ Allowed once by you" in notebook.text(request)


def test_what_was_denied_to_one_child_is_denied_to_the_next(start):
    notebook = start(
        conversation("first", (call("terminal", command="rm old.log"),), "No."),
        conversation("second", (call("terminal", command="rm  'old.log'"),), "No."),
        conversation(
            "share",
            (call("delegate_task", goal="first"),),
            (call("delegate_task", goal="second"),),
            "Neither.",
        ),
    )
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("share")
    notebook.show_widgets()
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert len(notebook.widgets("ButtonModel", description="Deny")) == 1


def test_an_interrupt_ends_children_and_their_shells(start):
    first, second = (f"sleep {seconds}" for seconds in random.sample(range(3_000, 9_000), 2))
    notebook = start(
        conversation("nap 1", ("I sleep.", call("terminal", command=first)), "never"),
        conversation("nap 2", ("I sleep.", call("terminal", command=second)), "never"),
        delegating("nap 1", "nap 2"),
        conversation("and now", "I see."),
    )
    request = notebook.agent("share")
    notebook.show_widgets()
    until_seen(notebook, first)
    until_seen(notebook, second)
    assert len(shells(notebook)) == 2
    began = time.monotonic()
    notebook.interrupt()
    notebook.reply(request)
    took = time.monotonic() - began
    assert notebook.status(request) == "error"
    assert took < LIMIT
    for command in (first, second):
        notebook.until(lambda c=command: c not in processes(), "the end of the commands")
    notebook.until(lambda: not shells(notebook), "the end of the shells")
    assert notebook.status(notebook.agent("and now")) == "ok"
    (told,) = [m["content"] for m in notebook.requests()[-1]["messages"] if m["role"] == "tool"]
    reports = json.loads(json.loads(told)["partial_result"])["results"]
    assert [each["status"] for each in reports] == ["interrupted"] * 2
    assert [each["summary"] for each in reports] == ["I sleep."] * 2


def shells(notebook):
    """The shells that the kernel has started."""
    kernel = notebook.manager.provisioner.pid
    command = ["ps", "-ww", "-o", "args=", "--ppid", str(kernel)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line for line in listed.stdout.splitlines() if "hermes-shell" in line]


def until_seen(notebook, command):
    notebook.until(lambda: command in processes(), command, 20)


def test_one_child_is_stopped_and_the_others_go_on(start):
    nap = f"sleep {random.randrange(3_000, 9_000)}"
    notebook = start(
        conversation("nap", ("I sleep.", call("terminal", command=nap)), "never"),
        conversation("work", (call("terminal", command="echo done"),), "Worked."),
        delegating("nap", "work"),
    )
    request = notebook.agent("share")
    notebook.show_widgets()
    until_seen(notebook, nap)
    notebook.click(notebook.until_widget("ButtonModel", description="Stop", tooltip="Stop 1: nap"))
    assert notebook.status(request) == "ok"
    stopped, other = results_of(notebook)
    assert (stopped["status"], stopped["error"]) == ("interrupted", "stopped by the user")
    assert other["summary"] == "Worked."


def test_a_child_never_reads_standard_input(start):
    script = "read -t 5 line; echo \"got <$line>\"; python3 -c 'input()'"
    notebook = start(
        conversation("listen", (call("terminal", command=script),), "Nothing came."),
        delegating("listen"),
    )
    request = notebook.agent("share", "--plain --approve off", allow_stdin=True)
    assert notebook.status(request) == "ok"
    assert notebook.input_requests == []
    told = str([body["messages"] for body in notebook.requests()])
    assert "got <>" in told
    assert "EOFError" in told


def test_where_nobody_can_be_asked_a_childs_request_is_denied_and_told(start):
    notebook = start(
        conversation("tidy", (call("terminal", command="rm old.log"),), "Not done."),
        delegating("tidy up"),
    )
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("share", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert (
        "not run, as nobody could be asked: terminal: rm old.log"
        in (notebook.record(request)["text/plain"])
    )


def test_children_are_stored_and_do_not_flood_the_list(start):
    notebook = start(
        conversation("count", "There are 3."),
        delegating("count the logs"),
    )
    assert notebook.status(notebook.agent("share")) == "ok"
    listed = notebook.run("%hermes sessions")
    assert "count the logs" not in listed
    lines = notebook.run("%hermes sessions --children").splitlines()
    (child,) = [line for line in lines if "count the logs" in line]
    assert child.strip().startswith("↳")
    identity = child.split()[1]
    notebook.run(f"%hermes export {identity} child.md")
    assert "There are 3." in (notebook.folder / "child.md").read_text()


def test_text_shows_whose_calls_are_whose(start):
    notebook = start(
        conversation("list", (call("terminal", command="echo here"),), "Listed."),
        delegating("list one", "list two"),
    )
    request = notebook.agent("share", "--plain")
    assert notebook.status(request) == "ok"
    text = notebook.text(request)
    for number, word in enumerate(("one", "two"), 1):
        assert f"│ {number}: list {word}  begins" in text
        assert f"│ {number}: list {word} │ 💻 terminal  echo here  ✓ done" in text
        assert f"│ {number}: list {word}  ✓ done · 2 steps" in text
