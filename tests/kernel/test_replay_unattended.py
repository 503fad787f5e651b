"""A notebook that was recorded runs without a model: nbclient, nbconvert, papermill."""

from __future__ import annotations

import shutil
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


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A folder whose notebook ``a.ipynb`` was recorded as ``b.ipynb``."""
    top = tmp_path_factory.mktemp("recording")
    folder = top / "work"
    folder.mkdir()
    nbformat.write(notebook_of(*CELLS), folder / "a.ipynb")
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(*SCRIPT) as server:
        surround(patch, top)
        patch.setenv("HERMES_RECORD", "1")
        patch.setenv("OPENAI_BASE_URL", server.url)
        run("papermill", folder, "a.ipynb", "b.ipynb")
    return folder


@pytest.fixture
def place(recording, tmp_path, monkeypatch):
    """A copy of that folder on another machine, where no model answers."""
    surround(monkeypatch, tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", NO_MODEL)
    monkeypatch.setenv("HERMES_REPLAY", "1")
    return shutil.copytree(recording, tmp_path / "work")


def surround(patch: pytest.MonkeyPatch, top: Path) -> None:
    """Let what is started have its files there."""
    for name, value in {
        "HERMES_HOME": str(top / "home"),
        "IPYTHONDIR": str(top / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(top / "runtime"),
        "OPENAI_API_KEY": "",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }.items():
        patch.setenv(name, value)
    patch.delenv("JPY_SESSION_NAME", raising=False)


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


@pytest.mark.parametrize(("tool", "source"), [("nbconvert", "a.ipynb"), ("papermill", "b.ipynb")])
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


def test_cells_without_a_recording_fail_and_are_named(place):
    missing = {
        "%%agent\nlog it twice": "“log it twice” cannot be replayed: there is no recording",
        "%%agent\ngo on": "its prompt was recorded 2 times, and now is asked once more",
        "%%agent -m big\nlog it": "recorded with other options",
    }
    notebook = nbformat.read(place / "a.ipynb", 4)
    notebook.cells += [nbformat.v4.new_code_cell(cell) for cell in missing]
    execute(notebook, place, allow_errors=True)
    errors = [
        next(output for output in cell.outputs if output.output_type == "error")
        for cell in notebook.cells[len(CELLS) :]
    ]
    for number, (error, said) in enumerate(zip(errors, missing.values(), strict=True), 6):
        assert error.ename == "RecordingError"
        assert error.evalue.startswith(f"In [{number}] ")
        assert said in error.evalue
        assert "Traceback" not in "".join(error.traceback)
    assert [record["status"] for record in records(notebook)] == ["done"] * 3 + ["failed"] * 3


def test_a_run_without_replay_asks_anew_every_time(place, monkeypatch):
    monkeypatch.delenv("HERMES_REPLAY")
    notebook = nbformat.read(place / "b.ipynb", 4)
    with ScriptedServer(*SCRIPT) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        execute(notebook, place)
        assert len([path for path, _ in server.requests if path.endswith("completions")]) == 4
    assert (place / "log").read_text() == "once\nonce\n"


def execute(notebook: Any, folder: Path, **options: Any) -> None:
    there = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=60, resources=there, **options).execute()
