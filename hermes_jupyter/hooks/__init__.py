"""Hooks: what other code may hear of a turn, and where it may add to it.

``hermes_jupyter.on("post_tool_call", function)`` subscribes; the names are those of Hermes Agent.
"""

from hermes_jupyter.hooks.payloads import (
    HOOKS,
    ApiRequestError,
    OnSessionEnd,
    OnSessionFinalize,
    OnSessionReset,
    OnSessionStart,
    Payload,
    PostApiRequest,
    PostApprovalResponse,
    PostLlmCall,
    PostToolCall,
    PreApiRequest,
    PreApprovalRequest,
    PreLlmCall,
    PreToolCall,
    SubagentStart,
    SubagentStop,
    TransformLlmOutput,
    TransformTerminalOutput,
    TransformToolResult,
)
from hermes_jupyter.hooks.registry import Hooks

__all__ = [
    "HOOKS",
    "ApiRequestError",
    "Hooks",
    "OnSessionEnd",
    "OnSessionFinalize",
    "OnSessionReset",
    "OnSessionStart",
    "Payload",
    "PostApiRequest",
    "PostApprovalResponse",
    "PostLlmCall",
    "PostToolCall",
    "PreApiRequest",
    "PreApprovalRequest",
    "PreLlmCall",
    "PreToolCall",
    "SubagentStart",
    "SubagentStop",
    "TransformLlmOutput",
    "TransformTerminalOutput",
    "TransformToolResult",
]
