"""Looking tools up, and calling them by name. The registry and its views have this in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools import dispatching
from tools.answers import tool_error
from tools.entry import DEFAULT_EMOJI, DEFAULT_RESULT_CHARS, ToolEntry


class Catalog:
    """Tools by name."""

    _tools: Mapping[str, ToolEntry]
    generation: int

    def _snapshot(self) -> Mapping[str, ToolEntry]:
        return self._tools

    def get_entry(self, name: str) -> ToolEntry | None:
        return self._tools.get(name)

    def get_schema(self, name: str) -> dict[str, Any] | None:
        entry = self._tools.get(name)
        return entry.schema if entry else None

    def entries(self) -> list[ToolEntry]:
        """A snapshot of all tools, by name."""
        return sorted(self._snapshot().values(), key=lambda entry: entry.name)

    def get_all_tool_names(self) -> list[str]:
        return sorted(self._snapshot())

    def get_tool_names_for_toolset(self, toolset: str) -> list[str]:
        return [entry.name for entry in self.entries() if entry.toolset == toolset]

    def get_registered_toolset_names(self) -> list[str]:
        return sorted({entry.toolset for entry in self._snapshot().values()})

    def get_toolset_for_tool(self, name: str) -> str | None:
        entry = self._tools.get(name)
        return entry.toolset if entry else None

    def get_emoji(self, name: str, default: str = DEFAULT_EMOJI) -> str:
        entry = self._tools.get(name)
        return entry.emoji if entry else default

    def get_max_result_size(self, name: str, default: int = DEFAULT_RESULT_CHARS) -> int:
        entry = self._tools.get(name)
        return entry.max_result_size_chars if entry else default

    def dispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Run a tool and wait for its answer. Never raises: errors are answers too.

        Works in any thread, whether or not a loop runs in it. Inside a coroutine prefer
        `adispatch`, which does not block the loop.
        """
        entry = self._tools.get(name)
        if entry is None:
            return tool_error(f"Unknown tool: {name}")
        return dispatching.dispatch(entry, args, context)

    async def adispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """The same, awaited: async tools on this loop, others in the shared tool threads."""
        entry = self._tools.get(name)
        if entry is None:
            return tool_error(f"Unknown tool: {name}")
        return await dispatching.adispatch(entry, args, context)
