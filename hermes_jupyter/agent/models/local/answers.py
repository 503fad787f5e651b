"""Turn what the constrained model writes back into the API's messages, piece by piece."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any, Literal

OPENING = re.compile(
    r'\s*\{\s*(?:"plan"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*)?"(tool|final)"\s*:\s*"', re.DOTALL
)
DECODABLE = re.compile(r'(?:[^"\\]|\\[^u]|\\u[0-9a-fA-F]{4})*')
HALF_OF_A_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")


class GrowingReply:
    """A reply that is still being written.

    Attributes
    ----------
    kind : {"tool", "final"} or None
        None until the first words tell.
    written : str
        All of it so far.
    """

    def __init__(self) -> None:
        self.kind: Literal["tool", "final"] | None = None
        self.written = ""
        self._position = 0

    def feed(self, piece: str) -> str:
        """Add a piece; return what it adds to the final text."""
        self.written += piece
        if self.kind is None and (opening := OPENING.match(self.written)):
            self.kind = "tool" if opening[1] == "tool" else "final"
            self._position = opening.end()
        return self._new_text() if self.kind == "final" else ""

    def _new_text(self) -> str:
        match = DECODABLE.match(self.written, self._position)
        decodable = HALF_OF_A_PAIR.sub("", match[0]) if match else ""
        self._position += len(decodable)
        return str(json.loads(f'"{decodable}"', strict=False))


def message_of(written: str, finish: str) -> tuple[dict[str, Any], str]:
    """Return the assistant's message and its finish reason for a whole reply."""
    try:
        reply = json.loads(written)
    except ValueError:  # cut off by the token limit
        return {"role": "assistant", "content": GrowingReply().feed(written)}, finish
    plan = {"reasoning_content": reply["plan"]} if reply.get("plan") else {}
    if "final" in reply:
        return {"role": "assistant", "content": reply["final"], **plan}, "stop"
    function = {
        "name": reply["tool"],
        "arguments": json.dumps(reply["arguments"], ensure_ascii=False),
    }
    call = {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call], **plan}, "tool_calls"
