"""Small real things that unit tests share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.events import ApprovalRequested, Event
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tools.registry import ToolRegistry, tool_result


class Turn:
    """A road with its own registry, and everything that was told on it."""

    def __init__(self, folder: Path) -> None:
        self.registry = ToolRegistry()
        self.desk = ApprovalDesk()
        self.events: list[Event] = []
        self.folder = folder
        self.decision = "deny"
        self.policy = Policy()
        self.timeout = 5.0

    def tool(self, name: str, handler: Callable[..., Any], **about: Any) -> None:
        parameters = about.pop("parameters", {"type": "object", "properties": {}})
        schema = {"description": name, "parameters": parameters}
        self.registry.register(name, "test", schema, handler, **about)

    def emit(self, event: Event) -> None:
        """Keep the event; answer approvals as a person would."""
        self.events.append(event)
        if isinstance(event, ApprovalRequested):
            request = event.request
            asyncio.get_running_loop().call_soon(
                lambda: self.desk.answer(
                    request.id, self.decision, by="widget", digest=request.digest
                )
            )

    def road(self, **context: Any) -> Road:
        return Road(
            tools=self.registry.view(),
            desk=self.desk,
            policy=self.policy,
            emit=self.emit,
            context={"cwd": str(self.folder), **context},
            tool_timeout=self.timeout,
        )

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def turn(tmp_path: Path) -> Turn:
    return Turn(tmp_path)


@pytest.fixture
def erased(turn: Turn) -> list[str]:
    """A guarded tool ``erase(path)`` is registered; the list tells what it erased."""
    gone: list[str] = []

    def erase(args: dict[str, Any], **_: Any) -> str:
        gone.append(args["path"])
        return tool_result(erased=args["path"])

    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    }
    turn.tool("erase", erase, guard_fn=lambda args, **_: f"erases {args['path']}",
              parameters=parameters)  # fmt: skip
    return gone
