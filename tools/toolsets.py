"""Named sets of tools, and which tools a choice of them comes to.

A toolset is what `TOOLSETS` says, and every tool registered under its name: the user's
``toolset="database"`` needs no entry here. The name of a single tool may stand wherever the
name of a toolset may.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from tools.catalog import Catalog
from tools.known_toolsets import FORMER, KNOWN, PLATFORMS, Toolset
from tools.registry import registry

__all__ = [
    "DEFAULT",
    "FORMER",
    "KNOWN",
    "PLATFORMS",
    "TOOLSETS",
    "Toolset",
    "UnknownToolset",
    "absent",
    "resolve_toolset",
    "resolve_toolsets",
    "toolset_names",
]

TOOLSETS: dict[str, Toolset] = {
    "terminal": Toolset("Run commands, and look after those that go on.", ("terminal", "process")),
    "file": Toolset(
        "Read, write and search files.", ("patch", "read_file", "search_files", "write_file")
    ),
    "todo": Toolset("Keep a list of what is to be done.", ("todo",)),
    "clarify": Toolset("Ask the person.", ("clarify",)),
    "memory": Toolset("Remember across sessions.", ("memory",)),
    "skills": Toolset("Read and write skills.", ("skill_manage", "skill_view", "skills_list")),
    "read-only": Toolset("Look at files, change nothing.", ("read_file", "search_files")),
    "safe": Toolset(
        "Look, plan and ask, change nothing.", includes=("read-only", "todo", "clarify")
    ),
    "results": Toolset("Read on in answers that were too long.", ("read_result",)),
    "session_search": Toolset("Look into earlier conversations.", ("session_search",)),
    "variables": Toolset(
        "Work on the variables in the notebook's kernel.",
        ("inspect_variable", "list_variables", "run_python", "save_variable"),
    ),
    "cells": Toolset(
        "Read, change and run the cells of the notebook.",
        ("delete_cell", "edit_cell", "insert_cell", "move_cell", "read_cells", "run_cell"),
    ),
    "code_execution": Toolset("Run Python that calls tools.", ("execute_code",)),
    "delegation": Toolset("Give work to other agents.", ("delegate_task",)),
    "vision": Toolset("Look at images.", ("vision_analyze",)),
    "moa": Toolset("Ask several models at once.", ("mixture_of_agents",)),
    "small": Toolset(
        "For small models, which more tools confuse.",
        ("patch", "read_file", "search_files", "terminal", "write_file"),
    ),
    "notebook": Toolset(
        "What an agent in a notebook has by default.",
        includes=(
            "file",
            "terminal",
            "todo",
            "clarify",
            "results",
            "memory",
            "skills",
            "session_search",
            "variables",
            "cells",
            "code_execution",
            "delegation",
            "moa",
            "vision",
        ),
    ),
    "headless": Toolset(
        "The same where nobody can be asked.", includes=("notebook",), without=("clarify",)
    ),
    "subagent": Toolset(
        "What an agent has that works for another one.",
        includes=("notebook",),
        without=("delegation", "clarify", "memory", "cronjob", "messaging", "variables", "cells"),
    ),
}
DEFAULT = "notebook"
EVERYTHING = frozenset({"all", "*"})


class UnknownToolset(ValueError):
    """No toolset and no tool has this name. The message says which names there are."""

    def __init__(self, name: str, tools: Catalog = registry) -> None:
        known = toolset_names(tools)
        near = difflib.get_close_matches(name, [*known, *KNOWN, *_tool_names(tools)], n=3)
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        super().__init__(
            f"No toolset or tool is named {name!r}.{meant} Toolsets: {', '.join(known)}."
        )
        self.name = name


def toolset_names(tools: Catalog = registry) -> list[str]:
    """All toolsets there are now, those by registration included."""
    return sorted({*TOOLSETS, *tools.get_registered_toolset_names()})


def resolve_toolset(name: str, tools: Catalog = registry) -> frozenset[str]:
    """Names of the tools of a toolset, of ``all``, or of a single tool.

    Parameters
    ----------
    tools
        Where tools are registered: of the process, or what a session sees.

    Raises
    ------
    UnknownToolset
        If there is none of this name.
    """
    if name in EVERYTHING:
        return _tool_names(tools)
    if name in toolset_names(tools):
        return _gather(name, tools, set())
    if name in _tool_names(tools):
        return frozenset({name})
    name = FORMER.get(name) or PLATFORMS.get(name, name)
    if name in KNOWN or name in TOOLSETS:
        return _gather(name, tools, set())
    if any(name in toolset.tools for toolset in KNOWN.values()):
        return frozenset()
    raise UnknownToolset(name, tools)


def resolve_toolsets(
    enabled: Iterable[str] | None = None,
    disabled: Iterable[str] | None = None,
    *,
    default: str = DEFAULT,
    tools: Catalog = registry,
) -> frozenset[str]:
    """Names of all tools of the enabled toolsets, without any tool of a disabled one.

    Parameters
    ----------
    enabled
        None stands for the default. That, and the defaults of Hermes Agent such as
        ``hermes-cli``, bring all that is registered outside of the toolsets known by name, too.
    disabled
        Always wins, whichever enabled toolsets the tool also belongs to.
    default
        The toolset to offer if none is named: ``notebook``, ``headless`` where nobody can be
        asked, ``subagent``, or ``small`` for a small model.
    tools
        Where tools are registered: of the process, or what a session sees.

    Raises
    ------
    UnknownToolset
        For a name that is neither a toolset nor a tool.
    """
    names = [default] if enabled is None else _names(enabled)
    defaults = {default} if enabled is None else {*PLATFORMS} & {*names}
    found = _union(names, tools).union(*(_own(PLATFORMS.get(d, d), tools) for d in defaults))
    return found - _union(_names(disabled or ()), tools)


def absent(names: Iterable[str], tools: Catalog = registry) -> list[str]:
    """Those of ``names`` that are understood, and of which no tool is here."""
    there = frozenset(tools.get_all_tool_names())
    return [name for name in names if not resolve_toolset(name, tools) & there]


def _own(default: str, tools: Catalog) -> frozenset[str]:
    """What the user has added, as far as it may stand beside this default."""
    registered = tools.get_registered_toolset_names()
    own = _union([name for name in registered if name not in TOOLSETS], tools)
    return own - _union(TOOLSETS[default].without, tools)


def _names(names: Iterable[str]) -> list[str]:
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


def _union(names: Iterable[str], tools: Catalog) -> frozenset[str]:
    return frozenset[str]().union(*(resolve_toolset(name, tools) for name in names))


def _gather(name: str, tools: Catalog, visited: set[str]) -> frozenset[str]:
    """Tools of a toolset and all it includes; ``visited`` ends circles."""
    if name in visited:
        return frozenset()
    visited.add(name)
    here = TOOLSETS.get(name)
    toolset = here or KNOWN.get(name, Toolset(""))
    named = [tool for tool in toolset.tools if here or tools.get_entry(tool)]
    left_out = [_gather(other, tools, {*visited}) for other in toolset.without]
    included = [_gather(other, tools, visited) for other in toolset.includes]
    registered = tools.get_tool_names_for_toolset(name)
    return frozenset({*named, *registered}).union(*included).difference(*left_out)


def _tool_names(tools: Catalog) -> frozenset[str]:
    """All tools, registered or only named in a toolset of this module."""
    named = {tool for toolset in TOOLSETS.values() for tool in toolset.tools}
    return frozenset({*named, *tools.get_all_tool_names()})
