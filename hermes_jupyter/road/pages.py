"""Answers of ``read_result``: a page of a kept answer is made shorter, and never kept again."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.text import as_json, json_object

READER = "read_result"


def shorter_page(text: str, limit: int) -> str:
    """The page with less on it, and the place to read on from moved to its new end."""
    page = json_object(text)
    if page is None:
        return text
    while len(text) > limit and (less := _less(page, len(text), limit)):
        page, text = less, as_json(less)
    return text


def _less(page: dict[str, Any], size: int, limit: int) -> dict[str, Any] | None:
    match page:
        case {"content": str(content), "offset": int(offset)} if content:
            # Half as long at most in one go: what is escaped in JSON counts more than once.
            keep = max(len(content) - (size - limit) - 20, len(content) // 2)
            return {**page, "content": content[:keep], "next_offset": offset + keep}
        case {"matches": [*matches]} if matches:
            return {**page, "matches": matches[:-1], "next_offset": matches[-1]["offset"]}
        case _:
            return None
