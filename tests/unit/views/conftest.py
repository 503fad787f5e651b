"""Events of small turns, and stand-ins for the cell and the desk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hermes_jupyter.calls import (
    ApprovalRequest,
    Decision,
    Ruling,
    ToolCall,
    ToolResult,
    Usage,
    digest_of,
)
from hermes_jupyter.events import Event, StepFinished, ToolCallFinished, TurnFinished, TurnStarted

HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=x onerror=alert(1)> ]]> {{x}} "
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x00\x07 \u202eabc\u2066 \ud800 \"'` "
)


class FakeCell:
    page_is_new = False

    """Remembers what was displayed and which comms it was told of."""

    allow_stdin = True
    client = "browser-1"
    has_kernel = True
    is_background = False
    page_is_all = False
    asks_now = True

    def __init__(self) -> None:
        self.displayed: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.owned: list[str] = []

    def display(self, data: dict[str, Any], **about: Any) -> None:
        self.displayed.append((data, about))

    def own_comm(self, comm_id: str) -> None:
        self.owned.append(comm_id)

    async def in_cell_thread(self, job: Callable[..., Any], *args: Any) -> Any:
        return job(*args)

    async def in_attended_thread(self, job: Callable[..., Any], *args: Any) -> Any:
        return job(*args)


class FakeDesk:
    """Remembers answers. The first to a request counts, unless all of them are closed."""

    def __init__(self) -> None:
        self.closed = False
        self.answers: list[tuple[str, Ruling, str, str]] = []
        self.replies: list[tuple[str, str | None, str]] = []
        self.stopped: list[str] = []

    def answer(self, request_id: str, ruling: Ruling | Decision, *, by: str, digest: str) -> bool:
        if self.closed or request_id in {answered for answered, *_ in self.answers}:
            return False
        ruling = ruling if isinstance(ruling, Ruling) else Ruling(decision=ruling)
        self.answers.append((request_id, ruling, by, digest))
        return True

    @property
    def rulings(self) -> list[Ruling]:
        return [ruling for _, ruling, _, _ in self.answers]

    def reply(self, question_id: str, text: str | None, *, by: str) -> bool:
        self.replies.append((question_id, text, by))
        return True

    def stop(self, child: str) -> bool:
        self.stopped.append(child)
        return True


@pytest.fixture
def cell() -> FakeCell:
    return FakeCell()


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def hostile() -> str:
    return HOSTILE


def call(number: int | str = 1, name: str = "terminal", **args: Any) -> ToolCall:
    return ToolCall(id=str(number), name=name, args=args or {"command": "ls"})


def finished(a_call: ToolCall, text: str = "fine", status: Any = "ok") -> ToolCallFinished:
    return ToolCallFinished(result=ToolResult(call=a_call, text=text, status=status, seconds=1.5))


def approval(a_call: ToolCall, shown: str = "rm -rf data", **more: Any) -> ApprovalRequest:
    return ApprovalRequest(
        **more,
        id=f"ask-{a_call.id}",
        call=a_call,
        reason="deletes a folder",
        shown=shown,
        cwd="/home/ada",
        grant="deleting below /home/ada",
        digest=digest_of(a_call, "/home/ada"),
    )


@pytest.fixture
def make() -> Any:
    """The functions above, as attributes."""

    class Make:
        call = staticmethod(call)
        finished = staticmethod(finished)
        approval = staticmethod(approval)

        @staticmethod
        def turn(*events: Event, answer: str = "Done it.", status: Any = "done") -> list[Event]:
            """A turn of one step around these events."""
            end = [StepFinished(number=1, text=answer)] if answer else []
            usage = Usage(prompt_tokens=1200, completion_tokens=34, model_calls=1)
            return [
                TurnStarted(session="s", turn="t", prompt="do it", model="tiny", steps=9),
                *events,
                *end,
                TurnFinished(status=status, text=answer, steps=1, seconds=2.5, usage=usage),
            ]

    return Make
