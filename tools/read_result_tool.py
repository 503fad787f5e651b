"""Read on in an answer that was too long to be given whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

from tools.files import arguments
from tools.files.answering import answering
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

DEFAULT_CHARS = 20_000
MAX_CHARS = 80_000
MAX_ANSWER_CHARS = 95_000
MAX_MATCHES = 50
MAX_COUNTED = 10_000
MAX_PATTERN_CHARS = 1_000
MATCH_CONTEXT = 150
STRIDE = 1 << 18
"""So much is searched in one go: other threads run between them."""
KNOWN_SHOWN = 20

SCHEMA = {
    "name": "read_result",
    "description": (
        "Read on in a long answer of another tool that was cut. The cut answer names its handle "
        "and the offset where its beginning ends. Returns content, total_chars, total_lines, and "
        "next_offset if there is more. With pattern it returns the places where that text stands, "
        "each with its offset and line, instead: look there first when you know what you need."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "The handle, such as r3."},
            "offset": {
                "type": "integer",
                "default": 0,
                "minimum": 0,
                "description": "Character to begin at.",
            },
            "limit": {
                "type": "integer",
                "default": DEFAULT_CHARS,
                "maximum": MAX_CHARS,
                "description": "How many characters to return.",
            },
            "pattern": {
                "type": "string",
                "description": (
                    "Plain text to find, upper or lower case alike; alternatives are separated "
                    "by |. No regular expression."
                ),
            },
        },
        "required": ["handle"],
    },
}


class Handles(Protocol):
    """What this tool needs of the place where whole answers are kept."""

    def readable(self, handle: str) -> tuple[str, str]: ...

    def known(self) -> list[str]: ...


@answering()
def read_result(args: dict[str, Any], **context: Any) -> str:
    """Handler: a page of a kept answer, or the places where a text stands in it."""
    handles: Handles | None = context.get("handles")
    if handles is None:
        return tool_error("read_result must be handled by the agent loop")
    handle = arguments.text(args, "handle")
    try:
        field, text = handles.readable(handle)
    except LookupError as error:
        known = handles.known()[-KNOWN_SHOWN:]
        listed = f"kept are {', '.join(known)}" if known else "none is kept"
        raise Problem(f"{error.args[0]}; {listed}") from None
    offset = arguments.number(args, "offset", 0, (0, 10**12))
    about = {"handle": handle, **({"field": field} if field else {})}
    totals = {"total_chars": len(text), "total_lines": text.count("\n") + 1}
    if pattern := arguments.text(args, "pattern", ""):
        return tool_result({**about, **_found(text, pattern, offset), **totals})
    limit = arguments.number(args, "limit", DEFAULT_CHARS, (1, MAX_CHARS))
    return _page(text, offset, limit, about, totals)


def _page(text: str, offset: int, limit: int, about: dict[str, Any], totals: dict[str, int]) -> str:
    """As much as is asked for and can be answered: in JSON some characters take six."""
    while True:
        end = min(offset + limit, len(text))
        answer = tool_result(
            {
                **about,
                "content": text[offset:end],
                "offset": offset,
                "next_offset": end if end < len(text) else None,
                **totals,
            }
        )
        if len(answer) <= MAX_ANSWER_CHARS:
            return answer
        limit = limit * MAX_ANSWER_CHARS // len(answer)


def _found(text: str, pattern: str, offset: int) -> dict[str, Any]:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise Problem(f"pattern has {len(pattern):,} characters; {MAX_PATTERN_CHARS:,} are allowed")
    matches: list[dict[str, Any]] = []
    count, following = 0, None
    line, counted = 1, 0
    for start, end in _places(text, pattern, offset):
        count += 1
        if len(matches) < MAX_MATCHES:
            line += text.count("\n", counted, start)
            counted = start
            matches.append({"offset": start, "line": line, "content": _around(text, start, end)})
        elif following is None:
            following = start
        if count == MAX_COUNTED:
            break
    more = "" if count < MAX_COUNTED else " or more"
    return {"matches": matches, "found": f"{count}{more}", "next_offset": following}


def _places(text: str, pattern: str, offset: int) -> Iterator[tuple[int, int]]:
    """Where the pattern stands, from ``offset`` on."""
    words = [pattern, *filter(None, map(str.strip, pattern.split("|")))]
    sought = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    longest = len(pattern)
    at = offset
    while at < len(text):
        border = at + STRIDE
        for found in sought.finditer(text, at, border + longest - 1):
            if found.start() >= border:
                break
            yield found.span()
            at = found.end()
        at = max(at, border)


def _around(text: str, start: int, end: int) -> str:
    """The line of a match, as far as it is near."""
    first = text.rfind("\n", max(0, start - MATCH_CONTEXT), start)
    last = text.find("\n", end, end + MATCH_CONTEXT)
    begin = max(0, start - MATCH_CONTEXT) if first < 0 else first + 1
    return text[begin : end + MATCH_CONTEXT if last < 0 else last]


registry.register(
    name="read_result",
    toolset="results",
    schema=SCHEMA,
    handler=read_result,
    emoji="📜",
    effects="read",
    resources=lambda args: (),
)
