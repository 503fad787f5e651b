"""What users of notebook agents have reported of others: the rows of ``reports.jsonl`` that need a
kernel. The rest of them is in ``tests/unit/test_reports.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

ASYNC_TOOL = """
import asyncio
from tools.registry import registry
async def _look(args, **context):
    task = asyncio.current_task()
    async with asyncio.timeout(1):
        await asyncio.sleep(0)
    return f'in a task: {task is not None}'
registry.register('look', 'mine', {'description': 'x'}, _look)
"""


def told(notebook):
    """The last answer of a tool that the model has read."""
    return notebook.requests()[-1]["messages"][-1]["content"]


def test_nb_001_a_turn_runs_from_plain_code_and_with_await(start):
    notebook = start("Hello.")
    said = notebook.run(
        "import hermes_jupyter\nprint('one', hermes_jupyter.run('hi').text)", allow_stdin=False
    )
    assert "one Hello." in said
    said = notebook.run("print('two', (await hermes_jupyter.arun('hi')).text)", allow_stdin=False)
    assert "two Hello." in said
    assert "pip install" not in notebook.text()


def test_nb_001_so_it_does_in_ipython_in_a_terminal(tmp_path):
    code = (
        "import hermes_jupyter as h; print('one', h.run('hi').text)\n"
        "print('two', (await h.arun('hi')).text)\n"
    )
    done = in_ipython(code, tmp_path)
    for said in ("one Hello.", "two Hello."):
        assert said in done.stdout
    assert done.stderr == ""


def test_nb_008_a_default_loop_that_was_closed_plays_no_part(tmp_path):
    code = (
        "import asyncio, hermes_jupyter as h\n"
        "loop = asyncio.new_event_loop()\n"
        "asyncio.get_event_loop_policy().set_event_loop(loop); loop.close()\n"
        "print('got', h.run('hi').text)\n"
    )
    done = in_ipython(code, tmp_path)
    assert "got Hello." in done.stdout
    assert "Error" not in done.stdout + done.stderr


def in_ipython(code, folder):
    """What IPython in a terminal makes of these lines, with nobody there."""
    with ScriptedServer("Hello.") as server:
        env = {
            **os.environ,
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "",
            "HERMES_HOME": str(folder / "home"),
            "IPYTHONDIR": str(folder / "ipython"),
            "PYTHONWARNINGS": "ignore::DeprecationWarning",
        }
        command = [sys.executable, "-m", "IPython", "--no-banner", "-c", code]
        return subprocess.run(
            command, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip


def test_nb_002_ten_turns_with_an_async_tool_leave_the_kernels_loop_alone(start):
    notebook = start((call("look"),), "done", fresh=True)
    notebook.run(f"{ASYNC_TOOL}\nfirst = asyncio.run, asyncio.Task, asyncio.get_running_loop()")
    notebook.run(
        "import hermes_jupyter\nfor _ in range(10): hermes_jupyter.run('look')",
        timeout=60,
        allow_stdin=False,
    )
    assert len(notebook.requests()) == 20
    assert notebook.run("await asyncio.sleep(0); print('still well')") == "still well\n"
    now = "(asyncio.run, asyncio.Task, asyncio.get_running_loop())"
    assert notebook.run(f"print(first == {now})") == "True\n"
    assert notebook.stderr() == ""


def test_nb_004_the_users_own_loops_are_made_as_they_ask_for_them(start):
    notebook = start("Hello.")
    said = notebook.run(
        "import asyncio, threading, hermes_jupyter\n"
        "hermes_jupyter.run('hi')\n"
        "made = []\n"
        "def factory():\n    made.append(asyncio.new_event_loop()); return made[-1]\n"
        "async def main(): return asyncio.get_running_loop() is made[0]\n"
        "def own():\n"
        "    with asyncio.Runner(loop_factory=factory) as runner: made.append(runner.run(main()))\n"
        "thread = threading.Thread(target=own); thread.start(); thread.join()\n"
        "print(made[1], asyncio.run.__module__)",
        allow_stdin=False,
    )
    assert said.endswith("True asyncio.runners\n")


def test_nb_005_all_async_tools_live_on_one_loop_that_stays(start):
    notebook = start(
        conversation("", (call("look", n=1), call("look", n=2)), (call("look", n=3),), "done")
    )
    notebook.run(
        "import asyncio, gc\nfrom tools.registry import registry\n"
        "class Client:\n"
        "    def __init__(self): self.loop = asyncio.get_running_loop()\n"
        "    def __del__(self): self.loop.call_soon_threadsafe(print)\n"
        "kept = []\nloops = set()\n"
        "async def _look(args, **context):\n"
        "    kept[:] = kept or [Client()]\n"
        "    await asyncio.wait_for(kept[0].loop.run_in_executor(None, int), 1)\n"
        "    loops.add(id(asyncio.get_running_loop())); return 'ok'\n"
        "registry.register('look', 'mine', {'description': 'x'}, _look)"
    )
    for _ in range(2):
        assert notebook.status(notebook.agent("go", allow_stdin=False)) == "ok"
    assert notebook.run("kept.clear(); gc.collect(); print(len(loops))").endswith("1\n")
    assert "closed" not in notebook.text()


def test_nb_007_an_async_tool_runs_in_a_task_and_may_set_itself_a_time(start):
    notebook = start((call("look"),), "done")
    notebook.run(ASYNC_TOOL)
    assert notebook.status(notebook.agent("go", allow_stdin=False)) == "ok"
    assert told(notebook) == "in a task: True"


def test_nb_015_the_first_answer_counts_at_once_and_a_later_one_runs_nothing(start):
    notebook = start((call("terminal", command="echo x >> log; rm old.log"),), "done")
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("go")
    notebook.show_widgets()
    allow, deny = notebook.button("Allow once"), notebook.button("Deny")
    for button in (allow, allow, deny):
        notebook.click(button)
    assert notebook.status(request) == "ok"
    notebook.click(allow)
    notebook.run("print('after')")
    assert (notebook.folder / "log").read_text() == "x\n"
    assert not (notebook.folder / "old.log").exists()


def test_nb_032_a_question_in_a_turn_that_a_button_began_never_waits_for_input(start):
    question = (call("clarify", question="Which colour?", choices=["red", "blue"]),)
    notebook = start(conversation("", question, "Painted."))
    notebook.run(
        "import ipywidgets, hermes_jupyter\n"
        "button = ipywidgets.Button(description='Ask')\n"
        "answers = []\n"
        "button.on_click(lambda _: answers.append(hermes_jupyter.run('ask').text))\n"
        "display(button)"
    )
    click = notebook.click(notebook.until_widget("ButtonModel", description="Ask"))
    notebook.until_idle(click, 30)
    assert notebook.run("print(answers)") == "['Painted.']\n"
    assert notebook.input_requests == []
