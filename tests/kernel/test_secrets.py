"""Secrets stay with those to whom they belong: not in the notebook, on disk, or with children."""

import json

import pytest

from hermes_jupyter.testing import call

ANY_KERNEL = True

# Assembled, so that this file itself holds nothing that looks like a key.
KEY = "sk-" + "Ab1" * 16
VALUE = "Qx9" + "mnbv-7733"
PASSWORD = "Corr3ct" + "-horse"
STAND_IN = """#!/bin/bash
[[ $1 == -A ]] || exit 1
shift
[[ $(\\"$SUDO_ASKPASS\\") == {password} ]] && exec "$@"
echo "sudo: a password is required" >&2
exit 1
"""


def results(notebook):
    messages = notebook.requests()[-1]["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def nowhere(notebook, secret, request, *spared):
    """Neither in what a notebook saves, nor in a file, nor in a request to the model.

    What is kept of the workspace, so that a turn can be undone, holds what its files held.
    """
    for path in notebook.folder.parent.rglob("*"):
        if path.is_file() and path not in spared and "checkpoints" not in path.parts:
            assert secret.encode() not in path.read_bytes(), path
    assert secret not in json.dumps(notebook.of(request), default=str)
    assert secret not in json.dumps(notebook.requests())


def test_a_key_that_a_tool_prints_is_nowhere(start):
    log = "import logging; logging.basicConfig(filename='all.log', level=0, force=True)"
    notebook = start(
        (call("terminal", command="cat key.txt; echo it is $(cat key.txt); exit 3"),),
        (call("terminal", command="cat key.txt >&2; seq 1 60000; cat key.txt"),),
        "The file holds a key.",
    )
    file = notebook.folder / "key.txt"
    file.write_text(f"{KEY}\n{VALUE}\n")
    notebook.run(f"import os; os.environ['MY_SERVICE_KEY'] = {VALUE!r}; {log}")
    request = notebook.agent("show key.txt")
    assert notebook.status(request) == "ok"
    assert "«redacted:sk-…»\n«redacted:$MY_SERVICE_KEY…»" in results(notebook)[0]["output"]
    for secret in (KEY, VALUE):
        nowhere(notebook, secret, request, file)


def test_a_file_with_a_key_is_read_and_written_back_whole(start):
    notebook = start((call("read_file", path="conf.py"),), "Read.", "Written.")
    file = notebook.folder / "conf.py"
    file.write_text(f"key = '{KEY}'\n")
    request = notebook.agent("read conf.py")
    assert notebook.status(request) == "ok"
    shown = results(notebook)[0]["content"].removeprefix("1|")
    assert "«secret:sk-:" in shown
    nowhere(notebook, KEY, request, file)
    args = {"path": "copy.py", "content": f"{shown}\nsize = 1\n"}
    again = notebook.execute(f"%hermes call write_file {json.dumps(args)}")
    assert notebook.status(again) == "ok"
    copy = notebook.folder / "copy.py"
    assert copy.read_text() == f"key = '{KEY}'\nsize = 1\n"
    nowhere(notebook, KEY, again, file, copy)


def test_children_get_no_secret_unless_the_user_says_so(start):
    notebook = start((call("terminal", command="echo [$MY_TOKEN] [$YOUR_TOKEN]"),), "done")
    notebook.run("import os; os.environ |= {'MY_TOKEN': 'a', 'YOUR_TOKEN': 'b'}")
    notebook.run("%config Hermes.env_passthrough = ['YOUR_*']")
    assert notebook.status(notebook.agent("go", "--approve off")) == "ok"
    assert results(notebook)[0]["output"] == "[] [b]\n"


def test_a_secret_in_a_prompt_is_masked_in_the_history(start):
    notebook = start("I see.")
    request = notebook.agent(f"use {KEY}", "--session s")
    assert notebook.status(request) == "ok"
    assert "the prompt holds a secret" in notebook.text(request)
    seen = notebook.run("print(In[-2], _i, get_ipython().history_manager.input_hist_raw[-2])")
    assert seen.count("«redacted:sk-…»") == 3
    assert KEY not in seen
    stored = (
        "from pathlib import Path; get_ipython().history_manager.writeout_cache()\n"
        "file = Path(get_ipython().history_manager.hist_file)\n"
        f"print('in file:', file.exists() and b'sk-' + {KEY[3:]!r}.encode() in file.read_bytes())"
    )
    assert "in file: False" in notebook.run(stored)


@pytest.fixture
def with_sudo(start):
    """A kernel whose session has a sudo that wants a password, on any machine."""

    def begin(*script):
        notebook = start(*script)
        program = notebook.folder / "stand-in"
        program.write_text(STAND_IN.format(password=PASSWORD).replace('\\"', '"'))
        program.chmod(0o755)
        notebook.run(
            "from hermes_jupyter.api import desktop\n"
            f"desktop().hermes.session().sudo._program = {str(program)!r}"
        )
        return notebook, program

    return begin


def test_a_person_enters_the_password_for_sudo_and_it_is_nowhere(with_sudo):
    notebook, program = with_sudo((call("terminal", command="echo x | sudo tr x y"),), "done")
    request = notebook.agent("go", "--plain --approve off", allow_stdin=True)
    notebook.answer(PASSWORD)
    assert notebook.status(request) == "ok"
    assert results(notebook)[0]["output"] == "y\n"
    nowhere(notebook, PASSWORD, request, program)


def test_where_nobody_can_be_asked_sudo_fails_at_once(with_sudo):
    notebook, _ = with_sudo((call("terminal", command="sudo true"),), "done")
    request = notebook.agent("go", "--approve off", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert "nobody entered one" in results(notebook)[0]["note"]
