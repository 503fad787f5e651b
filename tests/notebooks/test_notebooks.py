"""The notebooks of ``notebooks/`` do what they show: with a model, and again without one."""

from __future__ import annotations

import ast
import getpass
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter, PythonExporter

from hermes_jupyter.recording.encoding import as_json, of_json
from hermes_jupyter.testing.scripted_server import ScriptedServer

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests")]

import bubblewrap  # noqa: E402
from answers import ANSWERS  # noqa: E402

pytestmark = pytest.mark.timeout(400)  # ten kernels, one after the other
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RECORD = "application/vnd.hermes.turn+json"
MOST_BYTES = 130_000
NO_MODEL = "http://127.0.0.1:9/v1"
PERSONAL = re.compile(
    r"/(?:home|root|Users|tmp|var|work|usr|opt|private)/|\b[A-Z]:\\\\|127\.0\.0\.1|localhost|0x[0-9a-f]{8}"
)
PICTURE = re.compile(r'"image/png": "[^"]*"')
SAYS = {
    "clean-and-plot": ("28 of the 33 rows", "33 rows, 28 left, 252.5 kg", "171.80 €"),
    "fix-a-cell": ("neither the decimal comma", "-print(f", "21.9 °C"),
    "own-tool": ("rows: [[5]]", "36.00", "attempt to write a readonly database"),
    "quickstart": ("call Bob", "running it prints hello", "I deleted old.log", "'keep.txt'"),
    "report": ("login: 97 opened, 90 closed", "Look at login next"),
}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def records(notebook: Any) -> list[Any]:
    return [output.data[RECORD] for output in outputs(notebook) if RECORD in output.get("data", {})]


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def text(notebook: Any) -> str:
    """What a reader sees, in plain text."""
    return "\n".join(
        str(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in outputs(notebook)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the notebooks, on a machine on which nothing of them is known."""
    elsewhere(monkeypatch, tmp_path)
    return Path(shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks"))


def elsewhere(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JPY_SESSION_NAME", "HERMES_MODEL"):
        patch.delenv(name, raising=False)
    for name, value in {
        "HERMES_HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }.items():
        patch.setenv(name, value)


def execute(path: Path, **options: Any) -> Any:
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, resources=place, **options).execute()
    return notebook


# As they are


@each_notebook
def test_nothing_private_and_nothing_of_a_machine_is_in_them(path):
    saved = path.read_text(encoding="utf-8")
    words = PICTURE.sub("", saved)
    assert PERSONAL.findall(words) == []
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", words)
    assert f"/{getpass.getuser()}" not in words
    assert len(saved.encode()) < MOST_BYTES


@each_notebook
def test_they_show_their_answers_and_no_cell_of_a_reader_keeps_them(path):
    notebook = nbformat.read(path, as_version=4)
    for said in SAYS[path.stem]:
        assert said in text(notebook)
    assert records(notebook)
    for record in records(notebook):
        # With the id of a cell it would be shown in the place of an answer of the reader's own.
        assert record["cell"] == record.get("recording", {}).get("cell", "") == ""


@each_notebook
def test_they_read_well_where_nothing_of_this_is_installed(path):
    notebook = nbformat.read(path, as_version=4)
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert "widget" not in notebook.metadata
    assert "<script" not in page
    bundles = [output.data for output in outputs(notebook) if RECORD in output.get("data", {})]
    for bundle in bundles:
        assert {"text/plain", "text/markdown", "text/html"} < set(bundle)
        for spoken in [part for part in bundle[RECORD]["events"] if part.get("type") == "said"]:
            assert spoken["text"].split()[0].strip("*`") in bundle["text/html"]


@each_notebook
def test_as_a_script_they_are_python(path):
    script, _ = PythonExporter().from_filename(str(path))
    ast.parse(script)
    assert "run_line_magic('load_ext', 'hermes_jupyter')" in script
    assert RECORD not in script


def test_nb_031_a_notebook_that_was_saved_and_closed_holds_the_exchange_and_the_decisions():
    path = ROOT / "notebooks" / "quickstart.ipynb"
    page, _ = HTMLExporter(template_name="basic").from_filename(str(path))
    read = re.sub(r"<[^>]*>", "", page)
    for said in ("Delete the file keep.txt", "rm keep.txt", "Denied by you", "Allowed once by you"):
        assert said in read
    assert "model not found" not in read.lower()
    assert "widget-view" not in path.read_text(encoding="utf-8")
    script, _ = PythonExporter().from_filename(str(path))
    assert "run_cell_magic('agent', '', 'Delete the file keep.txt" in script


# With a model


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All of them, run with a model that says what ``answers.py`` has for them."""
    tmp_path = tmp_path_factory.mktemp("executed")
    folder = Path(shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks"))
    rule = ["--Hermes.allow=terminal(rm old.log)"]  # nobody is there to click
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(*ANSWERS) as server:
        elsewhere(patch, tmp_path)
        patch.setenv("OPENAI_BASE_URL", server.url)
        return {path.stem: execute(folder / path.name, extra_arguments=rule) for path in NOTEBOOKS}


@each_notebook
def test_they_run_from_top_to_bottom_with_a_model(path, executed):
    notebook = executed[path.stem]
    for said in SAYS[path.stem]:
        assert said in text(notebook)
    assert {record["status"] for record in records(notebook)} == {"done"}
    assert {record["model"] for record in records(notebook)} - {""} == {"scripted"}


def test_what_the_plotting_notebook_says_is_what_its_code_computes(executed):
    notebook = executed["clean-and-plot"]
    (told,) = [record for record in records(notebook) if "best" in str(record["events"])]
    assert "Aug 22 171.80" in " ".join(str(told["events"]).split())
    assert [each for each in outputs(notebook) if "image/png" in each.get("data", {})]


# Without one


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All of them, run again where there is neither a network nor a model."""
    tmp_path = tmp_path_factory.mktemp("replayed")
    folder = Path(shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks"))
    command = [
        sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--inplace",
        *sorted(path.name for path in NOTEBOOKS),
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, tmp_path)
        patch.setenv("HERMES_REPLAY", "1")
        patch.setenv("HERMES_LOCAL_MODEL", str(tmp_path / "there-is-none.gguf"))
        done = subprocess.run(
            [*without_network(), *command],
            cwd=folder,
            capture_output=True,
            timeout=380,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return {path.stem: nbformat.read(folder / path.name, as_version=4) for path in NOTEBOOKS}


def without_network() -> list[str]:
    """What runs a command where only the machine itself can be reached."""
    command = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--"]
    if shutil.which("bwrap") is None:
        pytest.skip(bubblewrap.MISSING)
    if subprocess.run([*command, "true"], check=False, timeout=20).returncode:
        pytest.skip("bubblewrap may not take the network away here")
    return command


def facts(record: dict[str, Any]) -> dict[str, Any]:
    """What must be the same again; a recording as it is written now, for events gain fields."""
    apart = ("session", "session_id", "replayed", "after", "whole")
    kept = {name: value for name, value in record.items() if name not in apart}
    return {**kept, "recording": as_json(of_json(record["recording"]))}


@each_notebook
def test_they_run_again_without_network_and_model(path, replayed):
    kept = [record for record in records(nbformat.read(path, 4)) if "recording" in record]
    again = [record for record in records(replayed[path.stem]) if "replayed" in record]
    assert [facts(record) for record in again] == [facts(record) for record in kept]
    assert {record["replayed"]["how"] for record in again} == {"record"}
    assert len(again) == len(turns(path))


def turns(path: Path) -> list[str]:
    """The cells in which the agent works."""
    sources = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    return [source for source in sources if source.startswith(("%%agent", "%hermes fix"))]


def test_a_plot_is_there_again_and_so_is_what_the_ejected_cell_makes(replayed):
    pictures = [
        each.data["image/png"]
        for each in outputs(replayed["clean-and-plot"])
        if "image/png" in each.get("data", {})
    ]
    kept = [
        each.data["image/png"]
        for each in outputs(nbformat.read(ROOT / "notebooks" / "clean-and-plot.ipynb", 4))
        if "image/png" in each.get("data", {})
    ]
    assert pictures == kept
    assert len(pictures) == 1
    assert "33 rows, 28 left, 252.5 kg" in text(replayed["clean-and-plot"])


def test_a_proposed_cell_is_there_again(replayed):
    assert "+numbers = [float(" in text(replayed["fix-a-cell"])


def test_another_parameter_is_another_prompt_and_ends_the_run(folder, monkeypatch):
    monkeypatch.setenv("HERMES_REPLAY", "1")
    done = subprocess.run(
        [sys.executable, "-m", "papermill", "report.ipynb", "out.ipynb", "-p", "month", "2026-10"],
        cwd=folder,
        capture_output=True,
        timeout=300,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "RecordingError: In [5] “Support tickets in 2026-10:” cannot be replayed" in done.stderr
    assert "there is no recording of this prompt" in done.stderr


@pytest.mark.parametrize("name", ["clean-and-plot", "own-tool"])
def test_their_tools_run_again_and_are_compared(name, folder, monkeypatch):
    monkeypatch.setenv("HERMES_REPLAY", "tools")
    monkeypatch.setenv("OPENAI_BASE_URL", NO_MODEL)
    path = folder / f"{name}.ipynb"
    notebook = nbformat.read(path, 4)
    number = len(turns(path))
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, resources=place).execute()
    again = [record for record in records(notebook) if "replayed" in record]
    assert [record["replayed"]["how"] for record in again] == ["tools"] * number
    if name == "own-tool":  # pandas may say in another way what the other one says of its table
        assert "compared" not in {part["type"] for record in again for part in record["events"]}
