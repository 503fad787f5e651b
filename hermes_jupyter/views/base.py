"""What views need of others: the cell they show in, and the desk that takes answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hermes_jupyter.calls import Decision, Ruling

T = TypeVar("T")
Emoji = Callable[[str], str]
"""The emoji of a tool, by its name."""


def no_emoji(name: str) -> str:
    """The sign of a tool of which nothing is known."""
    return "⚡"


class CellOutput(Protocol):
    """The output area of the cell that runs a turn; usable from any thread."""

    @property
    def allow_stdin(self) -> bool: ...

    @property
    def client(self) -> str:
        """Session id of the front end that runs the cell."""
        ...

    @property
    def has_kernel(self) -> bool: ...

    @property
    def page_is_new(self) -> bool:
        """Was a page (re)loaded while the turn ran? Updates do not reach outputs it restored."""
        ...

    def display(
        self,
        bundle: dict[str, Any],
        *,
        metadata: dict[str, Any] | None = None,
        display_id: str | None = None,
        update: bool = False,
        parent: dict[str, Any] | None = None,
    ) -> None: ...

    def own_comm(self, comm_id: str) -> None:
        """Have the messages of this comm served while the cell runs."""
        ...

    @property
    def page_is_all(self) -> bool:
        """Is there a page that shows the outputs once, and no notebook that is saved?"""
        ...

    @property
    def is_background(self) -> bool:
        """Has the cell returned, while the turn goes on?"""
        ...

    @property
    def asks_now(self) -> bool:
        """Can a person be asked right now in the cell's thread?"""
        ...

    def in_cell_thread(self, job: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Run ``job`` in the thread that runs the cell."""
        ...

    def in_attended_thread(self, job: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Run ``job`` where a person can be asked with ``input()``, as soon as that is so."""
        ...


class Desk(Protocol):
    """Where answers of a person go; callable from any thread. False: too late."""

    def answer(
        self, request_id: str, ruling: Ruling | Decision, *, by: str, digest: str
    ) -> bool: ...

    def reply(self, question_id: str, text: str | None, *, by: str) -> bool: ...

    def stop(self, child: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Talk:
    """What a person may do with a turn while it runs; callable from any thread."""

    say: Callable[[str], object]
    stop: Callable[[], object]
