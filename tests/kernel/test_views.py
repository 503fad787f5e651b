"""Two sessions of one kernel, each with tools of its own, at the same time."""

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

RECORD = "application/vnd.hermes.turn+json"
OWN_TOOLS = """
import hermes_jupyter, threading
from hermes_jupyter.api import desktop
from tools.registry import tool_result

ANY_KERNEL = True
meeting = threading.Barrier(2, timeout=15)
def who(name, **_):
    meeting.wait()
    return tool_result(who=name)
sessions = desktop().hermes.session
for name in 'ada', 'bob':
    overlay = sessions(name).overlay
    overlay.register('who', 'own', {'description': 'x'}, lambda args, name=name, **_: who(name))
"""


def told(notebook, prompt):
    """What the tools answered in the turn of this prompt."""
    (last,) = [
        body["messages"]
        for body in notebook.requests()
        if notebook.prompt(body["messages"][1]) == prompt and body["messages"][-1]["role"] == "tool"
    ]
    return last[-1]["content"]


def test_a_turn_in_the_background_and_one_in_a_cell_each_get_their_own_tool(start):
    steps = ((call("who"),), "done")
    notebook = start(conversation("first", *steps), conversation("second", *steps))
    notebook.run(OWN_TOOLS)
    background = notebook.agent("first", "--session ada --background")
    assert notebook.status(background) == "ok"
    assert notebook.status(notebook.agent("second", "--session bob")) == "ok"
    notebook.until(
        lambda: any(RECORD in bundle for bundle in notebook.bundles(background)), "the record"
    )
    assert told(notebook, "first") == '{"who": "ada"}'
    assert told(notebook, "second") == '{"who": "bob"}'


def test_a_third_session_does_not_have_the_tool(start):
    notebook = start((call("who"),), "done")
    notebook.run(OWN_TOOLS)
    assert notebook.status(notebook.agent("go", "--session eve")) == "ok"
    assert "There is no tool 'who'" in told(notebook, "go")
