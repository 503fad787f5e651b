"""What a child shall do, and with which tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hermes_jupyter.delegation.lent import Lent
from tools.toolsets import resolve_toolsets
from tools.view import RegistryView

DELEGATE = "delegate_task"
BLOCKED = frozenset({DELEGATE, "clarify", "memory", "send_message", "cronjob"})
"""Tools that no child has, whoever asks for them: it works alone, and leaves nothing behind."""


class Task(Protocol):
    """What is asked for; see ``tools/delegate_task_tool.py``."""

    @property
    def goal(self) -> str: ...

    @property
    def context(self) -> str: ...

    @property
    def toolsets(self) -> Sequence[str]: ...

    @property
    def orchestrates(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A task, ready to be given to a child."""

    number: int
    """From 1."""
    goal: str
    context: str
    tools: RegistryView

    @property
    def prompt(self) -> str:
        """What the child reads as its task."""
        return f"{self.goal}\n\nContext:\n{self.context}" if self.context.strip() else self.goal


def order_for(number: int, task: Task, lent: Lent) -> Order:
    """Find out which tools the child gets: of its parent's those that are asked for.

    Raises
    ------
    ValueError
        For a toolset that is none, or that leaves the child without a tool.
    """
    may_spawn = task.orchestrates and lent.depth + 1 < lent.settings.delegation.max_spawn_depth
    blocked = BLOCKED - {DELEGATE} if may_spawn else BLOCKED
    if not task.toolsets:
        tools = lent.tools.restrict(deny=blocked)
    else:
        wanted = resolve_toolsets(task.toolsets, tools=lent.tools)
        tools = lent.tools.restrict(allow=wanted, deny=blocked)
        if not tools.names:
            named = ", ".join(task.toolsets)
            raise ValueError(f"task {number}: you have no tool of {named} that a child may have")
    return Order(number=number, goal=task.goal, context=task.context, tools=tools)
