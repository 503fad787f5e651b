"""A turn on its way to its cell: who listens, who is asked, and what is left behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hermes_jupyter.events import Listener
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.live.kernel import Kernel
from hermes_jupyter.kernel.own_loop import KernelLoop
from hermes_jupyter.kernel.shell import current_shell
from hermes_jupyter.session import Session
from hermes_jupyter.surroundings import cell_of_turn, surroundings
from hermes_jupyter.turn_values import TurnOptions
from hermes_jupyter.views.base import CellOutput, Desk, Emoji, Talk
from hermes_jupyter.views.record import Record
from hermes_jupyter.views.turn import TurnView, open_view

if TYPE_CHECKING:
    from hermes_jupyter.desktop import Desktop

T = TypeVar("T")
Work = Callable[[TurnOptions, list[Listener], Mapping[str, Any]], Awaitable[T]]
"""A turn, once it is known who listens and what its tools get beside their arguments."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who hears of a turn, beside its cell."""

    listeners: Sequence[Listener] = ()
    view: Callable[[CellOutput, Desk, Emoji], TurnView | None] = lambda _cell, _desk, _emoji: None
    """Takes the place of the cell's own view, unless it is None."""


NOBODY = Audience()


@dataclass(slots=True)
class Running:
    """A turn that runs now."""

    session: Session
    view: TurnView
    cell: Cell


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that has ended: what it left, and its name in the trace."""

    record: Record
    turn: str


class Prepared(Generic[T]):
    """A turn with its cell and its view, open for as long as the block runs."""

    def __init__(
        self,
        desktop: Desktop,
        work: Work[T],
        session: Session,
        options: TurnOptions,
        *,
        waits: bool,
        audience: Audience = NOBODY,
    ) -> None:
        hermes = desktop.hermes
        settings = options.over(hermes.settings)
        emoji = hermes.catalog(session).get_emoji
        self._desktop = desktop
        self._record = Record(emoji=emoji)
        self._trace = desktop.trace.listener()
        self.cell = cell_of_turn(hermes.owned_comms, waits=waits)
        self.cell.page_is_all = settings.page_comes_later
        self.rung = desktop.ladder(settings).rung(self.cell)
        is_attended = self.rung.name != "policy"
        self._watched = desktop.watch.listener(session, self.cell.id, is_attended=is_attended)
        self._followed = None if waits else desktop.background.follow(session, options.place)
        view = audience.view(self.cell, session.desk, emoji) or open_view(
            self.cell,
            session.desk,
            self._record,
            ladder=desktop.ladder(settings),
            emoji=emoji,
            talk=Talk(session.mailbox.say, session.stop),
        )
        self.running = Running(session, view, self.cell)
        if getattr(view, "nobody_answers", False) or not is_attended:
            options = replace(options, frontend="policy")
        listeners: list[Listener] = [
            self._record, self._trace, self._watched, view, *audience.listeners,
            *([self._followed] if self._followed else []),
        ]  # fmt: skip
        context: dict[str, Any] = {
            "kernel_loop": KernelLoop(self.cell).run,
            **surroundings(self.cell, settings),
        }
        if (shell := current_shell()) is not None:
            context["live"] = Kernel(shell, self.cell, desktop.code_loop, session.stop)
        self.main: Callable[[], Awaitable[T]] = lambda: work(options, listeners, context)

    def __enter__(self) -> Prepared[T]:
        self._desktop.running.append(self.running)
        return self

    def __exit__(self, *_: object) -> None:
        self._desktop.running.remove(self.running)
        self._watched.close()
        if self._followed is not None:
            self._followed.end()
        self._desktop.last = Ended(self._record, self._trace.turn)
        self.cell.close()
