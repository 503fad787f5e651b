"""Hooks of a notebook: they hear its turns, have a say, and keep no cell."""

import time

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True

WRITE = (call("write_file", path="a.txt", content="new"),)


@pytest.fixture
def notebook(start):
    opened = start(WRITE, "That is all.")
    opened.run("import hermes_jupyter")
    return opened


def test_a_hook_hears_what_was_called(notebook):
    notebook.run(
        "heard = []\noff = hermes_jupyter.on('post_tool_call', lambda call: heard.append(call))"
    )
    assert notebook.status(notebook.agent("write it")) == "ok"
    assert notebook.run("print(heard[0].tool_name, heard[0].status)") == "write_file ok\n"
    notebook.run("off()")
    assert notebook.status(notebook.agent("write it", "--new")) == "ok"
    assert notebook.run("print(len(heard))") == "1\n"


def test_a_hook_can_forbid_a_call(notebook):
    notebook.run(
        "async def no(call):\n"
        "    return {'action': 'block', 'message': 'not on Fridays'}\n"
        "hermes_jupyter.on('pre_tool_call', no);"
    )
    request = notebook.agent("write it")
    assert notebook.status(request) == "ok"
    assert "not on Fridays" in notebook.requests()[-1]["messages"][-1]["content"]
    assert not (notebook.folder / "a.txt").exists()


def test_a_hook_that_is_slow_or_broken_ends_no_turn_and_is_named(notebook):
    notebook.run(
        "import time\n%config Hermes.hook_timeout = 0.2\n"
        "def slow(call): time.sleep(60)\n"
        "def broken(call): raise KeyError('x')\n"
        "hermes_jupyter.on('transform_tool_result', slow)\n"
        "hermes_jupyter.on('transform_tool_result', broken);"
    )
    began = time.monotonic()
    request = notebook.agent("write it")
    assert notebook.status(request) == "ok"
    assert time.monotonic() - began < 30
    shown = notebook.record(request)["text/plain"]
    assert "the hook slow took longer than 0.2 s (transform_tool_result)" in shown
    assert "the hook broken failed (KeyError: 'x') (transform_tool_result)" in shown
    assert (notebook.folder / "a.txt").read_text() == "new"


def test_an_unknown_hook_is_refused_on_one_line_that_names_the_others(notebook):
    request = notebook.execute("hermes_jupyter.on('on_tuesday', print)")
    assert notebook.status(request) == "error"
    assert "there are pre_tool_call" in notebook.replies[request]["content"]["evalue"]


def test_unloading_takes_the_hooks_out(notebook):
    notebook.run("heard = []\nhermes_jupyter.on('post_tool_call', heard.append);")
    notebook.run("%unload_ext hermes_jupyter\n%load_ext hermes_jupyter")
    assert notebook.status(notebook.agent("write it")) == "ok"
    assert notebook.run("print(heard)") == "[]\n"
