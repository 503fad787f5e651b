"""What hooks are told, one class for each name. Fields are named as in Hermes Agent.

Secrets are masked, but for the arguments of `PreToolCall`: a check must see what will run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PLATFORM = "jupyter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """Whose turn it is."""

    session_id: str = ""
    """The name of the conversation."""
    task_id: str = ""
    turn_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreToolCall(Payload):
    """A call is about to run.

    Answers: None; ``{"action": "block", "message": ...}``; or ``{"action": "approve", "message":
    ..., "rule_key": ...}``: a person must approve it. A check that fails or is too slow means that
    a person is asked.
    """

    tool_name: str
    args: Mapping[str, Any]
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolCall(Payload):
    """A call has its result, whatever became of it."""

    tool_name: str
    args: Mapping[str, Any]
    tool_call_id: str
    result: str
    """What the model reads."""
    status: str
    """``ok error denied timeout interrupted``."""
    duration_ms: int
    error_message: str = ""
    """What went wrong, if something did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformTerminalOutput(Payload):
    """A command has ended. A text as the answer takes the place of its output."""

    command: str
    output: str
    returncode: int
    env_type: str = ""
    """Where it ran: ``local``, ``docker``, ``ssh``, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformToolResult(Payload):
    """A call has run. A text as the answer takes the place of its result; it is cut as any."""

    tool_name: str
    args: Mapping[str, Any]
    tool_call_id: str
    result: str
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PreLlmCall(Payload):
    """A turn begins. A text, or ``{"context": text}``, is added behind the user's message."""

    user_message: str
    conversation_history: Sequence[Mapping[str, Any]]
    is_first_turn: bool
    model: str
    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class PostLlmCall(Payload):
    """A turn has its answer."""

    user_message: str
    assistant_response: str
    conversation_history: Sequence[Mapping[str, Any]]
    model: str
    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformLlmOutput(Payload):
    """The model has answered. A text takes the place of the answer, also in the conversation."""

    response_text: str
    model: str
    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class PreApiRequest(Payload):
    """A model is about to be asked."""

    model: str
    api_call_count: int
    """The number of the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostApiRequest(Payload):
    """A model has given an answer."""

    model: str
    api_call_count: int
    duration_ms: int
    finish_reason: str
    usage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequestError(Payload):
    """A model could not be asked."""

    model: str
    api_call_count: int
    error_message: str
    retry_in_seconds: float | None = None
    """Until it is asked again; None: the turn failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreApprovalRequest(Payload):
    """A person is asked about a call."""

    tool_name: str
    args: Mapping[str, Any]
    tool_call_id: str
    command: str
    """What the person is shown."""
    description: str
    """Why they are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostApprovalResponse(Payload):
    """It was decided whether a call may run."""

    tool_name: str
    args: Mapping[str, Any]
    tool_call_id: str
    command: str
    description: str
    choice: str
    """``once session always deny``."""
    by: str
    """``widget``, ``input``, ``program``; ``rule``, ``mode``, ``policy`` and others that are no
    person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnSessionStart(Payload):
    """A conversation begins, or goes on in this kernel."""

    model: str
    resumed: bool = False
    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class OnSessionEnd(Payload):
    """A turn has ended; the conversation may go on (as in Hermes Agent, whose name this is)."""

    model: str
    completed: bool
    interrupted: bool
    reason: str = ""
    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class OnSessionFinalize(Payload):
    """A conversation is put away: another takes its place, or the agent is unloaded."""

    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class OnSessionReset(Payload):
    """A conversation was begun anew."""

    platform: str = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStart(Payload):
    """An agent begins to work for the one whose turn it is."""

    child_session_id: str
    """The id under which its conversation is stored; empty for a model of a mixture."""
    child_goal: str
    """On one line, cut."""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStop(Payload):
    """It has ended."""

    child_session_id: str
    child_goal: str
    child_status: str
    """``completed failed error interrupted``."""
    child_summary: str
    """Its answer, or how far it came; cut."""
    duration_ms: int
    model: str = ""
    error_message: str = ""


HOOKS: Mapping[str, type[Payload]] = {
    "pre_tool_call": PreToolCall,
    "post_tool_call": PostToolCall,
    "transform_terminal_output": TransformTerminalOutput,
    "transform_tool_result": TransformToolResult,
    "pre_llm_call": PreLlmCall,
    "post_llm_call": PostLlmCall,
    "transform_llm_output": TransformLlmOutput,
    "pre_api_request": PreApiRequest,
    "post_api_request": PostApiRequest,
    "api_request_error": ApiRequestError,
    "pre_approval_request": PreApprovalRequest,
    "post_approval_response": PostApprovalResponse,
    "on_session_start": OnSessionStart,
    "on_session_end": OnSessionEnd,
    "on_session_finalize": OnSessionFinalize,
    "on_session_reset": OnSessionReset,
    "subagent_start": SubagentStart,
    "subagent_stop": SubagentStop,
}
"""Name and payload of every hook that is called here."""
