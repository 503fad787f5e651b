"""Turns with nobody there: nbclient, nbconvert, papermill, scripts, and poor surroundings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

RECORD = "application/vnd.hermes.turn+json"
ASKED = "Enter = no: "
NOBODY = "Denied because nobody could be asked"


def notebook_of(*cells: str) -> Any:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "p", "language": "python"}
    return made


def executed(folder: Path, env: dict[str, str], *cells: str, **options: Any) -> Any:
    notebook = notebook_of("%load_ext hermes_jupyter", *cells)
    place = {"metadata": {"path": str(folder)}}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        NotebookClient(notebook, timeout=60, resources=place, **options).execute()
    return notebook


def bundles(notebook: Any) -> list[dict[str, Any]]:
    return [output.data for cell in notebook.cells for output in cell.outputs if "data" in output]


def assert_denied_with_a_record(notebook: Any) -> None:
    record, again, trace = bundles(notebook)
    assert set(record) == {"text/plain", "text/markdown", "text/html", RECORD}
    assert NOBODY in record["text/plain"]
    assert "All is said." in record["text/plain"]
    assert again == record
    assert "denied" in trace["text/plain"]
    assert "after\n" in str(notebook.cells[2].outputs[0].text)
    assert "widgets" not in notebook.metadata


CELLS = ("%%agent\ndelete it", "print('after')", "%hermes last")


def test_nbclient_denies_and_the_notebook_keeps_a_record(folder, env, log):
    notebook = executed(folder, env, *CELLS, "%hermes attach")
    assert_denied_with_a_record(notebook)
    assert log.exists()
    assert "No turn is running" in notebook.cells[4].outputs[0].text
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert NOBODY in page
    assert "<script" not in page


def test_where_nobody_can_be_asked_the_model_has_no_tool_to_ask_with(folder, env, server):
    executed(folder, env, "%%agent\ndelete it")
    body = [body for path, body in server.requests if path.endswith("completions")][-1]
    names = {tool["function"]["name"] for tool in body["tools"]}
    assert "terminal" in names
    assert "clarify" not in names


def test_a_rule_on_the_command_line_of_the_kernel_lets_it_through(folder, env, log):
    rule = ["--Hermes.allow=terminal(rm old.log)"]
    notebook = executed(folder, env, "%%agent\ndelete it", extra_arguments=rule)
    assert not log.exists()
    assert "by a rule of yours" in bundles(notebook)[0]["text/plain"]


def test_a_turn_that_fails_ends_the_run_with_one_line(folder, env):
    with pytest.raises(CellExecutionError) as caught:
        executed(folder, {**env, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "%%agent\nhello")
    error = str(caught.value)
    assert "ModelError: cannot reach http://127.0.0.1:9/v1" in error
    assert "Traceback" not in error
    assert "File " not in error


def test_the_output_grows_while_nobody_looks(folder, env):
    notebook = notebook_of("%load_ext hermes_jupyter", "%%agent\ngrow")
    grown: list[str] = []

    class Watched(NotebookClient):
        def process_message(self, msg: Any, cell: Any, index: int) -> Any:
            if msg["msg_type"] == "update_display_data":
                grown.append(msg["content"]["data"]["text/plain"])
            return super().process_message(msg, cell, index)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        place = {"metadata": {"path": str(folder)}}
        Watched(notebook, timeout=60, resources=place).execute()
    counts = [text.count("word") for text in grown]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 60
    assert any(0 < count < 60 for count in counts)


@pytest.mark.parametrize("tool", ["nbconvert", "papermill"])
def test_tools_that_run_notebooks_deny_and_keep_a_record(tool, folder, env, log):
    pytest.importorskip(tool)
    nbformat.write(notebook_of("%load_ext hermes_jupyter", *CELLS), folder / "a.ipynb")
    command = {
        "nbconvert": ["nbconvert", "--execute", "--to", "notebook", "--output", "b", "a.ipynb"],
        "papermill": ["papermill", "a.ipynb", "b.ipynb"],
    }[tool]
    done = python(["-m", *command], folder, env)
    assert done.returncode == 0, done.stderr
    assert_denied_with_a_record(nbformat.read(folder / "b.ipynb", 4))
    assert log.exists()


def python(arguments: list[str], folder: Path, env: dict[str, str | None], **options: Any) -> Any:
    """Run this Python there; a variable that is None is taken away."""
    given = {"stdin": subprocess.DEVNULL, "capture_output": True, **options}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={name: value for name, value in {**os.environ, **env}.items() if value is not None},
        timeout=60,
        text=True,
        check=False,
        **given,
    )


RUN = "import hermes_jupyter; print('got', hermes_jupyter.run('delete it').text)"
AWAIT = """
import asyncio, hermes_jupyter
async def main():
    print('got', await hermes_jupyter.arun('delete it'))
asyncio.run(main())
"""


@pytest.mark.parametrize("code", [RUN, AWAIT], ids=["run", "arun"])
def test_a_script_without_a_person_denies_and_says_so(code, folder, env, log):
    done = python(["-c", code], folder, env)
    assert f"{ASKED}\n  💻 terminal  rm old.log  ⊘ {NOBODY}\nAll is said.\n" in done.stdout
    assert "not run, as nobody could be asked: terminal: rm old.log\n" in done.stdout
    assert "got All is said.\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert log.exists()


@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"HERMES_HOME": f"{__file__}/home"},
        {"HOME": None},
        {"PATH": "/nowhere"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_a_turn_works_in_poor_surroundings(surroundings, folder, env, log):
    done = python(["-c", RUN], folder, {**env, **surroundings})
    assert "got All is said.\n" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert log.exists()


@pytest.mark.parametrize("end", ["stdin", "stdout", "reader"])
def test_a_turn_works_without_streams(end, folder, env, log):
    redirect = {"stdin": "<&-", "stdout": ">&-", "reader": "| head -n 1"}[end]
    code = "import hermes_jupyter; hermes_jupyter.run('delete it'); open('done', 'w').close()"
    (folder / "done").unlink(missing_ok=True)
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {redirect}', sys.executable, code],
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    assert (folder / "done").exists(), done.stderr
    assert "Traceback" not in done.stderr
    assert log.exists()


def test_without_bash_the_terminal_says_why_it_is_missing(folder, env):
    code = "%load_ext hermes_jupyter\n%hermes tools --why"
    done = python(["-m", "IPython", "-c", code], folder, {**env, "PATH": "/nowhere"})
    missing = next(line for line in done.stdout.splitlines() if line.startswith("✗ terminal"))
    assert "bash" in missing


def test_safe_code_of_the_agent_runs_with_nobody_there_and_the_rest_is_denied(folder, env):
    (folder / "keep.txt").write_text("x")
    call = "import hermes_jupyter as h\nh.call('run_python', code={!r}).json()"
    notebook = executed(
        folder, env, call.format("answer = 6 * 7; answer"), call.format("!rm keep.txt"), "answer"
    )
    safe, denied, value = (cell.outputs[-1].data["text/plain"] for cell in notebook.cells[1:])
    assert "'value': '42'" in safe
    assert "'denied_by': 'policy'" in denied
    assert value == "42"
    assert (folder / "keep.txt").exists()
