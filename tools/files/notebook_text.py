"""A notebook file as text that reads well: its cells and their short text outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.plain_text import without_escapes

MAX_OUTPUT_CHARS = 2_000


def notebook_text(content: bytes) -> str | None:
    """Text of the cells; None if this is no notebook."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    parts = [
        "\n".join(_cell(number, cell))
        for number, cell in enumerate(cells, 1)
        if isinstance(cell, dict)
    ]
    return "\n\n".join(parts) + "\n" if parts else ""


def _cell(number: int, cell: Mapping[str, Any]) -> Iterator[str]:
    kind = cell.get("cell_type", "cell")
    count = cell.get("execution_count")
    yield f"# --- cell {number}: {kind}" + (f" [{count}]" if count is not None else "") + " ---"
    yield _joined(cell.get("source"))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        text = _output(output) if isinstance(output, dict) else ""
        if text:
            yield f"# --- output of cell {number} ---"
            yield _shortened(without_escapes(text).rstrip("\n"))


def _output(output: Mapping[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    if "text" in output:
        return _joined(output["text"])
    found = output.get("data")
    bundle: Mapping[str, Any] = found if isinstance(found, dict) else {}
    if "text/plain" in bundle:
        others = [kind for kind in bundle if kind.startswith("image/")]
        return "\n".join([_joined(bundle["text/plain"]), *(f"[{kind}]" for kind in others)])
    return " ".join(f"[{kind}]" for kind in bundle)


def _joined(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _shortened(text: str) -> str:
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return f"{text[:MAX_OUTPUT_CHARS]}\n…[output cut here; it has {len(text):,} characters in all]"
