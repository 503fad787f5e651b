"""`Agent`: an agent as an object, for scripts, functions, cells and coroutines alike."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any

from hermes_jupyter.answering import Approve, Programmed
from hermes_jupyter.api import desktop
from hermes_jupyter.desktop import Desktop
from hermes_jupyter.errors import ConfigurationError, TurnCancelled, TurnError, TurnInterrupted
from hermes_jupyter.events import Event, Listener, TurnFinished, TurnStarted
from hermes_jupyter.going_on import next_prompt
from hermes_jupyter.kernel.runner import start
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.model_settings import fallbacks, prices
from hermes_jupyter.prepared import Audience
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions, TurnResult, policy_of
from hermes_jupyter.views.base import CellOutput, Desk, Emoji
from hermes_jupyter.views.script import script_view
from hermes_jupyter.views.turn import TurnView
from tools.async_bridge import on_persistent_loop

CLOSE_SECONDS = 5.0
OF_THE_KERNEL = frozenset(
    {"home", "notebook", "notices", "reopen", "skill_folders", "env_passthrough", "terminal",
     "connection_folders", "toolsets", "keys"}
)  # fmt: skip
"""Settings that cannot differ from agent to agent, or have another name here."""


class Agent:
    """An agent with a conversation of its own.

    Parameters
    ----------
    model, base_url, api_key, max_steps
        As ``%config Hermes`` knows them; what is not said is as the settings say.
    tools
        Toolsets and tools, as a sequence of names or as ``"file,terminal"``; ``()`` for none, None
        for the default.
    approvals
        The mode: ``ask edits plan auto deny off``.
    approve
        Asked about a call instead of a person: a function, or a coroutine function, that gets the
        `ApprovalRequest` and returns True, False, a decision or a `Ruling`. One that raises means
        no. Without it a cell asks with its buttons, and a script asks at its terminal; if standard
        input is none, the answer is no, and the result lists what was ``refused``.
    session
        Name of the conversation to go on with; without it the agent begins one of its own, which
        is closed with the agent.
    on_event
        Called with each event, on the thread of the agent's loop; it must not block.
    settings
        Any other setting of ``%config Hermes`` by its name.

    Raises
    ------
    ConfigurationError
        For a setting that is unknown or has a wrong value.

    Examples
    --------
    >>> agent = Agent(tools="file", approvals="deny")
    >>> agent.run_sync("How many lines has README.md?").text
    """

    def __init__(
        self,
        *,
        model: str = "",
        base_url: str = "",
        api_key: str = "",
        tools: str | Sequence[str] | None = None,
        approvals: str = "",
        approve: Approve | None = None,
        session: str = "",
        max_steps: int = 0,
        on_event: Listener | None = None,
        **settings: Any,
    ) -> None:
        self._desktop: Desktop = desktop()
        self._approve, self._on_event = approve, on_event
        self._is_own = not session
        self.session = session or f"agent-{secrets.token_hex(4)}"
        """The name of its conversation."""
        self.result: TurnResult | None = None
        """Of the last turn, however it ended."""
        self._is_closed = False
        self._stops = False
        named = tuple(filter(None, tools.split(","))) if isinstance(tools, str) else tools
        more = {"base_url": base_url, "api_key": api_key}
        self._options = TurnOptions(
            model=model,
            tools=tuple(named or ()),
            no_tools=named is not None and not named,
            max_steps=max_steps,
            approve=approvals,
            more={**{name: value for name, value in more.items() if value}, **_checked(settings)},
        )
        policy_of(self._options.over(self._desktop.hermes.settings))

    async def run(self, prompt: str) -> TurnResult:
        """Work on a prompt until it is done; the caller's loop goes on meanwhile.

        A turn that `stop` has ended gives its result, with the status "interrupted".

        Raises
        ------
        HermesError
            If the turn fails.
        asyncio.CancelledError
            If the caller is cancelled, or the person interrupts; the turn has ended then.
        """
        return await self._awaited(prompt)

    def run_sync(self, prompt: str) -> TurnResult:
        """The same, waiting: in a script, in a thread, in a function that a cell calls.

        Where a loop runs in this thread it stands still meanwhile; prefer ``await run(...)``.

        Raises
        ------
        HermesError
            If the turn fails.
        TurnInterrupted
            If the person interrupts it.
        """
        if on_persistent_loop():
            raise TurnError("run_sync() would wait for the loop it is called on; await run()")
        with self._watched(None) as (audience, told):
            try:
                return self._desktop.run(prompt, audience=audience, **self._about())
            except TurnInterrupted:
                if self._stops:
                    return told.result()
                raise

    async def stream(self, prompt: str) -> AsyncGenerator[Event, None]:
        """The events of a turn, as they come. `result` holds how it ended.

        To leave the loop early ends the turn.

        Raises
        ------
        HermesError
            After the last event, if the turn fails.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Event | None] = asyncio.Queue()

        def hear(event: Event) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, event)

        turn = loop.create_task(self._awaited(prompt, hear))
        turn.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            turn.result()
        except asyncio.CancelledError:
            raise _cancelled() from None
        finally:
            if not turn.done():
                turn.cancel()
                await asyncio.wait({turn})

    async def go_on(self) -> TurnResult:
        """Go on with a turn that was interrupted, stopped or broken; as `run`.

        Raises
        ------
        TurnError
            If there is nothing to go on with.
        """
        session = self._session()
        session.must_be_free()
        return await self._awaited(next_prompt(session))

    def say(self, text: str) -> bool:
        """Say something to the turn that runs; False: none runs, and the next one reads it."""
        return self._session().mailbox.say(text)

    def stop(self) -> bool:
        """End the turn that runs; False if none does. Any thread."""
        self._stops = True
        return self._session().stop()

    def close(self) -> None:
        """End what runs, and the agent's own conversation with its shell. It stays stored."""
        if self._is_closed:
            return
        closing = start(self._close).future
        if not on_persistent_loop():
            closing.result(CLOSE_SECONDS)

    async def aclose(self) -> None:
        """The same for coroutines."""
        if not self._is_closed:
            await asyncio.wrap_future(start(self._close).future)

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Agent:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _awaited(self, prompt: str, *listeners: Listener) -> TurnResult:
        with self._watched(asyncio.get_running_loop(), *listeners) as (audience, told):
            try:
                return await self._desktop.arun(prompt, audience=audience, **self._about())
            except TurnCancelled:
                task = asyncio.current_task()
                if self._stops and task is not None and not task.cancelling():
                    return told.result()
                raise _cancelled() from None

    @contextmanager
    def _watched(
        self, loop: asyncio.AbstractEventLoop | None, *listeners: Listener
    ) -> Iterator[tuple[Audience, _Told]]:
        """A turn is about to run: who hears of it."""
        self._session().must_be_free()
        self._stops, told = False, _Told()
        heard: Iterable[Listener | None] = (told, self._on_event, *listeners)

        def view(cell: CellOutput, desk: Desk, emoji: Emoji) -> TurnView | None:
            if self._approve is not None:
                return Programmed(self._approve, desk, loop)
            return None if current_kernel() is not None else script_view(cell, desk, emoji)

        try:
            yield Audience(tuple(filter(None, heard)), view), told
        finally:
            if told.finished is not None:
                self.result = told.result()

    def _session(self) -> Session:
        if self._is_closed:
            raise TurnError("this agent is closed; make another one")
        return self._desktop.hermes.session(self.session)

    def _about(self) -> dict[str, Any]:
        return {"session": self._session(), "options": self._options}

    async def _close(self) -> None:
        """On the agent's loop."""
        session, self._is_closed = self._session(), True
        await session.end_turn(CLOSE_SECONDS / 2)
        if self._is_own and not session.busy:
            self._desktop.hermes.conversations.put_away(session.name)


@dataclass(slots=True)
class _Told:
    """Listens for how a turn went."""

    started: TurnStarted | None = None
    finished: TurnFinished | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self.started = event
            case TurnFinished():
                self.finished = event

    def result(self) -> TurnResult:
        """Also of a turn that was interrupted or failed."""
        started = self.started or TurnStarted(session="", turn="", prompt="", model="", steps=0)
        finished = self.finished or TurnFinished(status="interrupted", text="")
        return TurnResult.of(finished, session=started.session, turn=started.turn)


def _checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Further settings, in the form that `Settings` holds."""
    known = {field.name for field in fields(Settings)} - OF_THE_KERNEL
    if unknown := sorted(settings.keys() - known):
        raise ConfigurationError(
            f"an agent has no setting {unknown[0]!r}; there are {', '.join(sorted(known))}"
        )
    found = {n: tuple(v) if isinstance(v, list) else v for n, v in settings.items()}
    if "fallback_models" in found:
        found["fallback_models"] = fallbacks(found["fallback_models"])
    if "prices" in found:
        found["prices"] = prices(found["prices"])
    return found


def _cancelled() -> asyncio.CancelledError:
    """Shown as `TurnCancelled` is; ``asyncio.timeout`` takes no class of ours for what it is."""
    stopped = TurnCancelled("the turn was stopped")
    plain = asyncio.CancelledError(*stopped.args)
    plain._render_traceback_ = stopped._render_traceback_  # type: ignore[attr-defined]
    return plain
