"""The notebook's own kernel, as tools see it: ``context["live"]``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")

Displayed = Callable[[Mapping[str, Any], Mapping[str, Any]], None]
"""Gets a bundle by MIME type, as a notebook's file has it, and its metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of code that ran in the user's namespace."""

    output: str = ""
    """What it printed."""
    value: str = ""
    """Of its last expression, as a cell would show it."""
    displayed: tuple[str, ...] = ()
    """What it has shown below the cell, each in words."""
    pictures: tuple[bytes, ...] = field(default=(), repr=False)
    """The images among that, as files would hold them."""
    new: tuple[str, ...] = ()
    """Variables that it made, each with what they are."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    error: str = ""
    """Type and message, if it failed."""
    line: str = ""
    """Of the code, where it failed: number and text."""
    traceback: str = ""
    """All of it, for the person."""
    ended: Literal["", "timeout", "interrupted"] = ""
    notes: tuple[str, ...] = ()
    outputs: tuple[Mapping[str, Any], ...] = ()
    """All that a cell would show below itself, as in nbformat 4."""


class LiveKernel(Protocol):
    """Runs code in the thread of the cell, and knows the user's variables."""

    def namespace(self) -> Mapping[str, Any]:
        """All names there are, as they are: to be looked at only."""
        ...

    def variables(self) -> dict[str, Any]:
        """The user's own variables, without those of IPython and private ones."""
        ...

    def assign(self, name: str, value: Any) -> None:
        """Let a variable have this value."""
        ...

    def can_run(self, code: str) -> bool:
        """Is it Python, with what IPython adds? Otherwise `run` does nothing but say so."""
        ...

    async def apply(self, work: Callable[[], T]) -> T:
        """Call a function where the user's code runs, if a cell waits there; else in a thread."""
        ...

    async def run(
        self,
        code: str,
        *,
        seconds: float,
        hear: Callable[[str], None],
        waiting: Callable[[], AbstractContextManager[object]],
        displayed: Displayed | None = None,
    ) -> Ran:
        """Run code as a cell would.

        Parameters
        ----------
        seconds
            After which it is interrupted.
        hear
            Gets what it prints, a few times a second.
        waiting
            Entered for as long as it waits for the thread, where others keep that busy.
        displayed
            Gets what it has shown below the cell.

        Raises
        ------
        RuntimeError
            If no cell waits in whose thread it could run, or others keep it busy for too long.
        """
        ...


MISSING = "there is no notebook here: this tool works on the variables of an IPython session"


def live_of(context: Mapping[str, Any]) -> LiveKernel | None:
    """The kernel of a call; None where there is none."""
    return context.get("live")


def is_there() -> tuple[bool, str]:
    """Is this process a notebook's kernel, or another session of IPython?"""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None, MISSING
