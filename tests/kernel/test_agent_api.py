"""`hermes_jupyter.Agent` in a cell, in a function of a cell, awaited, and in a thread."""

import time

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

DELETE = (call("terminal", command="rm old.log"),)
CELLS = {
    "cell": "agent = hermes_jupyter.Agent()\nprint('got', agent.run_sync('delete').text)",
    "function": (
        "def work():\n"
        "    with hermes_jupyter.Agent() as agent:\n"
        "        return agent.run_sync('delete').text\n"
        "print('got', work())"
    ),
    "await": (
        "async with hermes_jupyter.Agent() as agent:\n"
        "    print('got', (await agent.run('delete')).text)"
    ),
    "stream": (
        "agent, text = hermes_jupyter.Agent(), ''\n"
        "async for event in agent.stream('delete'):\n"
        "    text += getattr(event, 'text', '') if type(event).__name__ == 'TextStreamed' else ''\n"
        "print('got', text)"
    ),
}


@pytest.fixture
def notebook(start):
    opened = start(
        conversation("delete", DELETE, "It is looked at."),
        conversation("wait", (call("terminal", command="echo > began; sleep 31"),), "never"),
        conversation("hello", "Hello there."),
    )
    (opened.folder / "old.log").write_text("x")
    opened.run("import hermes_jupyter")
    opened.forget()
    return opened


@pytest.mark.parametrize("way", CELLS)
def test_the_buttons_work_while_it_runs(notebook, way):
    request = notebook.execute(CELLS[way])
    notebook.show_widgets()
    notebook.click(notebook.button("Allow once"))
    assert notebook.status(request) == "ok"
    assert notebook.text(request) == "got It is looked at.\n"
    assert "It is looked at." in notebook.record(request)["text/plain"]
    assert not (notebook.folder / "old.log").exists()
    assert notebook.stderr() == ""


@pytest.mark.parametrize("way", CELLS)
def test_an_interrupt_ends_it_on_one_line_and_the_kernel_goes_on(notebook, way):
    request = notebook.execute(CELLS[way])
    notebook.show_widgets()
    notebook.button("Deny")
    began = time.monotonic()
    notebook.interrupt()
    assert notebook.status(request) == "error"
    assert time.monotonic() - began < 5
    assert len(notebook.replies[request]["content"]["traceback"]) == 1
    assert notebook.run("print('alive')") == "alive\n"
    assert (notebook.folder / "old.log").exists()


def test_a_function_can_decide_in_the_place_of_a_person(notebook):
    said = notebook.run(
        "asked = []\nagent = hermes_jupyter.Agent(approve=asked.append)\n"
        "print(agent.run_sync('delete').text, asked[0].shown)"
    )
    assert said == "It is looked at. rm old.log\n"
    assert (notebook.folder / "old.log").exists()


def test_a_coroutine_function_decides_on_the_notebooks_own_loop(notebook):
    request = notebook.execute(
        "import asyncio\nhere, loops = asyncio.get_running_loop(), []\n"
        "async def approve(request):\n"
        "    loops.append(asyncio.get_running_loop() is here)\n    return True\n"
        "print((await hermes_jupyter.Agent(approve=approve).run('delete')).text, loops)"
    )
    assert notebook.status(request) == "ok"
    assert notebook.text(request) == "It is looked at. [True]\n"
    assert not (notebook.folder / "old.log").exists()


def test_it_runs_in_a_thread_of_the_notebook(notebook):
    said = notebook.run(
        "import threading\nagent, got = hermes_jupyter.Agent(), []\n"
        "thread = threading.Thread(target=lambda: got.append(agent.run_sync('hello').text))\n"
        "thread.start(); thread.join(); print(got)"
    )
    assert "['Hello there.']" in said


def test_two_run_side_by_side(notebook):
    request = notebook.execute(
        "import asyncio\none, other = hermes_jupyter.Agent(), hermes_jupyter.Agent()\n"
        "print(*await asyncio.gather(one.run('hello'), other.run('hello')))"
    )
    assert notebook.status(request) == "ok"
    assert notebook.text(request) == "Hello there. Hello there.\n"


def test_of_two_side_by_side_either_may_end_first_and_buttons_still_work(notebook):
    request = notebook.execute(
        "import asyncio\none, other = hermes_jupyter.Agent(), hermes_jupyter.Agent()\n"
        "print(*await asyncio.gather(one.run('hello'), other.run('delete')))"
    )
    notebook.show_widgets()
    notebook.until(lambda: "Hello there." in str(notebook.bundles(request)), "the first answer")
    notebook.click(notebook.button("Allow once"))
    assert notebook.status(request) == "ok"
    notebook.forget()
    after = notebook.agent("delete")
    notebook.click(notebook.button("Deny"))
    assert notebook.status(after) == "ok"


def test_it_shares_a_named_conversation_with_the_cells(notebook):
    assert notebook.status(notebook.agent("hello one")) == "ok"
    notebook.run("hermes_jupyter.Agent(session='main').run_sync('hello two')")
    users = [m for m in notebook.requests()[-1]["messages"] if m["role"] == "user"]
    assert len(users) == 2


def test_stop_in_another_cell_ends_it(notebook):
    request = notebook.execute(
        "agent = hermes_jupyter.Agent(approvals='off', tools='terminal')\n"
        "print((await agent.run('wait')).status)"
    )
    began = notebook.folder / "began"
    notebook.until(began.exists, "the command")
    stop = notebook.execute("%hermes stop")
    assert notebook.status(stop) == "ok"
    assert notebook.text(stop) == "Stopping.\n"
    assert notebook.status(request) == "error"
    assert notebook.run("print('alive')") == "alive\n"
