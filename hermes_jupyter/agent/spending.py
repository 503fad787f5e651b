"""Ceilings for the tokens and the money of a turn, checked before the call that would pass them.

What a call will read is estimated from what the last one read and what came since; what it may
write is bounded in the request. So a ceiling is kept, and not noticed afterwards.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.agent.pictures import tokens_at_most, without_bytes
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


@dataclass(slots=True, eq=False)
class Spending:
    """What a turn has taken so far, and what it may still take.

    Agents that work for the turn's own have a part in it (see `part`): what they take counts, and
    what they are about to take is not given to another one.
    """

    ceilings: Ceilings = field(default_factory=Ceilings)
    spent: Usage = field(default_factory=Usage)
    _of: Spending | None = None
    """That of the agent that this one works for."""
    _parts: list[Spending] = field(default_factory=list)
    _kept: int = 0
    """Tokens that the agent needs to read what others report."""
    _held: Usage = field(default_factory=Usage)
    """What the call that is being made may come to."""
    _seen: int = 0
    """Messages of which the last call has told the tokens."""
    _read: int = 0
    _cached: int = 0
    _at: float = 0.0

    def add(self, usage: Usage, messages: Sequence[Message] = ()) -> None:
        """Count a call, and remember what its messages came to."""
        self.spent += usage
        if self._of is not None:
            self._of.add(usage)
        if messages:
            self._held = Usage()
        if messages and usage.prompt_tokens:
            self._seen, self._read = len(messages), usage.prompt_tokens
            self._cached, self._at = usage.cached_tokens, time.monotonic()

    @contextmanager
    def part(self) -> Iterator[Spending]:
        """For an agent that works in the block: the same ceilings, and its own account."""
        part = Spending(self.ceilings, _of=self)
        self._parts.append(part)
        try:
            yield part
        finally:
            self._parts.remove(part)

    @contextmanager
    def keeping(self, tokens: int) -> Iterator[None]:
        """In the block, parts leave this much for the agent itself; a quarter of all at most."""
        kept = min(tokens, self.ceilings.max_tokens // 4)
        self._kept += kept
        try:
            yield
        finally:
            self._kept -= kept

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
        self._held = Usage()
        prompt = self.expected(messages, tools)
        reserve = 0 if is_last else prompt + SUMMARY
        top, sharers = self._top, self._sharers()
        taken = top.spent + top.all_held()
        limits = [UNBOUNDED]
        if self.ceilings.max_tokens:
            left = self.ceilings.max_tokens - taken.tokens - self._kept_back() - prompt - reserve
            limits.append(left // sharers)
        if self.ceilings.max_cost and price is not None:
            payable = self._payable(prompt, price, taken.cost, is_last=is_last)
            limits.append(payable if payable >= UNBOUNDED else payable // sharers)
        limit = min(limits)
        if limit < MIN_ANSWER:
            return 0
        held = Usage(prompt_tokens=prompt, completion_tokens=limit)
        self._held = replace(held, cost=price.of(held) if price is not None else 0.0)
        return limit

    @property
    def _top(self) -> Spending:
        return self if self._of is None else self._of._top

    def all_held(self) -> Usage:
        """What all calls that are being made may come to."""
        return sum((part.all_held() for part in self._parts), self._held)

    def _sharers(self) -> int:
        """How many agents may be about to make a call beside this one, itself included."""
        return 1 if self._of is None else max(1, len(self._of._parts)) * self._of._sharers()

    def _kept_back(self) -> int:
        """Tokens for the last words of those that this agent works for."""
        of = self._of
        return 0 if of is None else of._kept_back() + of._read + SUMMARY + of._kept

    def expected(self, messages: Sequence[Message], tools: Sequence[Any]) -> int:
        """Tokens that a call with these messages will read, rather too many than too few."""
        if self._read and self._seen <= len(messages):
            return self._read + _tokens_of(messages[self._seen :])
        return _tokens_of(messages) + _tokens_in(tools)

    def passed(self) -> str:
        """Which ceiling the next call would pass, for a person."""
        limits, spent = [], self._top.spent
        if self.ceilings.max_tokens:
            limits.append(f"{spent.tokens:,} of {self.ceilings.max_tokens:,} tokens")
        if self.ceilings.max_cost:
            limits.append(f"${spent.cost:.4f} of ${self.ceilings.max_cost:g}")
        return f"the next call could pass the ceiling ({' and '.join(limits)} used)"

    def _payable(self, prompt: int, price: Price, taken: float, *, is_last: bool) -> int:
        """Tokens of an answer for which there is money."""
        fresh = time.monotonic() - self._at < CACHE_SECONDS
        usage = Usage(prompt_tokens=prompt, cached_tokens=self._cached if fresh else 0)
        summary = Usage(prompt_tokens=prompt + SUMMARY, completion_tokens=SUMMARY)
        back = self._kept_back()
        left = self.ceilings.max_cost - taken - price.of(usage)
        left -= 0.0 if is_last else price.of(summary)
        left -= price.of(Usage(prompt_tokens=back, completion_tokens=SUMMARY)) if back else 0.0
        if left < 0:
            return 0
        return int(left / price.written * 1_000_000) if price.written else UNBOUNDED


def _tokens_of(messages: Sequence[Message]) -> int:
    return sum(map(tokens_at_most, messages)) + _tokens_in([*map(without_bytes, messages)])


def _tokens_in(values: Sequence[Any]) -> int:
    return sum(len(json.dumps(value, default=str)) for value in values) // CHARS_PER_TOKEN
