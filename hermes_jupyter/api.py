"""Run a turn from Python: ``hermes_jupyter.run(...)`` and ``await hermes_jupyter.arun(...)``.

The magics use the same functions; nothing about turns is written twice.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import Listener
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.gate import Command
from hermes_jupyter.kernel.lifetime import job_owner
from hermes_jupyter.kernel.own_loop import KernelLoop
from hermes_jupyter.kernel.runner import Run, run_awaited, run_in_cell, start
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.one_call import CallResult, run_call, wanted_call
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings, load
from hermes_jupyter.trace import Trace
from hermes_jupyter.turn_values import TurnOptions, TurnResult
from hermes_jupyter.views.probe import KnownClients
from hermes_jupyter.views.record import Record
from hermes_jupyter.views.turn import TurnView, nobody_looks, open_view

CLOSE_SECONDS = 5.0
MAX_PROMPT_CHARS = 2_000_000
DEFAULTS = TurnOptions()

T = TypeVar("T")
Work = Callable[[TurnOptions, list[Listener], Mapping[str, Any]], Awaitable[T]]
"""A turn, once it is known who listens and what its tools get beside their arguments."""


@dataclass(slots=True)
class Running:
    """A turn that runs now."""

    session: Session
    view: TurnView


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that has ended: what it left, and its name in the trace."""

    record: Record
    turn: str


class Desktop:
    """The `Hermes` of this kernel and the turns that run in it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.hermes = Hermes(settings or load(), owner=job_owner())
        self.clients = KnownClients()
        self.running: list[Running] = []
        self._background: list[Run[Any]] = []
        self.trace = Trace()
        self.last: Ended | None = None

    def run(
        self, prompt: str, *, session: Session | None = None, options: TurnOptions = DEFAULTS
    ) -> TurnResult:
        """Run a turn and wait for it.

        Raises
        ------
        HermesError
            If it fails.
        TurnInterrupted
            If the person interrupts it.
        """
        with self._prompted(prompt, session, options) as turn:
            return run_in_cell(turn.cell, turn.main, **self._serving())

    async def arun(
        self, prompt: str, *, session: Session | None = None, options: TurnOptions = DEFAULTS
    ) -> TurnResult:
        """The same for coroutines: the caller's loop goes on."""
        with self._prompted(prompt, session, options) as turn:
            return await run_awaited(turn.cell, turn.main, **self._serving())

    def run_in_background(
        self, prompt: str, *, session: Session | None = None, options: TurnOptions = DEFAULTS
    ) -> Run[TurnResult]:
        """Start a turn and return at once; its cell goes on to show it."""
        return self._started(self._prompted(prompt, session, options, waits=False))

    def call(
        self,
        name: str,
        arguments: str,
        *,
        session: Session | None = None,
        options: TurnOptions = DEFAULTS,
    ) -> CallResult:
        """Make one call of a tool, without a model, and wait for it.

        Parameters
        ----------
        arguments
            A JSON object; repaired where it has one reading.

        Raises
        ------
        HermesError
            If it cannot be made. What the tool itself fails at is a result.
        TurnInterrupted
            If the person interrupts it.
        """
        with self._called(name, arguments, session, options) as turn:
            return run_in_cell(turn.cell, turn.main, **self._serving())

    async def acall(
        self,
        name: str,
        arguments: str,
        *,
        session: Session | None = None,
        options: TurnOptions = DEFAULTS,
    ) -> CallResult:
        """The same for coroutines: the caller's loop goes on."""
        with self._called(name, arguments, session, options) as turn:
            return await run_awaited(turn.cell, turn.main, **self._serving())

    def call_in_background(
        self,
        name: str,
        arguments: str,
        *,
        session: Session | None = None,
        options: TurnOptions = DEFAULTS,
    ) -> Run[CallResult]:
        """The same, returning at once; its cell goes on to show it."""
        return self._started(self._called(name, arguments, session, options, waits=False))

    def stop(self) -> int:
        """Stop all turns that run; how many there were."""
        return sum(session.stop() for session in self.hermes.sessions())

    def attach(self, parent: dict[str, Any] | None) -> int:
        """Show the running turns once more, below the request ``parent``."""
        running = list(self.running)
        for turn in running:
            turn.view.show_again(parent)
        return len(running)

    def close(self) -> None:
        """Stop what runs; end shells, connections and child processes."""
        self.stop()
        wait([run.future for run in self._background], timeout=1.0)
        start(self.hermes.close).future.result(timeout=CLOSE_SECONDS)

    def _serving(self) -> dict[str, Any]:
        return {
            "kernel": current_kernel(),
            "owned": self.hermes.owned_comms,
            "commands": self._commands(),
        }

    def _commands(self) -> dict[str, Command]:
        """Cells that are answered at once although a turn keeps the kernel busy."""
        return {
            "%hermes attach": self.attach,
            "%hermes stop": lambda _message: self.stop(),
        }

    def _started(self, turn: _Prepared[T]) -> Run[T]:
        turn.__enter__()
        run = start(turn.main)
        self._background.append(run)
        run.future.add_done_callback(lambda _: turn.__exit__())
        return run

    def _prompted(
        self, prompt: str, session: Session | None, options: TurnOptions, *, waits: bool = True
    ) -> _Prepared[TurnResult]:
        there = session or self.hermes.session()
        there.must_be_free()
        if len(prompt) > MAX_PROMPT_CHARS:
            raise TurnError(
                f"the prompt has {len(prompt)} characters, more than {MAX_PROMPT_CHARS}; "
                "put the text in a file and name the file"
            )

        def work(
            options: TurnOptions, listeners: list[Listener], context: Mapping[str, Any]
        ) -> Awaitable[TurnResult]:
            return self.hermes.turn(
                prompt, session=there, options=options, listeners=listeners, context=context
            )

        return _Prepared(self, work, there, options, waits=waits)

    def _called(
        self,
        name: str,
        arguments: str,
        session: Session | None,
        options: TurnOptions,
        *,
        waits: bool = True,
    ) -> _Prepared[CallResult]:
        there = session or self.hermes.session()
        there.must_be_free()
        wanted = wanted_call(self.hermes, name, arguments, session=there, options=options)

        def work(
            options: TurnOptions, listeners: list[Listener], context: Mapping[str, Any]
        ) -> Awaitable[CallResult]:
            return run_call(
                wanted,
                hermes=self.hermes,
                session=there,
                options=options,
                listeners=listeners,
                context=context,
            )

        return _Prepared(self, work, there, options, waits=waits)


class _Prepared(Generic[T]):
    """A turn with its cell and its view, open for as long as the block runs."""

    def __init__(
        self,
        desktop: Desktop,
        work: Work[T],
        session: Session,
        options: TurnOptions,
        *,
        waits: bool,
    ) -> None:
        hermes = desktop.hermes
        settings = options.over(hermes.settings)
        emoji = hermes.catalog(session).get_emoji
        self._desktop = desktop
        self._record = Record(emoji=emoji)
        self._trace = desktop.trace.listener()
        self.cell = Cell(current_kernel(), hermes.owned_comms)
        view = open_view(
            self.cell,
            session.desk,
            self._record,
            frontend=settings.frontend,
            clients=desktop.clients,
            emoji=emoji,
            waits=waits,
        )
        self.running = Running(session, view)
        if nobody_looks(self.cell, settings.frontend):
            options = replace(options, frontend="policy")
        listeners: list[Listener] = [self._record, self._trace, view]
        context = {"kernel_loop": KernelLoop(self.cell).run}
        self.main: Callable[[], Awaitable[T]] = lambda: work(options, listeners, context)

    def __enter__(self) -> _Prepared[T]:
        self._desktop.running.append(self.running)
        return self

    def __exit__(self, *_: object) -> None:
        self._desktop.running.remove(self.running)
        self._desktop.last = Ended(self._record, self._trace.turn)
        self.cell.close()


class _Process:
    """Holds the one desktop of this process."""

    desktop: Desktop | None = None


def desktop(settings: Settings | None = None) -> Desktop:
    """The desktop of this kernel, made at first use; ``settings`` replace its own."""
    if _Process.desktop is None:
        _Process.desktop = Desktop(settings)
    elif settings is not None:
        _Process.desktop.hermes.settings = settings
    return _Process.desktop


def close() -> None:
    """End everything that `desktop` has started."""
    here, _Process.desktop = _Process.desktop, None
    if here is not None:
        here.close()


def run(prompt: str, *, session: str = "", **options: Any) -> TurnResult:
    """Run a turn and wait for it: in a cell, a script, a tool, with or without a running loop.

    Parameters
    ----------
    prompt
        What should be done.
    session
        Name of the conversation; the same name goes on with it.
    options
        Fields of `TurnOptions`: ``model tools no_tools max_steps approve frontend``.

    Raises
    ------
    HermesError
        If the turn fails.
    TurnInterrupted
        If the person interrupts it.
    """
    here = desktop()
    return here.run(prompt, session=here.hermes.session(session), options=TurnOptions(**options))


async def arun(prompt: str, *, session: str = "", **options: Any) -> TurnResult:
    """The same to ``await``: the caller's loop goes on. Parameters as for `run`."""
    here = desktop()
    return await here.arun(
        prompt, session=here.hermes.session(session), options=TurnOptions(**options)
    )


def call(name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
    """Make one call of a tool, as ``%hermes call`` does, and wait for it.

    It goes the road of the agent's calls: arguments are coerced, and a person is asked before
    anything destructive. The conversation does not hear of it.

    Parameters
    ----------
    name
        Of the tool.
    arguments, more
        Its arguments, as one mapping or by keyword.

    Returns
    -------
    CallResult
        ``status`` says how it went, ``text`` what the tool answered, ``json()`` the same as a
        value.

    Raises
    ------
    HermesError
        If there is no such tool, or it is switched off.
    TurnInterrupted
        If the person interrupts it.
    """
    return desktop().call(name, _as_json(arguments, more))


async def acall(
    name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any
) -> CallResult:
    """The same to ``await``: the caller's loop goes on. Parameters as for `call`."""
    return await desktop().acall(name, _as_json(arguments, more))


def _as_json(arguments: Mapping[str, Any] | None, more: Mapping[str, Any]) -> str:
    """Arguments as JSON text; what JSON does not know, such as a path, as its text."""
    return json.dumps({**(arguments or {}), **more}, ensure_ascii=False, default=str)
