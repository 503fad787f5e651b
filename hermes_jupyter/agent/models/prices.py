"""What a model call costs, and who says so. Without a source there is no price."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.agent.models.providers import CUSTOM, Provider
from hermes_jupyter.calls import Usage

DATE = "2026-08"
MILLION = 1_000_000
_LISTED = f"list prices of {DATE}"
_TABLE: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "openai": {
        "gpt-5.4": (2.5, 0.25, 15.0),
        "gpt-5.4-mini": (0.75, 0.075, 4.5),
        "gpt-5.4-nano": (0.2, 0.02, 1.25),
        "gpt-5.3-codex": (1.75, 0.175, 14.0),
        "gpt-5.2": (1.75, 0.175, 14.0),
        "gpt-5.1": (1.25, 0.125, 10.0),
        "gpt-5": (1.25, 0.125, 10.0),
        "gpt-5-mini": (0.25, 0.025, 2.0),
        "gpt-5-nano": (0.05, 0.005, 0.4),
        "gpt-4.1": (2.0, 0.5, 8.0),
        "gpt-4.1-mini": (0.4, 0.1, 1.6),
        "gpt-4.1-nano": (0.1, 0.025, 0.4),
        "gpt-4o": (2.5, 1.25, 10.0),
        "gpt-4o-mini": (0.15, 0.075, 0.6),
    },
    "anthropic": {
        "claude-opus-4-8": (5.0, 0.5, 25.0),
        "claude-opus-4-7": (5.0, 0.5, 25.0),
        "claude-opus-4-6": (5.0, 0.5, 25.0),
        "claude-opus-4-5": (5.0, 0.5, 25.0),
        "claude-sonnet-4-6": (3.0, 0.3, 15.0),
        "claude-haiku-4-5": (1.0, 0.1, 5.0),
    },
    "gemini": {
        "gemini-2.5-flash": (0.3, 0.03, 2.5),
        "gemini-2.5-flash-lite": (0.1, 0.01, 0.4),
        "gemini-3.1-flash-lite": (0.25, 0.025, 1.5),
    },
}
"""Dollars for a million tokens: read, read from the cache, written. At the provider itself."""
_DATED = re.compile(r"(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens, and where that stands."""

    read: float
    cached: float
    written: float
    source: str

    def of(self, usage: Usage) -> float:
        """Dollars for these tokens."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        read = (usage.prompt_tokens - cached) * self.read + cached * self.cached
        return (read + usage.completion_tokens * self.written) / MILLION


FREE = Price(read=0.0, cached=0.0, written=0.0, source="")


def price_of(model: str, provider: Provider, told: Mapping[str, Any]) -> Price | None:
    """The price of a model: as the user says, or as the table does; None if it is not known.

    Parameters
    ----------
    told
        The user's prices: model to ``{input, output, cached_input}``, for a million tokens.
    """
    if (said := told.get(model)) is not None:
        return _read(said, "your own prices", 1.0)
    if provider.is_local and provider.name != CUSTOM.name:  # that may be a proxy to anyone
        return FREE
    table = _TABLE.get(provider.name, {})
    name = model.removeprefix("models/")
    numbers = table.get(name) or table.get(_DATED.sub("", name))
    if numbers is None:
        return None
    read, cached, written = numbers
    return Price(read=read, cached=cached, written=written, source=_LISTED)


def listed_price(entry: Mapping[str, Any], host: str) -> Price | None:
    """The price in a model's entry in a list of models (OpenRouter: dollars for one token)."""
    pricing = entry.get("pricing")
    if not isinstance(pricing, Mapping):
        return None
    said = {
        "input": pricing.get("prompt"),
        "output": pricing.get("completion"),
        "cached_input": pricing.get("input_cache_read"),
    }
    return _read(said, f"prices that {host} lists", float(MILLION))


def priced(usage: Usage, price: Price | None, reported: float | None, host: str) -> Usage:
    """The tokens of a call with their cost: as its provider reported it, or by its price."""
    if reported is not None:
        return replace(usage, cost=reported, price_source=f"as {host} reports it")
    if price is None:
        return replace(usage, unpriced_calls=usage.model_calls)
    return replace(usage, cost=price.of(usage), price_source=price.source)


def _read(said: Any, source: str, factor: float) -> Price | None:
    """A price from texts or numbers; None unless both directions are there and make sense."""
    if not isinstance(said, Mapping):
        return None
    read, written = _amount(said.get("input")), _amount(said.get("output"))
    if read is None or written is None:
        return None
    cached = _amount(said.get("cached_input"))
    return Price(
        read=read * factor,
        cached=(read if cached is None else cached) * factor,
        written=written * factor,
        source=source,
    )


def _amount(said: Any) -> float | None:
    try:
        amount = float(said)
    except (TypeError, ValueError):
        return None
    return amount if 0 <= amount < float("inf") else None
