"""What hooks say before a tool runs: ``pre_tool_call``, as in Hermes Agent.

A hook answers None, ``{"action": "block", "message": ...}`` or ``{"action": "approve", "message":
..., "rule_key": ...}``; the latter means that a person must approve the call. So a hook makes
things stricter, never looser. What it gets is a copy: to change the arguments changes nothing. One
that raises, takes too long, or returns something else, means *ask*.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.hooks.payloads import PreToolCall
from hermes_jupyter.hooks.registry import Heard, Hooks
from tools.async_bridge import run_async

logger = logging.getLogger(__name__)

PRE_TOOL_CALL = "pre_tool_call"
MAX_MESSAGE_CHARS = 500


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """What one hook says to one call."""

    action: Literal["block", "ask"]
    message: str
    rule_key: str = ""
    """Which of the plugin's rules it is; empty if the plugin does not say."""


def verdicts(hooks: Hooks, call: ToolCall, context: Mapping[str, Any]) -> list[HookVerdict]:
    """What they say, those without an objection left out. In a tool thread: it waits."""
    about = about_turn(context)
    told = PreToolCall(tool_name=call.name, args=dict(call.args), tool_call_id=call.id, **about)
    found = map(_verdict, run_async(hooks.ask(told)))
    return [verdict for verdict in found if verdict is not None]


def about_turn(context: Mapping[str, Any]) -> dict[str, str]:
    """Whose turn it is, as hooks are told."""
    return {key: str(context.get(key, "")) for key in ("task_id", "session_id", "turn_id")}


def _verdict(heard: Heard) -> HookVerdict | None:
    if heard.failure:  # fail closed: a broken check is no permission
        return HookVerdict("ask", f"{heard.label} {heard.failure}")
    said = heard.answer
    if said is None:
        return None
    action = said.get("action") if isinstance(said, Mapping) else None
    if action not in ("block", "approve"):
        logger.warning("the hook %s returned %r, which means nothing here", heard.label, said)
        return HookVerdict("ask", f"{heard.label} gave no answer that is known here")
    message = " ".join(str(said.get("message") or heard.label).split())[:MAX_MESSAGE_CHARS]
    rule_key = str(said.get("rule_key") or "")
    return HookVerdict("block" if action == "block" else "ask", message, rule_key)
