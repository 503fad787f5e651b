"""Two front ends on one kernel, one without widgets, and turns that are awaited."""

from __future__ import annotations

import time

import pytest
from terminal import Terminal

from hermes_jupyter.testing import call

ASKED = "Enter = no: "
LIMIT = 0.3

NO_WIDGETS = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
"""


def test_without_ipywidgets_a_kernel_asks_with_input(start, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_WIDGETS, encoding="utf-8")
    replies = (call("terminal", command="rm old.log"),), "All is said."
    notebook = start(*replies, fresh=True, env={"PYTHONPATH": str(tmp_path)})
    log = notebook.folder / "old.log"
    log.write_text("x", encoding="utf-8")
    request = notebook.agent("delete it", allow_stdin=True)
    notebook.answer("y")
    assert notebook.status(request) == "ok"
    assert not log.exists()
    assert "All is said." in notebook.text(request)
    assert notebook.stderr() == ""


def test_the_one_that_started_the_turn_is_asked(start, env, tmp_path):
    """A notebook runs a turn; a console on the same kernel waits, then is asked for its own."""
    pytest.importorskip("jupyter_console")
    notebook = start((call("terminal", command="rm old.log"),), "All is said.")
    log = notebook.folder / "old.log"
    log.write_text("x", encoding="utf-8")
    existing = f"--existing={notebook.manager.connection_file}"
    console = Terminal("console", existing, cwd=notebook.folder, env=env)
    try:
        request = notebook.agent("delete it", allow_stdin=True)
        notebook.show_widgets()
        deny = notebook.button("Deny")
        console.type("print('que' + 'ued')")
        assert request not in notebook.replies
        notebook.click(deny)
        assert notebook.status(request) == "ok"
        assert "queued" in console.until_prompt()
        assert log.exists()
        notebook.forget()
        console.agent("delete it")
        console.until(ASKED)
        queued = notebook.execute("print('queued')")
        assert not notebook.input_requests
        assert "Allowed once by you" in console.run("y")
        assert not log.exists()
        assert notebook.status(queued) == "ok"
    finally:
        console.child.close(force=True)  # "exit" would shut the kernel down


AWAITED = "import asyncio, hermes_jupyter as h\nawait asyncio.gather(h.arun('x', frontend='input'))"


def test_interrupt_ends_an_awaited_turn_that_asks(start):
    notebook = start((call("terminal", command="rm old.log"),), "never")
    request = notebook.execute(AWAITED, allow_stdin=True)
    notebook.until(lambda: notebook.input_requests, "a prompt")
    began = time.monotonic()
    notebook.interrupt()
    notebook.reply(request)
    assert time.monotonic() - began < LIMIT
    # Until it is idle, ipykernel aborts what is sent after an error.
    assert notebook.status(request) == "error"
    assert notebook.run("print('alive')") == "alive\n"


def test_stop_ends_an_awaited_turn_and_not_the_kernel(start):
    notebook = start((call("terminal", command="sleep 31"),), "never")
    request = notebook.execute(AWAITED)
    notebook.until_text("sleep 31")
    notebook.execute("%hermes stop")
    assert notebook.status(request) == "error"
    assert notebook.run("print('alive')") == "alive\n"
