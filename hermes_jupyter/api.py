"""Run a turn from Python: ``hermes_jupyter.run(...)`` and ``await hermes_jupyter.arun(...)``.

The magics use the same functions; nothing about turns is written twice.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import wait
from typing import Any, TypeVar

from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import Listener
from hermes_jupyter.going_on import next_prompt
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.kernel.gate import Command
from hermes_jupyter.kernel.lifetime import job_owner
from hermes_jupyter.kernel.live.loops import CodeLoop
from hermes_jupyter.kernel.namespace import expand_names
from hermes_jupyter.kernel.runner import Run, run_awaited, run_in_cell, start
from hermes_jupyter.kernel.shell import current_kernel, hidden_names, user_namespace
from hermes_jupyter.kernel.variables.undo import Variables
from hermes_jupyter.one_call import CallResult, run_call, wanted_call
from hermes_jupyter.prepared import NOBODY, Audience, Ended, Prepared, Running
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings, load
from hermes_jupyter.trace import Trace
from hermes_jupyter.turn_values import TurnOptions, TurnResult
from hermes_jupyter.views.probe import KnownClients

CLOSE_SECONDS = 5.0
MAX_PROMPT_CHARS = 2_000_000
DEFAULTS = TurnOptions()
HEARD = "The agent reads it at its next step."
KEPT = "No turn runs: it comes with your next prompt, or %hermes continue sends it now."
NOTHING_RUNS = "No turn is running.\n"

T = TypeVar("T")


class Desktop:
    """The `Hermes` of this kernel and the turns that run in it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.hermes = Hermes(settings or load(), owner=job_owner())
        self.hermes.undoables.append(Variables(user_namespace, hidden_names))
        self.clients = KnownClients()
        self.running: list[Running] = []
        self._background: list[Run[Any]] = []
        self.trace = Trace()
        self.last: Ended | None = None
        self.code_loop = CodeLoop()

    def run(
        self,
        prompt: str,
        *,
        session: Session | None = None,
        options: TurnOptions = DEFAULTS,
        audience: Audience = NOBODY,
    ) -> TurnResult:
        """Run a turn and wait for it.

        Raises
        ------
        HermesError
            If it fails.
        TurnInterrupted
            If the person interrupts it.
        """
        with self._prompted(prompt, session, options, audience=audience) as turn:
            return run_in_cell(turn.cell, turn.main, **self._serving())

    async def arun(
        self,
        prompt: str,
        *,
        session: Session | None = None,
        options: TurnOptions = DEFAULTS,
        audience: Audience = NOBODY,
    ) -> TurnResult:
        """The same for coroutines: the caller's loop goes on."""
        with self._prompted(prompt, session, options, audience=audience) as turn:
            return await run_awaited(turn.cell, turn.main, **self._serving())

    def go_on(self) -> TurnResult:
        """Go on with the current conversation where its last turn was interrupted or stopped.

        Raises
        ------
        HermesError
            If there is nothing to go on with, or the turn fails.
        TurnInterrupted
            If the person interrupts it.
        """
        there = self.hermes.session()
        there.must_be_free()
        return self.run(next_prompt(there), session=there)

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

    def say(self, text: str) -> str:
        """Say something to the agent that works: of the current conversation, else the last begun.

        Returns
        -------
        str
            One line for the person: what becomes of it.
        """
        busy = [turn.session for turn in self.running]
        here = self.hermes.session()
        session = here if here in busy or not busy else busy[-1]
        return HEARD if session.mailbox.say(text) else KEPT

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
        self.code_loop.close()

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
            "%hermes stop": lambda _message: "Stopping.\n" if self.stop() else NOTHING_RUNS,
            "%hermes say ...": self._said_in,
        }

    def _said_in(self, message: Mapping[str, Any]) -> str:
        _, _, text = message["content"]["code"].strip().split(None, 2)
        return f"{self.say(expand_names(text, current_kernel().shell.user_ns))}\n"

    def _started(self, turn: Prepared[T]) -> Run[T]:
        turn.__enter__()
        run = start(turn.main)
        self._background.append(run)
        run.future.add_done_callback(lambda _: turn.__exit__())
        return run

    def _prompted(
        self,
        prompt: str,
        session: Session | None,
        options: TurnOptions,
        *,
        waits: bool = True,
        audience: Audience = NOBODY,
    ) -> Prepared[TurnResult]:
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

        return Prepared(self, work, there, options, waits=waits, audience=audience)

    def _called(
        self,
        name: str,
        arguments: str,
        session: Session | None,
        options: TurnOptions,
        *,
        waits: bool = True,
    ) -> Prepared[CallResult]:
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

        return Prepared(self, work, there, options, waits=waits)


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


def on(name: str, function: Callable[[Any], Any]) -> Callable[[], None]:
    """Have ``function`` called at each ``name``, such as ``"post_tool_call"``.

    It gets one of the classes of `hermes_jupyter.hooks`, in a thread, or is awaited if it is a
    coroutine function. Call what this returns to take it out again.

    Raises
    ------
    ValueError
        If there is no such hook.
    """
    return desktop().hermes.hooks.on(name, function)


def run(prompt: str, *, session: str = "", **options: Any) -> TurnResult:
    """Run a turn and wait for it: in a cell, a script, a tool, with or without a running loop.

    Parameters
    ----------
    prompt
        What should be done.
    session
        Name of the conversation; the same name goes on with it.
    options
        Fields of `TurnOptions`: ``model tools no_tools no_context max_steps approve frontend``.

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
