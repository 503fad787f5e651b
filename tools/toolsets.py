"""Named sets of tools, and which tools a choice of them comes to.

A toolset is what `TOOLSETS` says, and every tool registered under its name: the user's
``toolset="database"`` needs no entry here. The name of a single tool may stand wherever the
name of a toolset may.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from tools.registry import registry


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools that are switched on and off together."""

    description: str
    tools: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    """Other toolsets that belong to this one."""


TOOLSETS: dict[str, Toolset] = {
    "terminal": Toolset("Run commands, and look after those that go on.", ("terminal", "process")),
    "file": Toolset(
        "Read, write and search files.", ("patch", "read_file", "search_files", "write_file")
    ),
    "todo": Toolset("Keep a list of what is to be done.", ("todo",)),
    "clarify": Toolset("Ask the person.", ("clarify",)),
    "read-only": Toolset("Look at files, change nothing.", ("read_file", "search_files")),
    "safe": Toolset(
        "Look, plan and ask, change nothing.", includes=("read-only", "todo", "clarify")
    ),
    "small": Toolset(
        "For small models, which more tools confuse.",
        ("read_file", "search_files", "terminal", "write_file"),
    ),
    "notebook": Toolset(
        "What an agent in a notebook has by default.",
        includes=("file", "terminal", "todo", "clarify"),
    ),
}
DEFAULT = "notebook"
EVERYTHING = frozenset({"all", "*"})

FORMER_DEFAULT = "hermes-cli"
FORMER_ENDING = "_tools"
"""As older configurations of Hermes Agent have it: ``file_tools`` is ``file`` now."""


class UnknownToolset(ValueError):
    """No toolset and no tool has this name. The message says which names there are."""

    def __init__(self, name: str) -> None:
        known = toolset_names()
        near = difflib.get_close_matches(name, [*known, *_tool_names()], n=3)
        meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        super().__init__(
            f"No toolset or tool is named {name!r}.{meant} Toolsets: {', '.join(known)}."
        )
        self.name = name


def toolset_names() -> list[str]:
    """All toolsets there are now, those by registration included."""
    return sorted({*TOOLSETS, *registry.get_registered_toolset_names()})


def resolve_toolset(name: str) -> frozenset[str]:
    """Names of the tools of a toolset, of ``all``, or of a single tool.

    Raises
    ------
    UnknownToolset
        If there is none of this name.
    """
    if name in EVERYTHING:
        return _tool_names()
    if name in toolset_names():
        return _gather(name, set())
    if name in _tool_names():
        return frozenset({name})
    former = DEFAULT if name == FORMER_DEFAULT else name.removesuffix(FORMER_ENDING)
    if former in toolset_names():
        return _gather(former, set())
    raise UnknownToolset(name)


def resolve_toolsets(
    enabled: Iterable[str] | None = None,
    disabled: Iterable[str] | None = None,
    *,
    default: str = DEFAULT,
) -> frozenset[str]:
    """Names of all tools of the enabled toolsets, without any tool of a disabled one.

    Parameters
    ----------
    enabled
        None stands for the default, and all that is registered outside of the toolsets of this
        module.
    disabled
        Always wins, whichever enabled toolsets the tool also belongs to.
    default
        The toolset to offer if none is named: ``notebook``, or ``small`` for a small model.
    """
    if enabled is None:
        own = (name for name in registry.get_registered_toolset_names() if name not in TOOLSETS)
        enabled = [default, *own]
    return _union(enabled) - _union(disabled or ())


def _union(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    return frozenset[str]().union(*map(resolve_toolset, names))


def _gather(name: str, visited: set[str]) -> frozenset[str]:
    """Tools of a toolset and all it includes; ``visited`` ends circles."""
    if name in visited:
        return frozenset()
    visited.add(name)
    toolset = TOOLSETS.get(name, Toolset(""))
    included = (_gather(other, visited) for other in toolset.includes)
    registered = registry.get_tool_names_for_toolset(name)
    return frozenset({*toolset.tools, *registered}).union(*included)


def _tool_names() -> frozenset[str]:
    """All tools, registered or only named in a toolset of this module."""
    named = {tool for toolset in TOOLSETS.values() for tool in toolset.tools}
    return frozenset({*named, *registry.get_all_tool_names()})
