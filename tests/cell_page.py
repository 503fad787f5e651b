"""What a page does to its cells when the kernel asks: docs/cell-protocol.md without a comm."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

CAN = ["read", "whole", "insert", "edit", "move", "delete", "show"]


def cell(name, source, kind="code", number=None, outputs=()):
    """A cell as a page tells it."""
    return {
        "id": name,
        "type": kind,
        "source": source,
        "execution_count": number,
        "outputs": list(outputs),
    }


def cells():
    """A short notebook, whose third cell asks the agent."""
    printed = {"output_type": "stream", "name": "stdout", "text": "3 rows\n"}
    return [
        cell("title-01", "# Sales", "markdown"),
        cell("load-0001", "df = load()", number=1, outputs=[printed]),
        cell("agent-001", "%%agent\ngo"),
        cell("plot-0001", "df.plot()", number=2),
    ]


def short(output: dict[str, Any]) -> dict[str, Any]:
    """What a page tells of an output that is read: of an image only the beginning."""
    data = output.get("data", {})
    cut = {kind: text[:64] if kind.startswith("image/") else text for kind, text in data.items()}
    return {**output, "data": cut} if data else output


class CellPage:
    """Keeps a list of cells, and answers requests on it."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self.cells = cells
        self.keeps_ids = True
        """Does a new cell get the id that the kernel asks for?"""

    def one(self, name: str) -> dict[str, Any]:
        """The cell of this id."""
        return next(cell for cell in self.cells if cell["id"] == name)

    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.cells]

    def source(self, name: str) -> str:
        return str(self.one(name)["source"])

    def order(self) -> list[str]:
        return [cell["id"] for cell in self.cells]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"ok": True, "result": getattr(self, f"_{request['do']}")(request)}
        except LookupError as error:
            return {"ok": False, "error": "refused", "message": str(error.args[0])}

    def _read(self, request: Any) -> dict[str, Any]:
        if request.get("outputs") is False:
            return {"cells": [{**cell, "outputs": []} for cell in self.cells]}
        return {
            "cells": [{**cell, "outputs": [*map(short, cell["outputs"])]} for cell in self.cells]
        }

    def _whole(self, request: Any) -> dict[str, Any]:
        return {"cells": [self._cell(name) for name in request["cells"]]}

    def _insert(self, request: dict[str, Any]) -> dict[str, Any]:
        cell = {
            "id": request["cell"] if self.keeps_ids else uuid.uuid4().hex[:8],
            "type": request["type"],
            "source": request["source"],
            "execution_count": None,
            "outputs": [],
            "metadata": request.get("metadata", {}),
        }
        self.cells.insert(self._place(request), cell)
        return {"cell": cell}

    def _edit(self, request: dict[str, Any]) -> dict[str, Any]:
        cell = self._cell(request["cell"], request["was"])
        cell["source"] = request["source"]
        return {"cell": cell}

    def _move(self, request: dict[str, Any]) -> dict[str, Any]:
        cell = self._cell(request["cell"])
        self.cells.remove(cell)
        self.cells.insert(self._place(request), cell)
        return {}

    def _delete(self, request: dict[str, Any]) -> dict[str, Any]:
        for cell in [self._cell(each["cell"], each["was"]) for each in request["cells"]]:
            self.cells.remove(cell)
        return {}

    def _show(self, request: dict[str, Any]) -> dict[str, Any]:
        shown = {key: request[key] for key in ("outputs", "execution_count")}
        self._cell(request["cell"]).update(shown)
        return {}

    def _place(self, request: dict[str, Any]) -> int:
        beside = self._cell(request.get("after") or request["before"])
        return self.cells.index(beside) + ("after" in request)

    def _cell(self, name: str, was: str = "") -> dict[str, Any]:
        for cell in self.cells:
            if cell["id"] == name:
                if was and hashlib.sha256(cell["source"].encode()).hexdigest() != was:
                    raise LookupError("the cell was changed in the meantime")
                return cell
        raise LookupError(f"there is no cell {name}")
