"""Ask a tool's own guard. What cannot be checked must be asked."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.calls import ToolCall
from tools.registry import ToolEntry
from tools.safety import Objection

logger = logging.getLogger(__name__)


def objection_of(entry: ToolEntry, call: ToolCall, context: Mapping[str, Any]) -> Objection | None:
    """Why a person must approve the call, or None. A guard that fails means *ask*."""
    if entry.guard_fn is None:
        return None
    try:
        said = entry.guard_fn(call.args, **{**context, "tool_call_id": call.id})
    except (Exception, SystemExit) as error:  # fail closed: a broken check is no permission
        logger.warning("the guard of %r failed", call.name, exc_info=True)
        said = f"could not be checked ({type(error).__name__}: {error})"
    if said is None or isinstance(said, Objection):
        return said
    shown = json.dumps(dict(call.args), ensure_ascii=False, indent=2, default=str)
    return Objection(reason=str(said), shown=shown, grant=f"this exact {call.name} call")
