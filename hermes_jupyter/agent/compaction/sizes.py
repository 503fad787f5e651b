"""How many tokens messages are, as far as that can be known without the model's own vocabulary."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CHARS_PER_TOKEN = 4.0
TOKENS_PER_MESSAGE = 4
NOT_LATIN = re.compile(r"[^\x00-\u024f]")
TOKENS_PER_IMAGE = 1_000
"""Of one whose size is not known."""
PIXELS_PER_TOKEN = 750.0
LEAST_PER_IMAGE = 85.0


def weight_of(message: Mapping[str, Any]) -> float:
    """Tokens by rule of thumb: four characters each, or one beyond Latin letters."""
    weight = float(TOKENS_PER_MESSAGE)
    content = message.get("content")
    if isinstance(content, list):  # text and images
        for part in content:
            is_text = isinstance(part, dict) and part.get("type") == "text"
            weight += _of_text(str(part["text"])) if is_text else 0.0
        weight += _of_images(message, content)
    else:
        weight += _of_text(str(content or ""))
    if calls := message.get("tool_calls"):
        weight += _of_text(json.dumps(calls, ensure_ascii=False))
    return weight


def _of_images(message: Mapping[str, Any], content: list[Any]) -> float:
    """By their size in pixels where that is known, as the providers count."""
    known = message.get("pictures") or ()
    others = sum(isinstance(p, dict) and p.get("type") != "text" for p in content) - len(known)
    sizes = [float(each["width"] * each["height"]) / PIXELS_PER_TOKEN for each in known]
    mine = sum(max(LEAST_PER_IMAGE, size) for size in sizes)
    return mine + float(max(0, others) * TOKENS_PER_IMAGE)


def weight_of_all(messages: Iterable[Mapping[str, Any]], tools: Sequence[Any] = ()) -> float:
    total = sum(map(weight_of, messages))
    return total + (_of_text(json.dumps(tools)) if tools else 0.0)


def _of_text(text: str) -> float:
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN
    foreign = len(NOT_LATIN.findall(text))
    return (len(text) - foreign) / CHARS_PER_TOKEN + foreign


class Gauge:
    """Tokens of messages, set right by what the provider counts."""

    def __init__(self) -> None:
        self._ratio = 1.0

    def learn(
        self, counted: int, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = ()
    ) -> None:
        """The provider counted so many tokens in a prompt of these messages and tools."""
        weight = weight_of_all(messages, tools)
        if counted > 0 and weight > 0:
            self._ratio = min(4.0, max(0.25, counted / weight))

    def tokens(self, messages: Iterable[Mapping[str, Any]], tools: Sequence[Any] = ()) -> int:
        return int(weight_of_all(messages, tools) * self._ratio)
