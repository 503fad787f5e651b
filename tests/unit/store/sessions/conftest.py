"""A store of conversations, and somebody who talks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import (
    BatchStarted,
    Event,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.store.sessions.catalog import Reopened, Sessions, Stored
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript


class Talk:
    """One conversation, written as a turn writes it."""

    def __init__(self, sessions: Sessions, about: About | Reopened) -> None:
        reopened = about if isinstance(about, Reopened) else None
        self.sessions = sessions
        self.journal = reopened.journal if reopened else sessions.begin(about)
        self.messages = reopened.transcript if reopened else Transcript(self.journal)
        self.warnings: list[str] = []
        self.journal.warn = self.warnings.append
        self.journal.count = self.messages.count_said

    @property
    def id(self) -> str:
        return self.journal.id

    @property
    def stored(self) -> Stored:
        return self.sessions.get(self.id)

    def tell(self, *events: Event) -> None:
        for event in events:
            self.journal.hear(event)

    def ask(self, prompt: str) -> None:
        self.tell(TurnStarted(session="main", turn="t", prompt=prompt, model="m", steps=9))
        self.messages.append({"role": "user", "content": prompt})

    def say(self, text: str, *calls: ToolCall) -> None:
        self.tell(StepStarted(number=1), TextStreamed(text=text), StepFinished(number=1, text=text))
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [wire(call) for call in calls]
        self.messages.append(message)
        if calls:
            self.tell(BatchStarted(calls=calls))

    def run(self, call: ToolCall, answer: str) -> None:
        self.tell(ToolCallStarted(call=call))
        self.tell(ToolCallFinished(result=ToolResult(call=call, text=answer)))

    def answer(self, call: ToolCall, answer: str) -> None:
        self.run(call, answer)
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})

    def end(self, text: str = "", status: Any = "done") -> None:
        self.tell(TurnFinished(status=status, text=text, model="m"))

    def exchange(self, prompt: str, answer: str) -> None:
        """A whole turn."""
        self.ask(prompt)
        self.say(answer)
        self.end(answer)

    def left(self) -> Reopened:
        """Reopen it as another kernel would after this one has died."""
        self.journal.close()
        return self.sessions.reopen(self.id)


def wire(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(call.args), ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def sessions(home: Path) -> Iterator[Sessions]:
    opened = Sessions(home)
    yield opened
    opened.close()


@pytest.fixture
def talk(sessions: Sessions) -> Talk:
    return Talk(sessions, About("main"))


@pytest.fixture
def new_talk(sessions: Sessions) -> Any:
    """Begin one more conversation, with this name."""
    return lambda name="main", **about: Talk(sessions, About(name, **about))


@pytest.fixture
def taken_up(sessions: Sessions) -> Any:
    """Go on with a conversation that was reopened."""
    return lambda reopened: Talk(sessions, reopened)
