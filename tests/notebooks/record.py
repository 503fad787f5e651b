"""Run the notebooks of ``notebooks/`` as a person would, and keep what they show.

``python tests/notebooks/record.py [--model NAME] [NOTEBOOK ...]`` writes outputs and recordings
into the notebooks themselves. Without ``--model`` the answers are those of ``answers.py``;
``local`` asks the embedded model. No cell tells its id, as if papermill ran it: a recording with
ids would be the answer that the cell of whoever opens the notebook keeps, in the place of one of
its own.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "kernel"), str(ROOT / "tests" / "notebooks")]

import front as front_end  # noqa: E402
from answers import ANSWERS  # noqa: E402

from hermes_jupyter.canonical import digest  # noqa: E402
from hermes_jupyter.recording.encoding import FORMAT  # noqa: E402
from hermes_jupyter.testing.scripted_server import ScriptedServer  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
CLICKS = {"allow": "Allow once", "deny": "Deny"}
"""What a person clicks in which cell."""
TURNS = ("%%agent", "%hermes fix")
"""How cells begin in which the agent works."""
EJECTED = "ejected"
"""The cell that holds what ``%hermes eject`` gives for the turn above it."""
OUTPUTS = ("stream", "display_data", "execute_result", "error", "update_display_data")
SECONDS = 600


def record(path: Path, folder: Path, env: dict[str, str]) -> Any:
    """The notebook with outputs, run in this folder."""
    notebook = nbformat.read(path, as_version=4)
    for name in ("work", "home", "ipython"):
        (folder / name).mkdir()
    for data in path.parent.glob("*.csv"):
        shutil.copy(data, folder / "work")
    surroundings = {
        "HERMES_HOME": str(folder / "home"),
        "IPYTHONDIR": str(folder / "ipython"),
        "HERMES_RECORD": "1",
        "OPENAI_API_KEY": "",
        "OPENAI_BASE_URL": "",
        **env,
    }
    with front_end.kernel(env=surroundings, cwd=folder / "work", log=folder / "log") as front:
        first = next(cell.id for cell in code_cells(notebook) if cell.source.startswith(TURNS))
        for number, cell in enumerate(code_cells(notebook), 1):
            if cell.id == EJECTED:
                cell.source = ejected(front)
            cell.outputs = outputs_of(front, run(front, cell, is_first=cell.id == first))
            cell.execution_count = number
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = number
        here = front.run("import os; print(os.getcwd())").strip()
    return nbformat.from_dict(without_folder(notebook, here))


def without_folder(value: Any, folder: str) -> Any:
    """The same with paths as seen from this folder, which only the machine has that recorded."""
    if isinstance(value, str):
        return value.replace(f"{folder}/", "").replace(folder, ".")
    if isinstance(value, list):
        return [without_folder(each, folder) for each in value]
    if not isinstance(value, dict):
        return value
    told = {name: without_folder(each, folder) for name, each in value.items()}
    if told != value and told.get("format") == FORMAT:
        told["sha256"] = digest({name: each for name, each in told.items() if name != "sha256"})
    return told


def code_cells(notebook: Any) -> Iterator[Any]:
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def run(front: Any, cell: Any, *, is_first: bool) -> str:
    """Run a cell to its end, and click where a person would; the request."""
    front.forget()
    request = front.execute(cell.source)
    if is_first:  # what is learned of the page then, holds for all
        front.show_widgets()
    if label := CLICKS.get(cell.id):
        front.until(lambda: front.widgets("ButtonModel", description=label), label, SECONDS)
        front.click(front.button(label))
    status = front.status(request, SECONDS)
    expected = "error" if "raises-exception" in cell.metadata.get("tags", ()) else "ok"
    if status != expected:
        raise RuntimeError(f"cell {cell.id}: {front.replies[request]['content']}")
    return str(request)


def ejected(front: Any) -> str:
    """What ``%hermes eject`` would put into the next cell."""
    request = front.execute("%hermes eject", store_history=False)
    front.status(request)
    (told,) = front.replies[request]["content"]["payload"]
    return str(told["text"]).rstrip("\n")


def outputs_of(front: Any, request: str) -> list[Any]:
    """What a page would show and save below the cell."""
    made: list[Any] = []
    shown: dict[str, Any] = {}
    for message in front.of(request):
        kind, content = message["msg_type"], message["content"]
        if kind not in OUTPUTS:
            continue
        name = content.get("transient", {}).get("display_id")
        if kind == "update_display_data":
            shown[name].update(data=content["data"], metadata=content["metadata"])
            continue
        if kind == "stream" and made and made[-1].get("name") == content["name"]:
            made[-1]["text"] += content["text"]
            continue
        output = nbformat.v4.output_from_msg({"header": {"msg_type": kind}, "content": content})
        made.append(output)
        if name:
            shown[name] = output
    return [output for output in made if output.get("data", True)]


@contextmanager
def model(name: str) -> Iterator[dict[str, str]]:
    """The environment in which this model answers."""
    if name:
        yield {"HERMES_MODEL": name}
        return
    with ScriptedServer(*ANSWERS) as server:
        yield {"OPENAI_BASE_URL": server.url}


def main(arguments: Sequence[str]) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="", help="who answers; else the script")
    options.add_argument("--into", type=Path, default=NOTEBOOKS, help="the folder to write to")
    options.add_argument("notebooks", nargs="*", type=Path)
    chosen = options.parse_args(arguments)
    for path in chosen.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder, model(chosen.model) as env:
            nbformat.write(record(path, Path(folder), env), chosen.into / path.name)
        print(f"{path.name} is recorded")


if __name__ == "__main__":
    main(sys.argv[1:])
