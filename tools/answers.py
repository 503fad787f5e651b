"""The two functions that tools answer with."""

from __future__ import annotations

import json
from typing import Any


def tool_error(message: str, **extra: Any) -> str:
    """Answer of a tool for something the model can mend: ``{"error": message, ...}``."""
    return json.dumps({"error": str(message), **extra}, ensure_ascii=False, default=str)


def tool_result(data: Any = None, **fields: Any) -> str:
    """Answer of a tool: JSON of ``data``, or of the keyword arguments."""
    return json.dumps(fields if data is None else data, ensure_ascii=False, default=str)
