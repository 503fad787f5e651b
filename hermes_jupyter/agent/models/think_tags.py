"""Tells thoughts from answer where a server leaves ``<think>`` tags in the text."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Literal

from hermes_jupyter.agent.models.base import Delta

_LONE_END = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$", re.MULTILINE)
_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}


class ThinkTagFilter:
    """Splits streamed text into reasoning and text.

    Only tags at the beginning of the answer count: further on, they are more likely what the
    answer is about. The sums of the pieces are the same however the text was cut.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["start", "thought", "answer"] = "start"
        self._closing = ""
        """The tag that ends the thought; kept after it, to know that there was one."""

    def feed(self, text: str) -> Iterator[Delta]:
        """What can be told already."""
        self._held += text
        told = True
        while told:
            match self._state:
                case "start":
                    told = self._begin()
                case "thought":
                    told = yield from self._think()
                case "answer":
                    told = yield from self._release("text")

    def finish(self) -> Iterator[Delta]:
        """What was held back: thoughts that no tag ended, or text."""
        if self._state == "start" and self._closing:
            return  # nothing but white space after the thoughts
        yield from self._release("reasoning" if self._state == "thought" else "text")

    def _begin(self) -> bool:
        start = self._held.lstrip()
        for opening, closing in _TAGS.items():
            if start.startswith(opening):
                self._held, self._closing, self._state = start[len(opening) :], closing, "thought"
                return True
        if any(opening.startswith(start) for opening in _TAGS):
            return False
        self._held = start if self._closing else self._held
        self._state = "answer"
        return True

    def _think(self) -> Generator[Delta, None, bool]:
        thought, closed, rest = self._held.partition(self._closing)
        if closed:
            self._held, self._state = rest, "start"
        else:
            cut = len(thought) - overlap(thought, self._closing)
            thought, self._held = thought[:cut], thought[cut:]
        if thought:
            yield Delta("reasoning", thought)
        return bool(closed)

    def _release(self, kind: Literal["text", "reasoning"]) -> Generator[Delta, None, bool]:
        held, self._held = self._held, ""
        if held:
            yield Delta(kind, held)
        return False


def parted(text: str) -> tuple[str, str]:
    """Thoughts and answer of a text in which only the end of the thoughts is marked.

    Some templates open the tag themselves, so the model writes no more than the closing one. It
    counts if it stands alone on its line.
    """
    found = _LONE_END.search(text)
    if found is None or any(opening in text[: found.start()] for opening in _TAGS):
        return "", text
    return text[: found.start()].strip(), text[found.end() :].lstrip()


def overlap(text: str, marker: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``marker``."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if marker.startswith(text[-size:])), 0)
