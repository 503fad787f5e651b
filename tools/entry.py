"""A registered tool, as data."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

logger = logging.getLogger(__name__)

Effects = Literal["read", "write", "unknown"]
Loop = Literal["agent", "kernel"]
WorksIn = Literal["terminal", "kernel"]
DEFAULT_EMOJI = "⚡"
DEFAULT_RESULT_CHARS = 100_000


class ToolEntry:
    """A registered tool. What it needs from its surroundings stands here, as data."""

    __slots__ = (
        "about_fn",
        "check_fn",
        "description",
        "dynamic_schema_overrides",
        "effects",
        "emoji",
        "guard_fn",
        "handler",
        "is_async",
        "loop",
        "max_per_step",
        "max_result_size_chars",
        "name",
        "prepare_fn",
        "reads_only",
        "requires_env",
        "resources",
        "schema",
        "timeout",
        "toolset",
        "trusted",
        "works_in",
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
        reads_only: Callable[..., bool] | None = None,
        resources: Callable[[Mapping[str, Any]], Iterable[str]] | None = None,
        timeout: float | Callable[[Mapping[str, Any]], float] | None = None,
        loop: Loop = "agent",
        max_per_step: int | None = None,
        trusted: bool = True,
        dynamic_schema_overrides: Callable[[], Mapping[str, Any]] | None = None,
        works_in: WorksIn = "terminal",
        about_fn: Callable[..., str] | None = None,
        prepare_fn: Callable[..., object] | None = None,
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
        self.reads_only = reads_only
        self.resources = resources
        self.timeout = timeout
        self.loop = loop
        self.max_per_step = max_per_step
        self.trusted = trusted
        self.dynamic_schema_overrides = dynamic_schema_overrides
        self.works_in = works_in
        self.about_fn = about_fn
        self.prepare_fn = prepare_fn

    def definition(self) -> dict[str, Any]:
        """The tool as the ``tools`` parameter of a Chat Completions request wants it."""
        return {"type": "function", "function": self._told() or json.loads(json.dumps(self.schema))}

    def about(self, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
        """What a call is about, for a person; empty if its arguments say that."""
        if self.about_fn is None:
            return ""
        try:
            return str(self.about_fn(args, **context))
        except (Exception, SystemExit):  # a tool's function may raise anything
            logger.warning("what a call of tool %r is about failed", self.name, exc_info=True)
            return ""

    def prepare(self, args: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Make ready what a call needs, while a person is asked whether it may run."""
        if self.prepare_fn is not None:
            self.prepare_fn(args, **context)

    def _told(self) -> dict[str, Any] | None:
        """The schema with what the tool wants said differently now; None if it fails to say it."""
        if self.dynamic_schema_overrides is None:
            return None
        try:
            return _schema(self.name, "", {**self.schema, **self.dynamic_schema_overrides()})
        except (Exception, SystemExit):  # a tool's function may raise anything
            logger.warning("the dynamic schema of tool %r failed", self.name, exc_info=True)
            return None


def _schema(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A complete copy of our own that surely is JSON: a bad one would spoil every request."""
    complete = {
        "description": description,
        "parameters": {"type": "object", "properties": {}},
        **{key: value for key, value in schema.items() if value is not None},
        "name": name,
    }
    if not isinstance(complete["parameters"], dict):
        raise ValueError(f"the parameters of tool {name!r} must be a dict: a JSON schema")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(complete, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"schema of tool {name!r} cannot be written as JSON: {error}") from error
    return copy
