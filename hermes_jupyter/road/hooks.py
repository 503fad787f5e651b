"""What plugins say before a tool runs: ``pre_tool_call``, as in Hermes Agent.

A hook gets keywords: ``tool_name, args, task_id, session_id, tool_call_id, turn_id``. It returns
None, ``{"action": "block", "message": ...}`` or ``{"action": "approve", "message": ...,
"rule_key": ...}``; the latter means that a person must approve the call. So a hook makes things
stricter, never looser. What it gets is a copy: to change the arguments changes nothing. One that
raises, or returns something else, means *ask*.
"""

from __future__ import annotations

import copy
import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hermes_jupyter.calls import ToolCall

logger = logging.getLogger(__name__)

Hook = Callable[..., Any]
PRE_TOOL_CALL = "pre_tool_call"
MAX_MESSAGE_CHARS = 500


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """What one hook says to one call."""

    action: Literal["block", "ask"]
    message: str
    rule_key: str = ""
    """Which of the plugin's rules it is; empty if the plugin does not say."""


class Hooks:
    """The hooks of a kernel, in the order in which they came. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the tuple
        self._hooks: tuple[Hook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def register(self, name: str, hook: Hook) -> None:
        """Have ``hook`` called from now on.

        Raises
        ------
        ValueError
            For a name that is not called here.
        """
        if name != PRE_TOOL_CALL:
            raise ValueError(f"there is no hook {name!r} here; there is {PRE_TOOL_CALL!r}")
        with self._lock:
            self._hooks = (*self._hooks, hook)

    def unregister(self, hook: Hook) -> None:
        with self._lock:
            self._hooks = tuple(each for each in self._hooks if each is not hook)

    def verdicts(self, call: ToolCall, context: Mapping[str, Any]) -> list[HookVerdict]:
        """What they say, those without an objection left out."""
        said = (_verdict(hook, call, context) for hook in self._hooks)
        return [verdict for verdict in said if verdict is not None]


def _verdict(hook: Hook, call: ToolCall, context: Mapping[str, Any]) -> HookVerdict | None:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    about = {key: context.get(key, "") for key in ("task_id", "session_id", "turn_id")}
    try:
        args = copy.deepcopy(dict(call.args))
        said = hook(tool_name=call.name, args=args, tool_call_id=call.id, **about)
    except (Exception, SystemExit) as error:  # fail closed: a broken check is no permission
        logger.warning("the hook %s failed on %r", name, call.name, exc_info=True)
        return HookVerdict("ask", f"{name} failed ({type(error).__name__}: {error})")
    if said is None:
        return None
    action = said.get("action") if isinstance(said, Mapping) else None
    if action not in ("block", "approve"):
        if inspect.iscoroutine(said):
            said.close()
        logger.warning("the hook %s returned %r, which means nothing here", name, said)
        return HookVerdict("ask", f"{name} gave no answer that is known here")
    message = " ".join(str(said.get("message") or name).split())[:MAX_MESSAGE_CHARS]
    rule_key = str(said.get("rule_key") or "")
    return HookVerdict("block" if action == "block" else "ask", message, rule_key)
