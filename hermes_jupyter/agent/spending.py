"""Ceilings for the tokens and the money of a turn, checked before the call that would pass them.

What a call will read is estimated from what the last one read and what came since; what it may
write is bounded in the request. So a ceiling is kept, and not noticed afterwards.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.calls import Usage

CHARS_PER_TOKEN = 3
"""Less than most tokenizers need for English, and about right for code."""
MIN_ANSWER = 256
"""A call that may write less is not worth making."""
SUMMARY = 600
"""Tokens kept back for the answer that says where things stand."""
UNBOUNDED = 32_000
"""More than an answer has: then the request need not say so."""
CACHE_SECONDS = 240.0
"""So long what a provider read from its cache will be there again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Of one turn; 0 for none."""

    max_tokens: int = 0
    max_cost: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.max_tokens or self.max_cost)


@dataclass(slots=True)
class Spending:
    """What a turn has taken so far, and what it may still take."""

    ceilings: Ceilings = field(default_factory=Ceilings)
    spent: Usage = field(default_factory=Usage)
    _seen: int = 0
    """Messages of which the last call has told the tokens."""
    _read: int = 0
    _cached: int = 0
    _at: float = 0.0

    def add(self, usage: Usage, messages: Sequence[Message] = ()) -> None:
        """Count a call, and remember what its messages came to."""
        self.spent += usage
        if messages and usage.prompt_tokens:
            self._seen, self._read = len(messages), usage.prompt_tokens
            self._cached, self._at = usage.cached_tokens, time.monotonic()

    def answer_limit(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any],
        price: Price | None,
        *,
        is_last: bool = False,
    ) -> int:
        """Tokens that the answer to these messages may have; 0 if the call must not be made.

        Parameters
        ----------
        is_last
            Is it the summary? For that something is kept back from every other call.
        """
        if not self.ceilings:
            return UNBOUNDED
        prompt = self.expected(messages, tools)
        reserve = 0 if is_last else prompt + SUMMARY
        limits = [UNBOUNDED]
        if self.ceilings.max_tokens:
            limits.append(self.ceilings.max_tokens - self.spent.tokens - prompt - reserve)
        if self.ceilings.max_cost and price is not None:
            limits.append(self._payable(prompt, price, is_last=is_last))
        return limit if (limit := min(limits)) >= MIN_ANSWER else 0

    def expected(self, messages: Sequence[Message], tools: Sequence[Any]) -> int:
        """Tokens that a call with these messages will read, rather too many than too few."""
        if self._read and self._seen <= len(messages):
            return self._read + _tokens_in(messages[self._seen :])
        return _tokens_in(messages) + _tokens_in(tools)

    def passed(self) -> str:
        """Which ceiling the next call would pass, for a person."""
        limits = []
        if self.ceilings.max_tokens:
            limits.append(f"{self.spent.tokens:,} of {self.ceilings.max_tokens:,} tokens")
        if self.ceilings.max_cost:
            limits.append(f"${self.spent.cost:.4f} of ${self.ceilings.max_cost:g}")
        return f"the next call could pass the ceiling ({' and '.join(limits)} used)"

    def _payable(self, prompt: int, price: Price, *, is_last: bool) -> int:
        """Tokens of an answer for which there is money."""
        fresh = time.monotonic() - self._at < CACHE_SECONDS
        usage = Usage(prompt_tokens=prompt, cached_tokens=self._cached if fresh else 0)
        summary = Usage(prompt_tokens=prompt + SUMMARY, completion_tokens=SUMMARY)
        left = self.ceilings.max_cost - self.spent.cost - price.of(usage)
        left -= 0.0 if is_last else price.of(summary)
        if left < 0:
            return 0
        return int(left / price.written * 1_000_000) if price.written else UNBOUNDED


def _tokens_in(values: Sequence[Any]) -> int:
    return sum(len(json.dumps(value, default=str)) for value in values) // CHARS_PER_TOKEN
