"""``tool_search``, ``tool_describe``, ``tool_call``: the way to tools that a model is not shown."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.agent.tool_search.index import ToolIndex, ToolText
from tools.catalog import Catalog
from tools.entry import ToolEntry
from tools.registry import tool_error, tool_result

TOOLSET = "tool_search"
TOOL_SEARCH, TOOL_DESCRIBE, TOOL_CALL = NAMES = ("tool_search", "tool_describe", "tool_call")
DEFAULT_MATCHES = 5
MAX_MATCHES = 20
MAX_DESCRIPTION_CHARS = 400
MAX_KINDS = 12
MAX_KIND_CHARS = 40
MAX_NAME_CHARS = 100

NOT_A_TOOL = (
    f"{TOOL_CALL} runs one of the other tools and takes its name and its arguments: "
    '{"name": "...", "arguments": {...}}'
)


class Finder:
    """Searches the tools of one view. The index is made at the first search, in a tool thread."""

    def __init__(self, tools: Sequence[ToolEntry]) -> None:
        self.tools = tools
        self._by_name = {entry.name: entry for entry in tools}
        self._lock = threading.Lock()  # guards the index
        self._index: ToolIndex | None = None

    def index(self) -> ToolIndex:
        with self._lock:
            if self._index is None:
                self._index = ToolIndex(map(_text_of, self.tools))
            return self._index

    def within(self, tools: Catalog | None) -> Finder:
        """For a child of the agent, whose view has fewer tools: it finds no others."""
        names = tools.get_all_tool_names() if tools else ()
        if tools is None or self._by_name.keys() | NAMES == {*names, *NAMES}:
            return self
        return Finder([entry for entry in tools.entries() if entry.toolset != TOOLSET])

    def search(self, args: Mapping[str, Any]) -> str:
        query = str(args.get("query", ""))
        limit = min(max(int(args.get("limit", DEFAULT_MATCHES)), 1), MAX_MATCHES)
        matches = [
            {
                "name": tool.name,
                "source": tool.source,
                "description": _cut(tool.description, MAX_DESCRIPTION_CHARS),
            }
            for tool in self.index().search(query, limit)
        ]
        shown = _cut(query, MAX_DESCRIPTION_CHARS)
        about = {"query": shown, "total_available": len(self.tools), "matches": matches}
        if not matches:
            about["hint"] = f"Nothing matches. Try other words. There are: {kinds(self.tools)}."
        return tool_result(about)

    def describe(self, args: Mapping[str, Any]) -> str:
        asked = str(args.get("name", ""))
        name = resolve_name(asked, self._by_name.keys())
        if name is None:
            near = [tool.name for tool in self.index().search(asked, 3)]
            hint = f" Did you mean {' or '.join(near)}?" if near else f" Use {TOOL_SEARCH}."
            return tool_error(f"There is no tool {asked[:MAX_NAME_CHARS]!r}.{hint}")
        schema = self._by_name[name].definition()["function"]
        return tool_result(
            name=name, description=schema["description"], parameters=schema["parameters"]
        )


def bridge(finder: Finder, deferred: Sequence[ToolEntry]) -> list[ToolEntry]:
    """The three tools, for a model that does not see the ``deferred`` ones."""
    search = (
        f"Find tools that are not listed here: {len(deferred)} more can be used, of "
        f"{kinds(deferred)}. Look here before you say that something cannot be done. "
        f"Then read the parameters with {TOOL_DESCRIBE} and run the tool with {TOOL_CALL}."
    )
    return [
        _reading(
            TOOL_SEARCH,
            search,
            lambda args, tools=None, **_: finder.within(tools).search(args),
            {
                "query": _string("A few words on what the tool should do."),
                "limit": {"type": "integer", "description": "Matches to return, 20 at most. "
                          "Default 5."},
            },
            "query",
        ),
        _reading(
            TOOL_DESCRIBE,
            f"Get the description and the parameters of a tool that {TOOL_SEARCH} has found.",
            lambda args, tools=None, **_: finder.within(tools).describe(args),
            {"name": _string("Its name.")},
            "name",
        ),
        ToolEntry(
            name=TOOL_CALL,
            toolset=TOOLSET,
            schema={
                "description": f"Run a tool that {TOOL_SEARCH} has found. Returns what that tool "
                "returns.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "name": _string("Its name."),
                        "arguments": {
                            "type": "object",
                            "description": f"Its arguments, as {TOOL_DESCRIBE} tells them.",
                        },
                    },
                    "required": ["name", "arguments"],
                },
            },
            handler=lambda args, **_: tool_error(NOT_A_TOOL),  # unwrapped before it comes so far
            effects="read",
            resources=_nothing,
            emoji="🧰",
        ),
    ]  # fmt: skip


def kinds(tools: Sequence[ToolEntry]) -> str:
    """The toolsets that tools belong to, with their numbers, the largest first."""
    counts = Counter(_cut(entry.toolset, MAX_KIND_CHARS) for entry in tools).most_common()
    named = [f"{toolset} ({count})" for toolset, count in counts[:MAX_KINDS]]
    if len(counts) > MAX_KINDS:
        named.append(f"{len(counts) - MAX_KINDS} other kinds")
    return ", ".join(named)


def _reading(
    name: str, description: str, handler: Any, properties: dict[str, Any], required: str
) -> ToolEntry:
    parameters = {"type": "object", "properties": properties, "required": [required]}
    return ToolEntry(
        name=name,
        toolset=TOOLSET,
        schema={"description": description, "parameters": parameters},
        handler=handler,
        effects="read",
        resources=_nothing,
        emoji="🔎",
    )


def _string(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _nothing(args: Mapping[str, Any]) -> Sequence[str]:
    return ()


def _text_of(entry: ToolEntry) -> ToolText:
    return ToolText(
        name=entry.name,
        source=entry.toolset,
        description=str(entry.schema["description"]),
        parameters=entry.schema["parameters"],
    )


def _cut(text: str, chars: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= chars else text[: chars - 1] + "…"
