"""A page that shows a notebook, as far as the cell protocol goes (docs/cell-protocol.md)."""

from __future__ import annotations

import json
import threading
import uuid
from typing import Any

from cell_page import CAN, CellPage, cell, cells

__all__ = ["Page", "cell", "cells", "go", "told"]

TARGET = "hermes.cells"


def go(notebook, line="--approve edits", prompt="go"):
    """Run a turn in the notebook's third cell, to its end."""
    request = notebook.agent(prompt, line, cell="agent-001")
    assert notebook.status(request) == "ok", notebook.reply(request)["content"]
    return request


def told(notebook, number=-1):
    """The tools' answers."""
    messages = notebook.requests()[number]["messages"]
    return [json.loads(m["content"]) for m in messages if m["role"] == "tool"]


class Page(CellPage):
    """Answers the kernel's requests on its list of cells, in a thread of its own."""

    def __init__(
        self, front: Any, cells: list[dict[str, Any]], *, client: str = "", **about: Any
    ) -> None:
        super().__init__(cells)
        self.front, self.asked = front, []
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

    def rename(self, notebook: str) -> None:
        """The person gives the notebook another name."""
        self.front.comm(self.id, {"notebook": notebook})

    def set(self, settings: dict[str, Any]) -> None:
        """The person changes the settings of the extension."""
        self.front.comm(self.id, {"settings": settings})

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
                    self.front.comm(self.id, {"id": request["id"], **self.answer(request)})
            threading.Event().wait(0.01)
