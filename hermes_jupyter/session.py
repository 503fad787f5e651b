"""What outlives a turn, and the wiring of everything for one kernel."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent, Outcome
from hermes_jupyter.agent.models.base import Message, Model
from hermes_jupyter.agent.models.choice import DEMONSTRATION, choose, is_local
from hermes_jupyter.agent.prompt import system_prompt
from hermes_jupyter.calls import TurnStatus, Usage
from hermes_jupyter.errors import ConfigurationError, HermesError, TurnError
from hermes_jupyter.events import (
    Event,
    Listener,
    NoticeGiven,
    StepFinished,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from hermes_jupyter.settings import APPROVAL_MODES, Settings
from tools.async_bridge import in_tool_thread, loop_thread
from tools.availability import Availability, check
from tools.discovery import Discovered, discover, discover_builtin
from tools.environments.local import LocalEnvironment
from tools.registry import ToolEntry, ToolRegistry, registry
from tools.toolsets import UnknownToolset, resolve_toolsets

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """What a user says on the ``%%agent`` line; empty means as the settings say."""

    model: str = ""
    tools: tuple[str, ...] = ()
    no_tools: bool = False
    max_steps: int = 0
    approve: str = ""
    frontend: str = ""

    def over(self, settings: Settings) -> Settings:
        """The settings of this turn.

        Raises
        ------
        ConfigurationError
        """
        if self.approve and self.approve not in APPROVAL_MODES:
            raise ConfigurationError(
                f"--approve must be one of {', '.join(APPROVAL_MODES)}, not {self.approve!r}"
            )
        return replace(
            settings,
            model=self.model or settings.model,
            toolsets=self.tools or settings.toolsets,
            max_steps=self.max_steps or settings.max_steps,
            approvals=self.approve or settings.approvals,  # type: ignore[arg-type]
            frontend=self.frontend or settings.frontend,  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn went; shows itself as its answer."""

    text: str
    status: TurnStatus
    reason: str
    session: str
    turn: str
    steps: int
    seconds: float
    usage: Usage = field(default_factory=Usage)

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


class Session:
    """A conversation: its transcript, its shell, its to-do list, its standing approvals."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.transcript: list[Message] = []
        self.todos: list[dict[str, Any]] = []
        self.written: set[str] = set()
        self.desk = ApprovalDesk()
        self.environment = LocalEnvironment(cwd=str(Path.cwd()))
        self.usage = Usage()
        self._task: asyncio.Task[Any] | None = None

    @property
    def busy(self) -> bool:
        """Does a turn of it run?"""
        return self._task is not None

    @property
    def stranded(self) -> bool:
        """Does its turn hang on an agent loop that a bad tool has blocked for good?"""
        return self._task is not None and self._task.get_loop() is not loop_thread().loop

    def must_be_free(self) -> None:
        """Raise a TurnError if a turn of it runs."""
        if self._task is not None:
            raise TurnError(
                f"session {self.name!r} is busy with another turn; wait, stop it with "
                "%hermes stop, or use another one: --session NAME"
            )

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Let the current task be the session's turn; TurnError if another one is."""
        self.must_be_free()
        self._task = asyncio.current_task()
        try:
            yield
        finally:
            self._task = None

    def stop(self) -> bool:
        """Interrupt the turn that runs, if one does. Any thread."""
        task = self._task
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)
        return task is not None

    def close(self) -> None:
        self.environment.close()


class Hermes:
    """Everything of one kernel: settings, tools, sessions, models.

    Made at first use. ``registry`` is the process's; sessions are named, and one of them is
    the current one.
    """

    def __init__(self, settings: Settings, tools: ToolRegistry = registry) -> None:
        self.settings = settings
        self.registry = tools
        self.owned_comms: set[str] = set()
        self.discovered: list[Discovered] = discover_builtin() + discover(settings.user_tools)
        self._sessions: dict[str, Session] = {}
        self._models: dict[tuple[str, str, str], Model] = {}
        self._told: set[str] = set()
        self.current = "main"

    # sessions

    def session(self, name: str = "") -> Session:
        """The named session, made if it is new; the current one if no name is given."""
        name = name or self.current
        if name not in self._sessions:
            self._sessions[name] = Session(name)
        return self._sessions[name]

    def sessions(self) -> list[Session]:
        return list(self._sessions.values())

    def new_session(self, name: str = "") -> Session:
        """Forget the conversation of this name and begin it anew.

        Raises
        ------
        TurnError
            If a turn of it still runs.
        """
        name = name or self.current
        old = self._sessions.get(name)
        if old is not None:
            if not old.stranded:
                old.must_be_free()
            old.close()
        self._sessions[name] = Session(name)
        return self._sessions[name]

    async def close(self) -> None:
        """End shells and connections. The sessions cannot be used any more."""
        for session in self._sessions.values():
            session.close()
        for model in self._models.values():
            await model.close()
        self._sessions.clear()
        self._models.clear()

    # tools and models

    def offered(self, settings: Settings) -> list[tuple[ToolEntry, Availability]]:
        """The tools that the settings ask for, each with whether it can be used now.

        If they name none, the embedded model is offered few: more would confuse it.

        Runs the tools' own checks, so call it in a tool thread where a loop must not wait.

        Raises
        ------
        ConfigurationError
            For a name that is neither a toolset nor a tool.
        """
        try:
            default = "small" if is_local(settings.model, settings) else "notebook"
            names = resolve_toolsets(settings.toolsets or None, settings.disabled, default=default)
        except UnknownToolset as error:
            raise ConfigurationError(str(error)) from None
        entries = [entry for name in sorted(names) if (entry := self.registry.get_entry(name))]
        return [(entry, check(entry.check_fn, entry.requires_env)) for entry in entries]

    def model(self, settings: Settings) -> Model:
        """The model of these settings; the same one as long as they name the same."""
        key = (settings.model, settings.base_url, settings.api_key)
        if key not in self._models:
            self._models[key] = choose(settings.model, settings)
        return self._models[key]

    # turns

    async def turn(
        self, prompt: str, *, session: Session, options: TurnOptions, listeners: list[Listener]
    ) -> TurnResult:
        """Run one turn; on the agent loop.

        Raises
        ------
        HermesError
            If the turn fails: one line for the user. Listeners have heard it, too.
        asyncio.CancelledError
            When it is interrupted.
        """
        with session.occupied():
            turn = _Turn(self, session, options.over(self.settings), options, listeners)
            return await turn.run(prompt)

    def tell_once(self, key: str) -> bool:
        """True the first time, so that a notice is given once for each kernel."""
        first = key not in self._told
        self._told.add(key)
        return first


class _Turn:
    """One turn: makes the agent, tells how it went."""

    def __init__(
        self,
        hermes: Hermes,
        session: Session,
        settings: Settings,
        options: TurnOptions,
        listeners: list[Listener],
    ) -> None:
        self._hermes = hermes
        self._session = session
        self._settings = settings
        self._options = options
        self._listeners = listeners
        self._id = secrets.token_hex(6)
        self._budget = Budget(settings.max_steps)
        self._began = time.monotonic()
        self._usage = Usage()

    def emit(self, event: Event) -> None:
        if isinstance(event, StepFinished):
            self._usage += event.usage
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # a view that fails must not end the turn
                logger.exception("a listener failed on %s", type(event).__name__)

    async def run(self, prompt: str) -> TurnResult:
        prompt = prompt.encode("utf-8", "replace").decode("utf-8")
        try:
            model = self._hermes.model(self._settings)
            self._announce(prompt, model.name)
            agent = self._agent(model, await self._tools())
            outcome = await agent.run(prompt)
        except asyncio.CancelledError:
            self._finish(Outcome(status="interrupted", reason="interrupted"))
            raise
        except HermesError as error:
            self._finish(Outcome(status="failed", reason=str(error)))
            raise
        except BaseException as error:
            self._finish(Outcome(status="failed", reason=f"{type(error).__name__}: {error}"))
            raise
        return self._finish(outcome)

    def _announce(self, prompt: str, model: str) -> None:
        self.emit(
            TurnStarted(
                session=self._session.name,
                turn=self._id,
                prompt=prompt,
                model=model,
                steps=self._budget.total,
            )
        )
        if is_local(self._settings.model, self._settings) and self._hermes.tell_once("local"):
            self.emit(NoticeGiven(text=DEMONSTRATION, key="demonstration"))
        if loses_cells() and self._hermes.tell_once("nest_asyncio"):
            self.emit(NoticeGiven(text=LOSES_CELLS, level="warning"))

    async def _tools(self) -> list[ToolEntry]:
        if self._options.no_tools:
            return []
        offered = await in_tool_thread(lambda: self._hermes.offered(self._settings))
        return [entry for entry, available in offered if available.ok]

    def _agent(self, model: Model, usable: list[ToolEntry]) -> Agent:
        session, environment = self._session, self._session.environment
        names = frozenset(entry.name for entry in usable)
        if not session.transcript:
            content = system_prompt(names, environment.cwd)
            session.transcript.append({"role": "system", "content": content})
        settings = self._settings
        road = Road(
            registry=self._hermes.registry,
            names=names,
            desk=session.desk,
            policy=Policy.parse(settings.approvals, settings.allow, settings.deny),
            emit=self.emit,
            context=self._context(),
            tool_timeout=settings.tool_timeout,
        )
        return Agent(
            model=model,
            road=road,
            definitions=[entry.definition() for entry in usable],
            emit=self.emit,
            budget=self._budget,
            transcript=session.transcript,
            cwd=lambda: environment.cwd,
        )

    def _context(self) -> dict[str, Any]:
        session = self._session
        return {
            "session_id": session.name,
            "task_id": session.name,
            "turn_id": self._id,
            "environment": session.environment,
            "todos": session.todos,
            "written": session.written,
        }

    def _finish(self, outcome: Outcome) -> TurnResult:
        seconds = time.monotonic() - self._began
        self._session.usage += self._usage
        self.emit(
            TurnFinished(
                status=outcome.status,
                text=outcome.text,
                reason=outcome.reason,
                steps=self._budget.used,
                seconds=seconds,
                usage=self._usage,
            )
        )
        return TurnResult(
            text=outcome.text,
            status=outcome.status,
            reason=outcome.reason,
            session=self._session.name,
            turn=self._id,
            steps=self._budget.used,
            seconds=seconds,
            usage=self._usage,
        )


LOSES_CELLS = (
    "nest_asyncio is applied in this kernel. With ipykernel 7.1 or later it loses cells that are "
    "queued while another runs. Hermes does not need it; nest-asyncio2 is safe."
)


def loses_cells() -> bool:
    """Has the user applied the old nest_asyncio on an ipykernel where that loses cells?"""
    patched = hasattr(asyncio, "_nest_patched") and not hasattr(asyncio, "_nest_asyncio2")
    kernel = sys.modules.get("ipykernel")
    version = getattr(kernel, "version_info", (0, 0))
    return patched and tuple(version[:2]) >= (7, 1)
