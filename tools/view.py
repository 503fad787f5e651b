"""What one agent may call: a fixed choice of tools.

Agents of one process have different tools, and two sessions may each have a tool of the same
name. So an agent never asks the registry, but its own view, made when its turn begins.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from tools.catalog import Catalog
from tools.entry import ToolEntry

Overlay = Catalog | Mapping[str, ToolEntry]


class RegistryView(Catalog):
    """Tools as they were when the view was made. Nothing can be added to it.

    Made by ``registry.view(...)``, and from another view by `restrict`.
    """

    def __init__(
        self, tools: Mapping[str, ToolEntry], *, withheld: frozenset[str], generation: int
    ) -> None:
        self._tools = MappingProxyType(dict(tools))
        self.withheld = withheld
        """Tools that exist and are not in the view."""
        self.generation = generation
        """Of the registry that the view was taken from."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    @cached_property
    def _definitions(self) -> tuple[dict[str, Any], ...]:
        return tuple(entry.definition() for entry in self.entries())

    def definitions(self) -> tuple[dict[str, Any], ...]:
        """What a model is told of the tools, by name.

        Made at the first call and shared by all: copy what you mean to change.
        """
        return self._definitions

    def parameters(self, entry: ToolEntry) -> dict[str, Any]:
        """The JSON schema of a tool's arguments, as a model is told it."""
        if entry.dynamic_schema_overrides is None:
            parameters: dict[str, Any] = entry.schema["parameters"]
            return parameters
        return self._told[entry.name]

    @cached_property
    def _told(self) -> dict[str, dict[str, Any]]:
        functions = [definition["function"] for definition in self._definitions]
        return {each["name"]: each["parameters"] for each in functions}

    def restrict(
        self, allow: Collection[str] | None = None, deny: Collection[str] = ()
    ) -> RegistryView:
        """A view with fewer tools, or the same: what is not in this one cannot be had from it.

        Parameters
        ----------
        allow
            Names of tools to keep; None keeps all.
        deny
            Names of tools to drop. Wins over ``allow``.
        """
        kept = (self.names if allow is None else self.names & _names(allow)) - _names(deny)
        tools = {name: entry for name, entry in self._tools.items() if name in kept}
        withheld = self.withheld | (self.names - kept)
        return RegistryView(tools, withheld=withheld, generation=self.generation)


def laid_over(
    tools: Mapping[str, ToolEntry], overlay: Overlay | None, *, generation: int
) -> RegistryView:
    """A view of ``tools`` in which those of ``overlay`` take the place of their namesakes."""
    if overlay is None:
        own = []
    else:
        own = overlay.entries() if isinstance(overlay, Catalog) else [*overlay.values()]
    merged = {**tools, **{entry.name: entry for entry in own}}
    return RegistryView(merged, withheld=frozenset(), generation=generation)


def _names(names: Collection[str]) -> frozenset[str]:
    if isinstance(names, str):  # its letters would allow, and deny, nothing
        raise TypeError(f"a collection of names is needed, not the text {names!r}")
    return frozenset(names)
