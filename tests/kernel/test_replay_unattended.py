"""A notebook that was recorded runs without a model: nbclient, nbconvert, papermill."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

ANY_KERNEL = True

RECORD = "application/vnd.hermes.turn+json"
SCRIPT = (
    conversation("log it", (call("terminal", command="echo once >> log"),), "Logged."),
    conversation("go on", "Gone on."),
    conversation("", "Hello."),
)
CELLS = (
    "%load_ext hermes_jupyter",
    "%%agent -o first\nlog it",
    "%%agent\ngo on",
    "%%agent\ngo on",
    "print(first, first.steps)",
)
NO_MODEL = "http://127.0.0.1:9/v1"


def notebook_of(*cells: str) -> Any:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "p", "language": "python"}
    return made


def records(notebook: Any) -> list[dict[str, Any]]:
    return [
        output.data[RECORD]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if RECORD in output.get("data", {})
    ]


def facts(record: dict[str, Any]) -> dict[str, Any]:
    apart = ("session", "session_id", "replayed", "after", "whole")
    return {name: value for name, value in record.items() if name not in apart}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in; its notebook ``a.ipynb`` was recorded as ``b.ipynb``."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name, value in {
        "HERMES_HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "OPENAI_API_KEY": "",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "HERMES_RECORD": "1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    nbformat.write(notebook_of(*CELLS), folder / "a.ipynb")
    with ScriptedServer(*SCRIPT) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run("papermill", folder, "a.ipynb", "b.ipynb")
    # Another machine, where nobody answers.
    monkeypatch.setenv("OPENAI_BASE_URL", NO_MODEL)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "other home"))
    monkeypatch.delenv("HERMES_RECORD")
    monkeypatch.setenv("HERMES_REPLAY", "1")
    return folder


def run(tool: str, folder: Path, source: str, target: str) -> None:
    command = {
        "nbconvert": ["nbconvert", "--execute", "--to", "notebook", "--output", target, source],
        "papermill": ["papermill", source, target],
    }[tool]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        timeout=100,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("tool", ["nbconvert", "papermill"])
@pytest.mark.parametrize("source", ["a.ipynb", "b.ipynb"])
def test_a_recorded_notebook_runs_again_without_a_model(tool, source, place):
    recorded = records(nbformat.read(place / "b.ipynb", 4))
    run(tool, place, source, "c.ipynb")
    again = nbformat.read(place / "c.ipynb", 4)
    assert [facts(record) for record in records(again)] == [facts(each) for each in recorded]
    assert {record["replayed"]["how"] for record in records(again)} == {"record"}
    assert again.cells[4].outputs[0].text == "Logged. 2\n"
    assert (place / "log").read_text() == "once\n"


def test_what_was_replayed_can_be_replayed_from(place, tmp_path, monkeypatch):
    run("papermill", place, "b.ipynb", "c.ipynb")
    (place / "a.ipynb").unlink()
    (place / "b.ipynb").unlink()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "third home"))
    run("papermill", place, "c.ipynb", "d.ipynb")
    assert len(records(nbformat.read(place / "d.ipynb", 4))) == 3


def test_recordings_that_lie_elsewhere_are_named(place, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    notebook = nbformat.read(place / "a.ipynb", 4)
    with pytest.raises(CellExecutionError, match="set HERMES_RECORDINGS to that notebook"):
        execute(notebook, elsewhere)
    monkeypatch.setenv("HERMES_RECORDINGS", str(place / "b.ipynb"))
    execute(notebook, elsewhere)
    assert len(records(notebook)) == 3


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%agent\nlog it twice", "“log it twice” cannot be replayed: there is no recording"),
        ("%%agent\ngo on", "its prompt was recorded 2 times, and now is asked once more"),
        ("%%agent -m big\nlog it", "recorded with other options"),
    ],
)
def test_a_cell_without_a_recording_ends_the_run_and_is_named(cell, said, place):
    notebook = nbformat.read(place / "a.ipynb", 4)
    notebook.cells.append(nbformat.v4.new_code_cell(cell))
    with pytest.raises(CellExecutionError) as caught:
        execute(notebook, place)
    error = str(caught.value)
    assert "RecordingError: In [6] " in error
    assert said in error
    assert "Traceback" not in error
    assert [record["status"] for record in records(notebook)] == ["done"] * 3 + ["failed"]


def test_a_run_without_replay_asks_anew_every_time(place, monkeypatch):
    monkeypatch.delenv("HERMES_REPLAY")
    notebook = nbformat.read(place / "b.ipynb", 4)
    with ScriptedServer(*SCRIPT) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        execute(notebook, place)
        assert len([path for path, _ in server.requests if path.endswith("completions")]) == 4
    assert (place / "log").read_text() == "once\nonce\n"


def execute(notebook: Any, folder: Path) -> None:
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}}).execute()
