"""The register of tools, and the two functions that tools answer with.

A tool file calls ``registry.register(...)`` at module level and is found by
``tools.discovery``. The registry knows nothing of agents, approvals or notebooks.
The public names (``registry``, ``tool_result``, ``tool_error``, ``ToolEntry``) and the keywords
of ``register`` are those of Hermes Agent, so that tools written for it run here unmodified.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tools import availability
from tools.answers import tool_error, tool_result
from tools.catalog import Catalog
from tools.entry import DEFAULT_EMOJI, DEFAULT_RESULT_CHARS, Effects, Loop, ToolEntry
from tools.view import Overlay, RegistryView, laid_over

__all__ = [
    "DEFAULT_EMOJI",
    "DEFAULT_RESULT_CHARS",
    "Effects",
    "Loop",
    "Override",
    "ToolEntry",
    "ToolRegistry",
    "registry",
    "tool_error",
    "tool_result",
]


@dataclass(frozen=True, slots=True)
class Override:
    """A tool that has taken the name of another toolset's tool."""

    tool: ToolEntry
    replaced: ToolEntry

    def __str__(self) -> str:
        new, old = (
            f"toolset {entry.toolset!r} ({getattr(entry.handler, '__module__', '?')})"
            for entry in (self.tool, self.replaced)
        )
        return f"{self.tool.name!r} of {new} replaces that of {old}"


@dataclass(frozen=True, slots=True)
class Saved:
    """What was registered at one moment."""

    tools: Mapping[str, ToolEntry]
    overrides: Mapping[str, Override]


class ToolRegistry(Catalog):
    """All tools of the process. Safe to use from any thread."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolEntry] = {}
        self._overrides: dict[str, Override] = {}
        self._lock = threading.RLock()
        self.generation = 0
        """Grows with every change; a key for caches of what was read."""

    def register(
        self,
        name: str,
        toolset: str,
        schema: dict[str, Any],
        handler: Callable[..., Any],
        *,
        override: bool = False,
        **about: Any,
    ) -> None:
        """Add a tool, usually while its module is imported.

        Parameters
        ----------
        name, toolset, schema, handler
            ``schema`` is ``{"description", "parameters"}``; ``handler(args, **context)`` returns
            text, best made with `tool_result` or `tool_error`, or a coroutine of it.
        override
            Replace a tool of the same name that belongs to another toolset; `overrides` tells.
        about
            The other fields of `ToolEntry`: ``check_fn requires_env is_async description emoji
            max_result_size_chars guard_fn effects reads_only resources timeout max_per_step
            trusted loop dynamic_schema_overrides works_in about_fn
            prepare_fn``.
            ``guard_fn(args, **context)`` says why a person must approve, or None.
            ``effects`` is ``read`` or ``write`` for tools that may run beside others unless the
            paths of ``resources(args)`` collide.
            A tool that touches no files returns an empty list; one that cannot tell, None.
            ``reads_only(args, **context)`` tells, where ``effects`` cannot, that a call changes
            nothing: in plan mode only such calls run.
            ``timeout`` is the longest a call may take, in seconds.
            ``max_per_step`` bounds how many calls of it one step of the model may make.
            ``trusted=False`` marks answers from outside (web pages, other servers): the model
            gets them fenced, as data.
            ``dynamic_schema_overrides()`` returns keys that replace those of the schema whenever a
            model is told of the tool; never its name.
            ``works_in="kernel"`` says that it works in the kernel's folder on this machine,
            wherever the terminal is.
            ``about_fn(args, **context)`` says what a call is about where its arguments say little
            to a person, such as ids; at once, and of arguments that nobody has checked yet.
            ``prepare_fn(args, **context)`` makes ready what a call needs, in a tool thread, while a
            person is asked whether it may run: nothing that a person would call a part of it.
            ``loop="kernel"`` runs a coroutine on the kernel's own loop, for one that uses objects
            living there, such as a session that the user opened in a cell.

        Raises
        ------
        ValueError
            If another toolset has a tool of this name, or the schema is no object.
        TypeError
            For a handler that cannot be called, or an unknown keyword.
        """
        if not callable(handler):
            raise TypeError(f"handler of tool {name!r} is not callable: {handler!r}")
        if not isinstance(schema, dict):
            raise ValueError(f"schema of tool {name!r} must be a dict, not {type(schema).__name__}")
        entry = ToolEntry(name=name, toolset=toolset, schema=schema, handler=handler, **about)
        with self._lock:
            there = self._tools.get(name)
            if there is not None and there.toolset != toolset:
                if not override:
                    raise ValueError(
                        f"tool {name!r} of toolset {toolset!r} is already registered by toolset "
                        f"{there.toolset!r}; rename it or pass override=True"
                    )
                self._overrides[name] = Override(entry, there)
            elif known := self._overrides.get(name):  # the same one, registered anew
                self._overrides[name] = Override(entry, known.replaced)
            self._tools[name] = entry
            self.generation += 1

    def deregister(self, name: str) -> None:
        """Forget a tool; unknown names are ignored."""
        with self._lock:
            self._overrides.pop(name, None)
            if self._tools.pop(name, None) is not None:
                self.generation += 1

    @property
    def overrides(self) -> list[Override]:
        """Which tools stand in the place of another toolset's, by name."""
        with self._lock:
            return sorted(self._overrides.values(), key=lambda override: override.tool.name)

    def saved(self) -> Saved:
        """All that is registered, for `restore`."""
        with self._lock:
            return Saved(dict(self._tools), dict(self._overrides))

    def restore(self, saved: Saved) -> None:
        """Let everything be registered as it was."""
        with self._lock:
            self._overrides = dict(saved.overrides)
            if self._tools != saved.tools:
                self._tools = dict(saved.tools)
                self.generation += 1

    def give_back(self, override: Override) -> None:
        """Let the tool that was replaced have its name again, if the other still has it."""
        with self._lock:
            if self._tools.get(override.tool.name) is override.tool:
                del self._overrides[override.tool.name]
                self._tools[override.tool.name] = override.replaced
                self.generation += 1

    def view(
        self,
        allow: Collection[str] | None = None,
        deny: Collection[str] = (),
        overlay: Overlay | None = None,
    ) -> RegistryView:
        """What one agent may call, as it is now: the view stays as it is.

        Parameters
        ----------
        allow
            Names of the tools that may be called; None stands for all, ``overlay`` included.
        deny
            Names of tools that may not be called, whoever brings them.
        overlay
            Tools for this view only, in place of those of the same name here: what a session
            has opened for itself, or a tool for one turn.
        """
        with self._lock:
            tools, generation = dict(self._tools), self.generation
        return laid_over(tools, overlay, generation=generation).restrict(allow, deny)

    def get_definitions(
        self, tool_names: Iterable[str], quiet: bool = False
    ) -> list[dict[str, Any]]:
        """Definitions of the named tools that are available now, by name.

        ``quiet`` is accepted for tools written for Hermes Agent and has no effect: nothing is
        printed here; what is missing and why, `tools.availability` tells.
        """
        named = [self._tools.get(name) for name in sorted(set(tool_names))]
        known = [entry for entry in named if entry]
        found = availability.check_all(known)
        return [entry.definition() for entry, answer in zip(known, found, strict=True) if answer.ok]

    def _snapshot(self) -> Mapping[str, ToolEntry]:
        with self._lock:
            return dict(self._tools)


registry = ToolRegistry()
