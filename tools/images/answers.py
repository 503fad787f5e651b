"""Answers of tools that are, or hold, images: taken out, with words in their place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tools.answers import tool_error, tool_result
from tools.images.picture import Picture, UnusableImage, decoded
from tools.images.preparing import MOST_SOURCE_BYTES, prepared
from tools.images.values import drawn, is_drawable

ENVELOPE = "_multimodal"
"""Marks answers of Hermes Agent that hold parts: ``{"_multimodal": true, "content": [...]}``."""
BEGINS = '"data:image/'
LEAST_CHARS = 400
"""A shorter text is left as it is: an icon, or an example."""
MOST_DEPTH = 6
CANNOT = "[an image that cannot be sent: {}]"

Show = Callable[[Picture], object]


def is_picture(answer: object) -> bool:
    """Is it an image, or an answer that says it holds some?"""
    return is_drawable(answer) or (isinstance(answer, Mapping) and bool(answer.get(ENVELOPE)))


def as_text(answer: Any, show: Show) -> str:
    """The text of such an answer; ``show`` gets its images."""
    if isinstance(answer, Mapping):
        parts = answer.get("content")
        texts = (
            [_text(part, show) for part in parts if isinstance(part, Mapping)]
            if isinstance(parts, list)
            else []
        )
        return "\n".join(filter(None, texts)) or str(answer.get("text_summary") or "")
    try:
        picture = prepared(drawn(answer))
    except UnusableImage as problem:
        return tool_error(str(problem))
    show(picture)
    return tool_result(image=picture.words)


def _text(part: Mapping[str, Any], show: Show) -> str:
    url = part.get("image_url")
    url = url.get("url") if isinstance(url, Mapping) else url
    return _in_words(url, show) if isinstance(url, str) else str(part.get("text") or "")


def without_images(text: str, show: Show) -> str:
    """An answer in JSON without the images that are texts in it (``data:image/png;base64,...``)."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(answer, dict) and answer.get(ENVELOPE):
        return as_text(answer, show)
    return json.dumps(_replaced(answer, show, MOST_DEPTH), ensure_ascii=False)


def _replaced(value: Any, show: Show, depth: int) -> Any:
    match value:
        case str() if value.startswith(BEGINS[1:]) and len(value) >= LEAST_CHARS:
            return _in_words(value, show)
        case list() if depth:
            return [_replaced(each, show, depth - 1) for each in value]
        case dict() if depth:
            return {name: _replaced(each, show, depth - 1) for name, each in value.items()}
    return value


def _in_words(uri: str, show: Show) -> str:
    try:
        picture = prepared(decoded(uri, MOST_SOURCE_BYTES))
    except UnusableImage as problem:
        return CANNOT.format(problem)
    show(picture)
    return picture.words
