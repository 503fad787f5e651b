"""A page that shows a notebook, as far as the cell protocol goes (docs/cell-protocol.md)."""

from __future__ import annotations

import hashlib
import threading
import uuid
from typing import Any

TARGET = "hermes.cells"
CAN = ["read", "insert", "edit", "move", "delete", "show"]


class Page:
    """Answers the kernel's requests on its list of cells, in a thread of its own."""

    def __init__(
        self, front: Any, cells: list[dict[str, Any]], *, client: str = "", **about: Any
    ) -> None:
        self.front, self.cells, self.asked = front, cells, []
        self.id = uuid.uuid4().hex
        self.silent = False
        self._seen = 0
        self._open = True
        data = {"protocol": 1, "notebook": "work.ipynb", "can": CAN, **about}
        opened = {"comm_id": self.id, "target_name": TARGET, "data": data}
        message = front.client.session.msg("comm_open", opened)
        message["header"]["session"] = client or message["header"]["session"]
        front.client.shell_channel.send(message)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def until_ready(self) -> Page:
        self.front.until(lambda: any(d.get("ready") for d in self._said()), "the kernel's ready")
        return self

    def close(self) -> None:
        self._open = False
        self._thread.join(5)

    def leave(self) -> None:
        """Close the page."""
        self.close()
        self.front.send("comm_close", {"comm_id": self.id, "data": {}})

    def source(self, name: str) -> str:
        return next(cell["source"] for cell in self.cells if cell["id"] == name)

    def order(self) -> list[str]:
        return [cell["id"] for cell in self.cells]

    def _said(self) -> list[dict[str, Any]]:
        return [
            message["content"]["data"]
            for message in [*self.front.published]
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == self.id
        ]

    def _serve(self) -> None:
        while self._open:
            requests = [data for data in self._said() if "do" in data]
            for request in requests[self._seen :]:
                self._seen += 1
                self.asked.append(request)
                if not self.silent:
                    self.front.comm(self.id, {"id": request["id"], **self._answer(request)})
            threading.Event().wait(0.01)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"ok": True, "result": getattr(self, f"_{request['do']}")(request)}
        except LookupError as error:
            return {"ok": False, "error": "refused", "message": str(error.args[0])}

    def _read(self, _request: Any) -> dict[str, Any]:
        return {"cells": self.cells}

    def _insert(self, request: dict[str, Any]) -> dict[str, Any]:
        cell = {
            "id": uuid.uuid4().hex[:8],
            "type": request["type"],
            "source": request["source"],
            "execution_count": None,
            "outputs": [],
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
        self._cell(request["cell"])["outputs"] = request["outputs"]
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
