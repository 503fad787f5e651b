"""A kernel's Hermes with a scripted server behind it, and turns that delegate."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.events import (
    ApprovalRequested,
    ChildFinished,
    ChildStarted,
    ChildTold,
    Event,
    ToolCallFinished,
)
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing.scripted_server import ScriptedServer
from hermes_jupyter.turn_values import TurnOptions, TurnResult
from tools.registry import ToolRegistry, registry


class Desk:
    """Runs turns, answers requests as a person would, and keeps what was told."""

    def __init__(self, hermes: Hermes, server: ScriptedServer) -> None:
        self.hermes, self.server = hermes, server
        self.events: list[Event] = []
        self.decision = "deny"
        self.on_event: Callable[[Event], None] = lambda event: None

    def hear(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)
        if isinstance(event, ApprovalRequested) and self.decision:
            request, desk = event.request, self.hermes.session().desk
            asyncio.get_running_loop().call_soon(
                lambda: desk.answer(request.id, self.decision, by="widget", digest=request.digest)
            )

    async def turn(self, prompt: str = "share", **options: Any) -> TurnResult:
        return await self.hermes.turn(
            prompt,
            session=self.hermes.session(),
            options=TurnOptions(**options),
            listeners=[self.hear],
        )

    def run(self, prompt: str = "share", **options: Any) -> TurnResult:
        return asyncio.run(self.turn(prompt, **options))

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def told(self, kind: type) -> list[tuple[str, Any]]:
        """Events of children, each with the child's id."""
        nested = [(event.child, event.event) for event in self.of(ChildTold)]
        return [(child, event) for child, event in nested if isinstance(event, kind)]

    @property
    def answer(self) -> dict[str, Any]:
        """What the agent reads of its call."""
        result = self.of(ToolCallFinished)[-1].result
        found: dict[str, Any] = json.loads(result.text)
        return found

    @property
    def results(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.answer["results"]
        return found

    @property
    def started(self) -> list[Any]:
        return [event.child for event in self.of(ChildStarted)]

    @property
    def finished(self) -> list[Any]:
        return self.of(ChildFinished)

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """The requests of the agent whose task begins so."""
        return [
            body
            for path, body in self.server.requests
            if path.endswith("completions")
            and any(
                message["role"] == "user" and str(message["content"]).startswith(prompt)
                for message in body["messages"]
            )
        ]


Open = Callable[..., Desk]
sys.path.insert(0, str(Path(__file__).resolve().parent))  # for `delegating`


@pytest.fixture
def open_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open with conversations of the model, and settings that differ."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with ExitStack() as after:

        def opened(*script: Any, tools: ToolRegistry = registry, **settings: Any) -> Desk:
            server = after.enter_context(ScriptedServer(*script))
            chosen = Settings(home=tmp_path / "home", base_url=server.url)
            hermes = Hermes(replace(chosen, **settings), tools)
            after.callback(lambda: asyncio.run(hermes.close()))
            return Desk(hermes, server)

        yield opened
