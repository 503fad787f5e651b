"""Cuts old results of tools, without a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.pictures import without_images

KEPT_CHARS = 400
"""Of a result: its beginning says what it was, its end how it went."""
SHRUNK = "[... {left_out:,} characters of this old result left out{where} ...]"
HANDLE = re.compile(r"read_result\(handle='(r\d+)'")
MARK = re.compile(r"\[\.\.\. [\d,]+ characters of this old result left out")


def shrunk(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The message with a shorter content; None if there is nothing to gain."""
    if (shorter := without_images(dict(message))) is not None:
        return shorter
    content = message.get("content")
    if message["role"] != "tool" or not isinstance(content, str):
        return None
    if len(content) <= 2 * KEPT_CHARS or MARK.search(content):
        return None
    found = HANDLE.search(content)
    where = f"; read_result(handle='{found[1]}') has all of it" if found else ""
    head, tail = content[: KEPT_CHARS * 3 // 4], content[-KEPT_CHARS // 4 :]
    gap = SHRUNK.format(left_out=len(content) - len(head) - len(tail), where=where)
    return {**message, "content": f"{head}\n{gap}\n{tail}"}


def _texts(content: Any) -> str:
    parts = content if isinstance(content, list) else ()
    return " ".join(str(part.get("text", "(image)")) for part in parts)


def shrink(transcript: list[Any], places: range) -> int:
    """Cut the results in these places; how many were."""
    count = 0
    for at in places:
        if (shorter := shrunk(transcript[at])) is not None:
            transcript[at] = shorter
            count += 1
    return count


def rendered(messages: Sequence[Mapping[str, Any]], limit: int) -> str:
    """Messages as plain text for the writer of notes; of many characters the middle is left out."""
    lines = []
    for message in messages:
        content = message.get("content")
        text = content if isinstance(content, str) else _texts(content)
        calls = [
            f"{call['function']['name']}({call['function']['arguments']})"
            for call in message.get("tool_calls") or ()
        ]
        said = " ".join(filter(None, [text.strip(), *calls]))
        lines.append(f"{message['role']}: {said}")
    whole = "\n".join(lines)
    if len(whole) <= limit:
        return whole
    half = limit // 2
    return f"{whole[:half]}\n[... {len(whole) - 2 * half:,} characters ...]\n{whole[-half:]}"
