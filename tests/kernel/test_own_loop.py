"""Async tools on the kernel's own loop: no cell is lost, an interrupt cancels them."""

import time

import pytest

from hermes_jupyter.testing import call

TOOL = """
import asyncio
from tools.registry import registry
made_on = asyncio.get_running_loop()
ticks = []
async def own(args, **context):
    print('running', flush=True)
    for _ in range(args.get('tenths', 0)):
        await asyncio.sleep(0.1)
        ticks.append(1)
    return f'own loop: {asyncio.get_running_loop() is made_on}'
registry.register('own', 'mine', {'description': 'x'}, own, loop='kernel')
"""


def told(notebook):
    return notebook.requests()[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "cell", ["%%agent\ngo", "import hermes_jupyter\nr = await hermes_jupyter.arun('go')"]
)
def test_the_tool_runs_where_its_objects_live(start, cell):
    notebook = start((call("own", tenths=1),), "done", fresh=True)
    notebook.run(TOOL)
    assert notebook.status(notebook.execute(cell)) == "ok"
    assert told(notebook) == "own loop: True"


def test_queued_cells_wait_in_order(start):
    notebook = start((call("own", tenths=8),), "done", fresh=True)
    notebook.run(TOOL)
    cells = [notebook.agent("go"), notebook.execute("print('B')"), notebook.execute("print('C')")]
    notebook.until_text("running")
    cells.append(notebook.execute("print('D')"))
    assert [notebook.status(cell) for cell in cells] == ["ok"] * 4
    assert [reply for reply in notebook.reply_order if reply in cells] == cells
    assert [notebook.text(cell) for cell in cells[1:]] == ["B\n", "C\n", "D\n"]


def test_an_interrupt_cancels_it(start):
    notebook = start((call("own", tenths=100),), "never", fresh=True)
    notebook.run(TOOL)
    request = notebook.agent("go")
    notebook.until_text("running")
    began = time.monotonic()
    notebook.interrupt()
    assert notebook.status(request) == "error"
    assert time.monotonic() - began < 0.6
    first = notebook.run("import time; time.sleep(0.5); print(len(ticks))")
    assert notebook.run("await asyncio.sleep(0.5); print(len(ticks))") == first


def test_a_deadline_cancels_it(start):
    notebook = start((call("own", tenths=100),), "done", fresh=True)
    notebook.run(TOOL)
    notebook.run("%config Hermes.tool_timeout = 0.5")
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    assert "did not finish within 0.5 s" in told(notebook)


def test_other_widgets_are_served_while_it_runs(start):
    """A click on an approval card of the same step is heard."""
    notebook = start((call("own", tenths=30), call("terminal", command="rm a")), "x", fresh=True)
    notebook.run(TOOL.replace("loop='kernel'", "loop='kernel', effects='read'"))
    request = notebook.agent("go")
    notebook.until_text("running")
    stop = notebook.execute("%hermes stop")
    assert notebook.status(request, 3) == "error"
    assert notebook.status(stop) == "ok"


def test_outside_of_a_turn_it_says_so(start):
    notebook = start("ok", fresh=True)
    notebook.run(TOOL)
    assert "can only be called in a turn" in notebook.run("print(registry.dispatch('own', {}))")
