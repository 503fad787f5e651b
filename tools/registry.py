"""The register of tools, and the two functions that tools answer with.

A tool file calls ``registry.register(...)`` at module level and is found by
``tools.discovery``. The registry knows nothing of agents, approvals or notebooks.
The public names (``registry``, ``tool_result``, ``tool_error``, ``ToolEntry``) and the keywords
of ``register`` are those of Hermes Agent, so that tools written for it run here unmodified.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from tools import async_bridge, availability

logger = logging.getLogger(__name__)

Effects = Literal["read", "write", "unknown"]
Loop = Literal["agent", "kernel"]
DEFAULT_EMOJI = "⚡"
DEFAULT_RESULT_CHARS = 100_000
MAX_ERROR_CHARS = 2_000


def tool_error(message: str, **extra: Any) -> str:
    """Answer of a tool for something the model can mend: ``{"error": message, ...}``."""
    return json.dumps({"error": str(message), **extra}, ensure_ascii=False, default=str)


def tool_result(data: Any = None, **fields: Any) -> str:
    """Answer of a tool: JSON of ``data``, or of the keyword arguments."""
    return json.dumps(fields if data is None else data, ensure_ascii=False, default=str)


class ToolEntry:
    """A registered tool. What it needs from its surroundings stands here, as data."""

    __slots__ = (
        "check_fn",
        "description",
        "effects",
        "emoji",
        "guard_fn",
        "handler",
        "is_async",
        "loop",
        "max_per_step",
        "max_result_size_chars",
        "name",
        "requires_env",
        "resources",
        "schema",
        "timeout",
        "toolset",
        "trusted",
    )

    def __init__(
        self,
        *,
        name: str,
        toolset: str,
        schema: dict[str, Any],
        handler: Callable[..., Any],
        check_fn: Callable[[], Any] | None = None,
        requires_env: Iterable[str] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        max_result_size_chars: int | None = None,
        guard_fn: Callable[..., Any] | None = None,
        effects: Effects = "unknown",
        resources: Callable[[Mapping[str, Any]], Iterable[str]] | None = None,
        timeout: float | Callable[[Mapping[str, Any]], float] | None = None,
        loop: Loop = "agent",
        max_per_step: int | None = None,
        trusted: bool = True,
    ) -> None:
        self.name = name
        self.toolset = toolset
        self.schema = _schema(name, description, schema)
        self.handler = handler
        self.check_fn = check_fn
        self.requires_env = tuple(requires_env or ())
        self.is_async = is_async or inspect.iscoroutinefunction(handler)
        self.description = description or str(schema.get("description", ""))
        self.emoji = emoji or DEFAULT_EMOJI
        self.max_result_size_chars = max_result_size_chars or DEFAULT_RESULT_CHARS
        self.guard_fn = guard_fn
        self.effects = effects
        self.resources = resources
        self.timeout = timeout
        self.loop = loop
        self.max_per_step = max_per_step
        self.trusted = trusted

    def definition(self) -> dict[str, Any]:
        """The tool as the ``tools`` parameter of a Chat Completions request wants it."""
        return {"type": "function", "function": json.loads(json.dumps(self.schema))}


def _schema(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A complete copy of our own that surely is JSON: a bad one would spoil every request."""
    complete = {
        "description": description,
        "parameters": {"type": "object", "properties": {}},
        **schema,
        "name": name,
    }
    try:
        copy: dict[str, Any] = json.loads(json.dumps(complete, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"schema of tool {name!r} cannot be written as JSON: {error}") from error
    return copy


class ToolRegistry:
    """All tools of the process. Safe to use from any thread."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolEntry] = {}
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
            Replace a tool of the same name that belongs to another toolset.
        about
            The other fields of `ToolEntry`: ``check_fn requires_env is_async description emoji
            max_result_size_chars guard_fn effects resources timeout``.
            ``guard_fn(args, **context)`` says why a person must approve, or None.
            ``effects`` is ``read`` or ``write`` for tools that may run beside others unless the
            paths of ``resources(args)`` collide.
            A tool that touches no files returns an empty list; one that cannot tell, None.
            ``timeout`` is the longest a call may take, in seconds.
            ``max_per_step`` bounds how many calls of it one step of the model may make.
            ``trusted=False`` marks answers from outside (web pages, other servers): the model
            gets them fenced, as data.
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
            if there is not None and there.toolset != toolset and not override:
                raise ValueError(
                    f"tool {name!r} of toolset {toolset!r} is already registered by toolset "
                    f"{there.toolset!r}; rename it or pass override=True"
                )
            self._tools[name] = entry
            self.generation += 1

    def deregister(self, name: str) -> None:
        """Forget a tool; unknown names are ignored."""
        with self._lock:
            if self._tools.pop(name, None) is not None:
                self.generation += 1

    def get_entry(self, name: str) -> ToolEntry | None:
        return self._tools.get(name)

    def get_schema(self, name: str) -> dict[str, Any] | None:
        entry = self._tools.get(name)
        return entry.schema if entry else None

    def entries(self) -> list[ToolEntry]:
        """A snapshot of all tools, by name."""
        with self._lock:
            return sorted(self._tools.values(), key=lambda entry: entry.name)

    def get_all_tool_names(self) -> list[str]:
        return [entry.name for entry in self.entries()]

    def get_tool_names_for_toolset(self, toolset: str) -> list[str]:
        return [entry.name for entry in self.entries() if entry.toolset == toolset]

    def get_registered_toolset_names(self) -> list[str]:
        return sorted({entry.toolset for entry in self.entries()})

    def get_toolset_for_tool(self, name: str) -> str | None:
        entry = self._tools.get(name)
        return entry.toolset if entry else None

    def get_emoji(self, name: str, default: str = DEFAULT_EMOJI) -> str:
        entry = self._tools.get(name)
        return entry.emoji if entry else default

    def get_max_result_size(self, name: str, default: int = DEFAULT_RESULT_CHARS) -> int:
        entry = self._tools.get(name)
        return entry.max_result_size_chars if entry else default

    def get_definitions(
        self, tool_names: Iterable[str], quiet: bool = False
    ) -> list[dict[str, Any]]:
        """Definitions of the named tools that are available now, by name.

        ``quiet`` is accepted for tools written for Hermes Agent and has no effect: nothing is
        printed here; what is missing and why, `tools.availability` tells.
        """
        named = (self._tools.get(name) for name in sorted(set(tool_names)))
        return [
            entry.definition()
            for entry in named
            if entry and availability.check(entry.check_fn, entry.requires_env).ok
        ]

    def dispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Run a tool and wait for its answer. Never raises: errors are answers too.

        Works in any thread, whether or not a loop runs in it. Inside a coroutine prefer
        `adispatch`, which does not block the loop.
        """
        entry = self._tools.get(name)
        if entry is None:
            return tool_error(f"Unknown tool: {name}")
        try:
            answer = entry.handler(args, **context)
            if not isinstance(answer, str) and inspect.isawaitable(answer):
                answer = async_bridge.run_async(_on_its_loop(entry, answer, context))
        except (Exception, SystemExit) as error:  # a tool may raise anything; the model hears of it
            logger.warning("tool %r failed", name, exc_info=True)
            return _failure(error)
        return _answer(entry, answer)

    async def adispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """The same, awaited: async tools on this loop, others in the shared tool threads."""
        entry = self._tools.get(name)
        if entry is None:
            return tool_error(f"Unknown tool: {name}")
        try:
            if entry.is_async:
                answer = entry.handler(args, **context)
            else:
                answer = await async_bridge.in_tool_thread(lambda: entry.handler(args, **context))
            if not isinstance(answer, str) and inspect.isawaitable(answer):
                answer = await _on_its_loop(entry, answer, context)
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _caller_is_cancelled():
                raise
            logger.warning("tool %r failed", name, exc_info=True)
            return _failure(error)
        return _answer(entry, answer)


def _on_its_loop(entry: ToolEntry, answer: Any, context: Mapping[str, Any]) -> Any:
    """What to await: the coroutine, or its run on the kernel's own loop.

    Only the cell that runs a turn knows that loop, and hands it on as ``kernel_loop``.
    """
    if entry.loop == "agent":
        return answer
    run = context.get("kernel_loop")
    if run is None:
        answer.close()
        raise RuntimeError('a tool with loop="kernel" can only be called in a turn of a notebook')
    return run(answer)


def _caller_is_cancelled() -> bool:
    """A cancellation that nobody asked this task for is a failure inside the tool."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _failure(error: BaseException) -> str:
    message = f"Tool execution failed: {type(error).__name__}: {error}"
    return tool_error(message[:MAX_ERROR_CHARS], error_type=type(error).__name__)


def _answer(entry: ToolEntry, answer: Any) -> str:
    """The contract is text. Anything else is the tool's bug, told to the model as an error."""
    if isinstance(answer, str):
        return answer
    return tool_error(
        f"Tool {entry.name!r} returned {type(answer).__name__} instead of text; "
        "its handler must return tool_result(...) or tool_error(...)",
        error_type="tool_result_contract",
    )


registry = ToolRegistry()
