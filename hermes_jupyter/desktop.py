"""What one kernel has: its `Hermes`, and the turns and calls that run in its cells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from hermes_jupyter.background import Background
from hermes_jupyter.background_runs import BackgroundRuns
from hermes_jupyter.control.answering import Answering
from hermes_jupyter.control.status import status_of
from hermes_jupyter.control.watch import Watch
from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import Listener
from hermes_jupyter.going_on import next_prompt
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.kernel import control, ran_cells
from hermes_jupyter.kernel.background_cell import BackgroundCell
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.identity import id_of
from hermes_jupyter.kernel.lifetime import job_owner
from hermes_jupyter.kernel.live.loops import CodeLoop
from hermes_jupyter.kernel.runner import Run, run_awaited, run_in_cell, start
from hermes_jupyter.kernel.shell import current_kernel, hidden_names, user_namespace
from hermes_jupyter.kernel.variables.undo import Variables
from hermes_jupyter.notebook.undo import Cells
from hermes_jupyter.one_call import CallResult, run_call, wanted_call
from hermes_jupyter.prepared import NOBODY, Audience, Ended, Prepared, Running
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings, load
from hermes_jupyter.surroundings import asked_in, page_showing
from hermes_jupyter.trace import Trace
from hermes_jupyter.turn_values import TurnOptions, TurnResult
from hermes_jupyter.via_server import ServerModels
from hermes_jupyter.views.ladder import Ladder
from hermes_jupyter.views.probe import KnownClients
from hermes_jupyter.while_busy import commands
from tools.async_bridge import in_tool_thread

CLOSE_SECONDS = 5.0
MAX_PROMPT_CHARS = 2_000_000
DEFAULTS = TurnOptions()
HEARD = "The agent reads it at its next step."
KEPT = "No turn runs: it comes with your next prompt, or %hermes continue sends it now."

T = TypeVar("T")


class Desktop:
    """The `Hermes` of this kernel and the turns that run in it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.hermes = Hermes(settings or load(), owner=job_owner())
        self.hermes.undoables += [Variables(user_namespace, hidden_names), Cells(page_showing)]
        self.clients = KnownClients()
        self.running: list[Running] = []
        self._runs = BackgroundRuns(self.hermes.owned_comms, lambda: commands(self))
        self.background = Background(self.hermes.sessions)
        self.trace = Trace()
        self.last: Ended | None = None
        self.code_loop = CodeLoop()
        self.watch = Watch(control.tell)
        self.server_models = ServerModels(id_of(current_kernel()), lambda: bool(self.running))
        self.hermes.through = self.server_models.over
        self.answering = Answering(
            self.watch, lambda: status_of(self.hermes), {"lease": self.server_models.take}
        )
        """Answers pages that ask on the control channel, and the server."""

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
        self.background.must_be_free(there)
        return self.run(next_prompt(there), session=there)

    def run_in_background(
        self, prompt: str, *, session: Session | None = None, options: TurnOptions = DEFAULTS
    ) -> Run[TurnResult]:
        """Start a turn and return at once; its cell goes on to show it.

        Raises
        ------
        TurnError
            If the conversation is busy with another turn.
        """
        return self._runs.start(self._prompted(prompt, session, options, waits=False))

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
        return self._runs.start(self._called(name, arguments, session, options, waits=False))

    def ladder(self, settings: Settings) -> Ladder:
        """How a person is asked."""
        return Ladder(
            settings.frontend,
            self.clients,
            hears_control=control.has_heard,
            page_comes_later=settings.page_comes_later,
        )

    def attend(self, work: Callable[[], T]) -> T:
        """Do this in another thread, and hear meanwhile what pages answer to it."""
        cell, ran = Cell(current_kernel(), self.hermes.owned_comms), ran_cells.noted()
        for page in ran.pages.open_ones() if ran is not None and ran.pages else ():
            cell.own_comm(page.id)

        def here() -> T:
            with asked_in(cell):
                return work()

        return self.serve(cell, lambda: in_tool_thread(here))

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

    def ask_here(self) -> int:
        """Ask with prompts, in this thread, what turns in the background wait for; how much."""
        return sum(cell.ask_here() for cell in self._cells_behind())

    @property
    def is_probing(self) -> bool:
        """Is it still open how one of the turns in the background asks?"""
        clients = [cell.client for cell in self._cells_behind() if cell.has_kernel]
        return any(self.clients.shows_widgets(client) is None for client in clients)

    def _cells_behind(self) -> list[BackgroundCell]:
        cells = [turn.cell for turn in self.running]
        return [cell for cell in cells if isinstance(cell, BackgroundCell)]

    def close(self) -> None:
        """Stop what runs; end shells, connections and child processes."""
        self.stop()
        self._runs.close(1.0)
        start(self.hermes.close).future.result(timeout=CLOSE_SECONDS)
        self.code_loop.close()

    def serve(self, cell: Cell, main: Callable[[], Awaitable[T]]) -> T:
        """Run ``main()`` for a command while its cell hears the page."""
        try:
            return run_in_cell(cell, main, **self._serving())
        finally:
            cell.close()

    def _serving(self) -> dict[str, Any]:
        return {
            "kernel": current_kernel(),
            "owned": self.hermes.owned_comms,
            "commands": commands(self),
        }

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
        self.background.must_be_free(there)
        self.server_models.ready(self.hermes.plain_settings)
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
        self.background.must_be_free(there)
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
