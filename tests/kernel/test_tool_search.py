"""A notebook with more tools than its model can be shown."""

import json

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True

MANY_TOOLS = """
from hermes_jupyter.api import desktop
from tools.registry import tool_result
gone = []
def erase(args, **_):
    gone.append(args['path'])
    return tool_result(erased=args['path'])
register = desktop().hermes.session().overlay.register
path = {'type': 'object', 'properties': {'path': {'type': 'string'}}, 'required': ['path']}
register('zz_erase', 'disk', {'description': 'Erase a disk. ' * 40, 'parameters': path}, erase,
         guard_fn=lambda args, **_: f"erases the disk {args['path']}")
for n in range(400):
    register(f'chat_{n:03}', 'chat', {'description': 'Say something. ' * 20}, lambda args, **_: 'x')
"""


@pytest.mark.parametrize(("label", "erased"), [("Allow once", "['sda']"), ("Deny", "[]")])
def test_the_card_of_an_approval_shows_the_real_tool(start, label, erased):
    notebook = start(
        call("tool_search", query="erase a disk"),
        call("tool_call", **{"name": "zz_erase", "arguments": {"path": "sda"}}),
        "done",
    )
    notebook.run(MANY_TOOLS)
    request = notebook.agent("erase it")
    notebook.show_widgets()
    button = notebook.button(label)
    comms = [m["content"] for m in notebook.published if m["msg_type"].startswith("comm_")]
    cards = json.dumps(comms)
    assert "zz_erase" in cards
    assert "erases the disk sda" in cards
    assert "tool_call" not in cards
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert erased in notebook.run("print(gone)")
    first, _, last = notebook.requests()
    shown = [tool["function"]["name"] for tool in first["tools"]]
    assert len(shown) <= 128
    assert "zz_erase" not in shown
    (wrapped,) = last["messages"][-2]["tool_calls"]
    assert wrapped["function"]["name"] == "tool_call"
    assert json.loads(wrapped["function"]["arguments"])["name"] == "zz_erase"
    record = json.dumps(notebook.record(request))
    assert "zz_erase" in record
