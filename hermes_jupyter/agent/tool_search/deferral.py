"""Which tools a model is shown, when all of them would take too much of its window."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT_WINDOW = 128_000
"""Tokens, if the model does not say how many it takes."""
BYTES_PER_TOKEN = 4
BRIDGE_TOOLS = 3
BRIDGE_TOKENS = 500
"""The most that the definitions of ``tool_search`` and its two sisters take."""
LEAST_RESIDENT = 8
EVERYDAY = ("terminal", "read_file", "write_file", "patch", "search_files", "clarify", "todo",
            "read_result")  # fmt: skip
"""Of the tools that were never used, these are deferred last."""

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much room there is for tools."""

    window: int = 0
    """What the model takes, in tokens; 0 if that is not known."""
    share: float = 10.0
    """Percent of the window that definitions may take; 0 defers nothing at all."""
    tool_limit: int = 128
    """How many definitions the provider takes; 0 for any number."""

    @property
    def tokens(self) -> float:
        return (self.window or DEFAULT_WINDOW) * self.share / 100

    @property
    def tools(self) -> float:
        return self.tool_limit or float("inf")

    def hold(self, definitions: Sequence[Definition], chosen: frozenset[str]) -> bool:
        """Whether there is room for the chosen ones, and for the bridge to the others."""
        taken = [tokens_of(each) for each in definitions if each["function"]["name"] in chosen]
        bridge = BRIDGE_TOKENS if len(taken) < len(definitions) else 0
        return sum(taken) + bridge <= self.tokens


def tokens_of(definition: Definition) -> int:
    """About how many tokens a definition takes, whatever script it is written in."""
    text = json.dumps(definition, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN + 1


def residents(
    definitions: Sequence[Definition],
    limits: Limits,
    used: Mapping[str, int],
    before: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """Names of the tools to show. All of them, unless that is too much and less would help.

    Parameters
    ----------
    used
        How often each tool was called so far. The least used are deferred first.
    before
        What the model was shown until now: kept as far as there is room, since a request that
        begins as the last one did costs less.
    """
    sizes = {each["function"]["name"]: tokens_of(each) for each in definitions}
    everything = frozenset(sizes)
    if limits.share <= 0 or len(sizes) <= LEAST_RESIDENT:
        return everything
    is_long, is_many = sum(sizes.values()) > limits.tokens, len(sizes) > limits.tools
    if not (is_long or is_many):
        return everything
    order = sorted(
        sizes, key=lambda name: (name not in before, -used.get(name, 0), _rank(name), name)
    )
    kept = _kept({name: sizes[name] for name in order}, limits)
    saved = sum(sizes[name] for name in everything - kept)
    return kept if is_many or saved > BRIDGE_TOKENS else everything


def _kept(sizes: Mapping[str, int], limits: Limits) -> frozenset[str]:
    """As many as there is room for, the first first."""
    room = limits.tokens - BRIDGE_TOKENS
    places = limits.tools - BRIDGE_TOOLS
    kept: set[str] = set()
    for name, size in sizes.items():
        if len(kept) < LEAST_RESIDENT or (size <= room and len(kept) < places):
            kept.add(name)
            room -= size
    return frozenset(kept)


def _rank(name: str) -> int:
    return EVERYDAY.index(name) if name in EVERYDAY else len(EVERYDAY)
