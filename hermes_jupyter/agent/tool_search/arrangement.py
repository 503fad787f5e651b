"""What the model of a session is shown of the tools, decided once and then kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.agent.tool_search.bridge import NAMES, TOOLSET, Finder, bridge
from hermes_jupyter.agent.tool_search.deferral import Limits, residents
from tools.view import RegistryView

logger = logging.getLogger(__name__)

MAX_CHOICES = 8
"""That are remembered: of turns with other tools in between, such as ``--no-tools``."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The tools of a turn."""

    tools: RegistryView
    """All that may be called, the bridge to the deferred ones included."""
    definitions: Sequence[dict[str, Any]]
    """What the model is told."""


class ToolSearch:
    """Of one session. The choice stays the same from turn to turn, for the server's cache.

    Used by one turn at a time, in a tool thread: the first choice reads every schema.
    """

    def __init__(self) -> None:
        self._choices: dict[tuple[frozenset[str], Limits], frozenset[str]] = {}
        self._finder: Finder | None = None

    def arrange(
        self, tools: RegistryView, limits: Limits, used: Callable[[], Mapping[str, int]]
    ) -> Arrangement:
        """What to show of ``tools``.

        Parameters
        ----------
        used
            Tells how often each tool was called; asked only when the choice is made.
        """
        own = [entry.name for entry in tools.entries() if entry.toolset == TOOLSET]
        tools = tools.restrict(deny=own)  # of the agent that a child has its tools from
        chosen = self._chosen(tools, limits, used)
        if chosen == tools.names:
            return Arrangement(tools, tools.definitions())
        entries = tools.entries()
        if self._finder is None or self._finder.tools != entries:
            self._finder = Finder(entries)
        ways = bridge(self._finder, [entry for entry in entries if entry.name not in chosen])
        shown = [entry for entry in entries if entry.name in chosen] + ways
        merged = {entry.name: entry for entry in entries + ways}
        withheld = tools.withheld - merged.keys()
        view = RegistryView(merged, withheld=withheld, generation=tools.generation)
        return Arrangement(view, [entry.definition() for entry in shown])

    def _chosen(
        self, tools: RegistryView, limits: Limits, used: Callable[[], Mapping[str, int]]
    ) -> frozenset[str]:
        """The choice for these tools and limits, made at their first turn."""
        key = (tools.names, limits)
        if key not in self._choices:
            if len(self._choices) == MAX_CHOICES:
                del self._choices[next(iter(self._choices))]
            self._choices[key] = self._choose(tools, limits, used)
        return self._choices[key]

    def _choose(
        self, tools: RegistryView, limits: Limits, used: Callable[[], Mapping[str, int]]
    ) -> frozenset[str]:
        if taken := tools.names.intersection(NAMES):
            logger.warning("no tool is deferred: there is a tool named %s", ", ".join(taken))
            return tools.names
        unknown = self._choices.get((tools.names, replace(limits, window=0)))
        if unknown is not None and limits.hold(tools.definitions(), unknown):
            return unknown  # the model has said meanwhile how much it takes
        before = frozenset[str]().union(*self._choices.values())
        return residents(tools.definitions(), limits, used(), before)
