"""Run quickstart.ipynb headless with the local model and print what happened.

Nobody can click here, so what needs an approval is denied, except what the rule below allows.
Exits with 1 if the notebook did not do what it shows.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("quickstart.ipynb")
RULE = "terminal(rm old.log)"
EXPECTED = {
    "read": ("buy milk", "call Bob"),
    "write": ("hello.sh",),
    "greet": ("greet.txt",),
    "allow": ("old.log",),
    "deny": ("denied",),
}


def main() -> int:
    os.environ.pop("OPENAI_API_KEY", None)  # the local model is what is shown
    os.environ.pop("OPENAI_BASE_URL", None)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        extra_arguments=[f"--Hermes.allow={RULE}"],
    )
    began = time.monotonic()
    problems = []
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                client.execute_cell(cell, index)
                problems += _show(cell)
    print(f"\n{time.monotonic() - began:.0f} s in all, {len(problems)} problems")
    for problem in problems:
        print(f"  {problem}")
    return 1 if problems else 0


def _show(cell: nbformat.NotebookNode) -> list[str]:
    """Print a cell and its output; what was expected and is not there."""
    text = "\n".join(map(_plain, cell.outputs))
    print(f"\n>>> {cell.source}\n{text}", flush=True)
    found = [
        f"cell {cell.id!r}: no {word!r}" for word in EXPECTED.get(cell.id, ()) if word not in text
    ]
    if cell.id == "look":
        names = set(text.strip().strip("[]").replace("'", "").split(", "))
        wanted = {"todo.txt", "keep.txt", "hello.sh", "greet.txt"}
        found += [f"cell 'look': {sorted(names)} should be {sorted(wanted)}"] * (names != wanted)
    return found


def _plain(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return str(output.data.get("text/plain", ""))


if __name__ == "__main__":
    sys.exit(main())
