"""Something is said to an agent that works, and a turn that was cut is gone on with."""

import json

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

GO_ON = "Go on with the task"


def waiting(start, *more, line=""):
    """A turn that waits in a tool until ``touch go``."""
    notebook = start(
        conversation("^work", (call("hold"),), "All done."),
        conversation("tabs", "I used tabs."),
        *more,
    )
    notebook.tool(
        "hold",
        "    import pathlib, time\n    print('waiting', flush=True)\n"
        "    while not pathlib.Path('go').exists() and not context['cancelled'].wait(0.01): pass\n"
        "    return 'held'",
    )
    request = notebook.agent("work", line)
    notebook.until_text("waiting")
    return notebook, request


def go(notebook):
    (notebook.folder / "go").touch()


def users(notebook):
    messages = notebook.requests()[-1]["messages"]
    return [m["content"].strip() for m in messages if m["role"] == "user"]


def test_say_is_answered_while_the_cell_is_busy_and_read_at_the_next_step(start):
    notebook, request = waiting(start)
    notebook.show_widgets()
    said = notebook.execute("%hermes say use tabs")
    assert notebook.status(said) == "ok"
    assert "reads it at its next step" in notebook.text(said)
    assert request not in notebook.replies
    go(notebook)
    assert notebook.status(request) == "ok"
    roles = [m["role"] for m in notebook.requests()[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert users(notebook)[-1].endswith("use tabs")
    record = notebook.record(request)
    assert "You: use tabs" in record["text/plain"]
    assert "I used tabs." in record["text/plain"]


def test_a_name_in_it_stands_for_the_value_of_a_variable(start):
    notebook, request = waiting(start)
    notebook.show_widgets()
    kept = notebook.queue("width = 4")
    assert notebook.status(notebook.execute("%hermes say {21 * 2} and {os.sep}tabs")) == "ok"
    go(notebook)
    assert notebook.status(request) == notebook.status(kept) == "ok"
    assert users(notebook)[-1].endswith("{21 * 2} and /tabs")


def test_a_cell_with_more_than_that_line_waits_its_turn(start):
    notebook, request = waiting(start)
    notebook.show_widgets()
    queued = notebook.queue("%hermes say use tabs\nprint('second line')")
    assert queued not in notebook.replies
    go(notebook)
    assert notebook.status(request) == notebook.status(queued) == "ok"
    assert "No turn runs" in notebook.text(queued)
    assert "second line" in notebook.text(queued)


def test_the_field_below_the_turn_works_while_the_cell_runs(start):
    notebook, request = waiting(start)
    notebook.show_widgets()
    field = notebook.until_widget("TextModel", placeholder="Say something to the agent")
    notebook.comm(field, {"method": "update", "state": {"value": "use tabs"}})
    notebook.comm(field, {"method": "custom", "content": {"event": "submit"}})
    notebook.show_widgets(2)  # the page has sent all that was typed
    shown = "<b>You:</b> use tabs"
    notebook.until(lambda: shown in json.dumps(notebook.published, default=str), "the message")
    assert request not in notebook.replies
    go(notebook)
    assert notebook.status(request) == "ok"
    assert users(notebook)[-1].endswith("use tabs")


def test_the_stop_button_ends_the_turn(start):
    notebook, request = waiting(start)
    notebook.show_widgets()
    notebook.click(notebook.button("Stop"))
    assert notebook.status(request) == "error"
    assert "Interrupted" in notebook.record(request)["text/plain"]


def test_a_turn_in_the_background_hears_it_too(start):
    notebook, request = waiting(start, line="--background")
    assert notebook.status(request) == "ok"
    assert "reads it at its next step" in notebook.run("%hermes say use tabs")
    go(notebook)
    notebook.until(lambda: len(notebook.requests()) == 2, "the second step")
    assert users(notebook)[-1].endswith("use tabs")


def test_what_is_said_when_nothing_runs_comes_with_the_next_prompt(start):
    notebook = start(conversation("work\n\nuse tabs", "I used tabs."))
    assert "comes with your next prompt" in notebook.run("%hermes say use tabs")
    request = notebook.agent("work")
    assert notebook.status(request) == "ok"
    assert "You: use tabs" in notebook.record(request)["text/plain"]


def test_an_interrupted_turn_is_gone_on_with_once(start):
    notebook, request = waiting(start, conversation(GO_ON, "Now it is done."))
    notebook.show_widgets()
    notebook.interrupt()
    assert notebook.status(request) == "error"
    goes_on = notebook.execute("%hermes continue")
    assert notebook.status(goes_on) == "ok"
    assert "Now it is done." in notebook.record(goes_on)["text/plain"]
    again = notebook.execute("%hermes continue")
    assert notebook.status(again) == "error"
    (line,) = notebook.replies[again]["content"]["traceback"]
    assert "there is nothing to go on with" in line


def test_a_turn_that_the_model_broke_off_is_gone_on_with_in_another_kernel(start, tmp_path):
    named = {"JPY_SESSION_NAME": str(tmp_path / "work" / "sales.ipynb")}
    script = (
        conversation("^work", (call("todo"),)),  # and no step after it
        conversation(GO_ON, "Now it is done."),
    )
    first = start(*script, fresh=True, env=named)
    assert first.status(first.agent("work")) == "error"
    first.run("%unload_ext hermes_jupyter")
    second = start(*script, fresh=True, env=named)
    goes_on = second.execute("%hermes continue")
    assert second.status(goes_on) == "ok"
    # In text, if this slow page has not answered the probe in time.
    assert "Now it is done." in second.record(goes_on)["text/plain"] + second.text(goes_on)
    assert users(second)[0] == "work"
