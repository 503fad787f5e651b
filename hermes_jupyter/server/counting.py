"""Counts the tokens of an answer while it passes, without holding it back or keeping it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.calls import Usage
from hermes_jupyter.server.ledger import Took

MAX_LINE_BYTES = 16 << 20
"""Of a line that may say what was used; a longer one is counted by its size."""
BYTES_OF_TOKEN = 4
MOST_GUESSED = 50_000
"""Tokens that a request is taken for before it is known: much of a large one is pictures."""
TOKENS_OF_SECOND = 50
"""That a model writes, seen or not, until somebody leaves who does not wait for the answer."""


def guess(body: bytes, written: int, price: Price | None) -> Took:
    """What a request may take, before it is known; ``written`` tokens of it for the answer."""
    read = min(len(body) // BYTES_OF_TOKEN, MOST_GUESSED)
    return _took(Usage(prompt_tokens=read, completion_tokens=written), price)


class Counter:
    """Hears the blocks of one answer."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._usage: Mapping[str, Any] | None = None
        self._frames = 0
        self._size = 0

    def add(self, block: bytes) -> None:
        self._size += len(block)
        *whole, rest = block.split(b"\n")
        for line in whole:
            self._read(bytes(self._line) + line)
            self._line.clear()
        if len(self._line) < MAX_LINE_BYTES:
            self._line += rest

    def took(self, guessed: Took, price: Price | None, cut_after: float | None = None) -> Took:
        """What the answer took: as it says itself, else by its size.

        Parameters
        ----------
        guessed
            What the request was taken for.
        cut_after
            After so many seconds the kernel left; None if it waited for the end.
        """
        self._read(bytes(self._line))
        said = self._usage
        if said is None:
            if not self._size and cut_after is None:  # it has failed
                return Took(calls=1)
            written = self._frames or self._size // BYTES_OF_TOKEN
            written = max(written, int((cut_after or 0.0) * TOKENS_OF_SECOND))
            return _took(Usage(prompt_tokens=guessed.read, completion_tokens=written), price)
        cached = _cached(said)
        usage = Usage(
            prompt_tokens=_count(said, "prompt_tokens", "input_tokens"),
            completion_tokens=_count(said, "completion_tokens", "output_tokens"),
            cached_tokens=cached,
        )
        reported = said.get("cost")
        took = _took(usage, price)
        if isinstance(reported, int | float) and reported >= 0:
            return Took(calls=1, read=took.read, written=took.written, cost=float(reported))
        return took

    def _read(self, line: bytes) -> None:
        line = line.removeprefix(b"data:").strip()
        if line.startswith(b"{"):
            self._frames += 1
        if b'"usage"' not in line:  # most lines: they are not parsed
            return
        try:
            told = json.loads(line)
        except ValueError:
            return
        inner = told.get("response") if isinstance(told, dict) else None
        for each in (told, inner):
            if isinstance(each, dict) and isinstance(each.get("usage"), dict):
                self._usage = each["usage"]


def _took(usage: Usage, price: Price | None) -> Took:
    return Took(
        calls=1,
        read=usage.prompt_tokens,
        written=usage.completion_tokens,
        cost=price.of(usage) if price else 0.0,
        unpriced_calls=0 if price else 1,
    )


def _count(said: Mapping[str, Any], *names: str) -> int:
    found = next((said[name] for name in names if type(said.get(name)) is int), 0)
    return max(0, int(found))


def _cached(said: Mapping[str, Any]) -> int:
    details = said.get("prompt_tokens_details") or said.get("input_tokens_details")
    return _count(details, "cached_tokens") if isinstance(details, dict) else 0
