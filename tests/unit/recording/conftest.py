"""A recording of a small turn, and changed ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall, ToolResult, Usage
from hermes_jupyter.canonical import digest, prompt_sha256
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ModelCalled,
    NoticeGiven,
    QuestionAnswered,
    StepFinished,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.recording.encoding import as_json
from hermes_jupyter.recording.values import Recording

PROMPT = "Delete the logs"


def made(prompt: str = PROMPT, **more: Any) -> Recording:
    call = ToolCall(id="c1", name="terminal", args={"command": "rm *.log", "n": 2**60})
    result = ToolResult(call=call, text='{"output": "", "exit_code": 0}', seconds=0.25)
    request = ApprovalRequest(
        id="r", call=call, reason="deletes", shown="rm *.log", cwd="/w", grant="", digest="d"
    )
    usage = Usage(prompt_tokens=10, completion_tokens=5, model_calls=1, cost=2.0)
    about: dict[str, Any] = {
        "turn": "0123456789ab",
        "session_id": "20261130-120000-0123456789",
        "prompt_sha256": prompt_sha256(prompt),
        "line": "",
        "cell": "cell-1",
        "at": "2026-11-30T12:00:00Z",
        "travels": True,
        "events": (
            TurnStarted(session="main", turn="0123456789ab", prompt=prompt, model="m", steps=90),
            StepStarted(number=1),
            ModelCalled(number=1, model="m", usage=usage, seconds=1.0),
            StepFinished(number=1, text="I delete them.", usage=usage, reasoning="Hm."),
            BatchStarted(calls=(call,)),
            ApprovalResolved(request=request, decision="once", by="widget"),
            ToolCallStarted(call=call),
            ToolCallFinished(result=result),
            QuestionAnswered(question=Question(id="q", text="All?"), answer=None, by="policy"),
            NoticeGiven(text="beware", level="warning"),
            StepFinished(number=2, text="Done.", usage=usage),
            TurnFinished(
                status="done", text="Done.", model="m", steps=2, seconds=3.0, usage=usage,
                tools=("read_file", "terminal"),
            ),
        ),
    }  # fmt: skip
    return Recording(**{**about, **more})


@pytest.fixture
def recording() -> Recording:
    return made()


@pytest.fixture
def make() -> Any:
    """A function that makes recordings; any field may differ."""
    return made


@pytest.fixture
def forged(recording: Recording) -> Any:
    """A function that changes the JSON of a recording and gives it a fitting fingerprint."""

    def forge(change: Any) -> dict[str, Any]:
        value = copy.deepcopy(as_json(recording))
        del value["sha256"]
        change(value)
        return {**value, "sha256": digest(value)}

    return forge
