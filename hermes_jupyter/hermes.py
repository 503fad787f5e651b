"""Everything of one kernel: settings, tools, sessions, models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.eyes import usable_vision
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.models.choice import choose, fall_back, profile_of
from hermes_jupyter.agent.tool_search.usage import ToolUsage
from hermes_jupyter.calls import Usage
from hermes_jupyter.checkpoint import TurnCheckpoint
from hermes_jupyter.conversations import Conversations
from hermes_jupyter.delegation.delegation import Delegation
from hermes_jupyter.delegation.lent import Lent
from hermes_jupyter.delegation.mixture import Mixture, usable_mixture
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.events import Event, Listener
from hermes_jupyter.hooks import Hooks, OnSessionFinalize, OnSessionReset
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.redaction import redact
from hermes_jupyter.replay.choosing import Chooser
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.store.checkpoints.recorder import About
from hermes_jupyter.store.checkpoints.store import Checkpoints, Store
from hermes_jupyter.store.sessions.catalog import Reopened, Sessions
from hermes_jupyter.store.sessions.journal import Journal
from hermes_jupyter.turn_values import TurnOptions, TurnResult, policy_of
from hermes_jupyter.undoable import Undoable
from tools.availability import Availability, check_all
from tools.discovery import Discovered, discover, discover_builtin
from tools.environments.job_table import JobOwner
from tools.registry import ToolEntry, ToolRegistry, registry
from tools.toolsets import UnknownToolset, resolve_toolsets
from tools.view import RegistryView

TITLE_CHARS = 80
"""Of a prompt, in the list of checkpoints."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Hermes:
    """What the turns of one kernel share.

    Made at first use. ``registry`` is the process's; sessions are named, and one of them is
    the current one.
    """

    def __init__(
        self,
        settings: Settings,
        tools: ToolRegistry = registry,
        owner: JobOwner | None = None,
    ) -> None:
        self.through: Callable[[Settings], Settings] = lambda plain: plain
        """Who may put other models in the place of those of the settings."""
        self.settings = settings
        self._owner = owner
        self.registry = tools
        self.owned_comms: set[str] = set()
        self._builtin = discover_builtin()
        self.discovered: list[Discovered] = []
        self.look_for_tools()
        self.conversations = Conversations(
            Sessions(settings.home), self._session, settings.notebook if settings.reopen else ""
        )
        self._models: dict[tuple[Any, ...], Model] = {}
        self._told: set[str] = set()
        self._chooser = Chooser(self)
        self.checkpoints = Checkpoints(settings.home)
        self.undoables: list[Undoable] = []
        """What turns may change besides files."""
        self.hooks = Hooks(lambda: self.settings.hook_timeout)
        """Other code that hears of turns, and may add to them."""
        self.tool_usage = ToolUsage(settings.home / "jupyter" / "tool_usage.json")

    @property
    def settings(self) -> Settings:
        """The settings of turns that begin now.

        Raises
        ------
        ConfigurationError
            When they are changed to some with a rule that is none.
        """
        return self.through(self.plain_settings)

    @settings.setter
    def settings(self, settings: Settings) -> None:
        policy_of(settings)
        self.plain_settings = settings

    def session(self, name: str = "") -> Session:
        """The named session, made if it is new; the current one if no name is given."""
        return self.conversations.session(name)

    def sessions(self) -> list[Session]:
        return self.conversations.open_ones()

    @property
    def current(self) -> str:
        """The name of the session that goes on if none is named."""
        return self.conversations.current

    @current.setter
    def current(self, name: str) -> None:
        self.conversations.current = name

    def new_session(self, name: str = "") -> Session:
        """Begin the conversation of this name anew; what was said stays stored.

        Raises
        ------
        TurnError
            If a turn of it still runs.
        """
        session = self.conversations.begin(name)
        self.hooks.tell_soon(OnSessionReset(session_id=session.name))
        return session

    def _session(self, name: str, stored: Journal | Reopened) -> Session:
        settings = self.settings
        session = Session(
            name,
            stored,
            settings.home,
            settings.env_passthrough,
            skill_folders=settings.skill_folders,
            owner=self._owner,
            terminal=settings.terminal,
        )
        session.on_close = lambda: self.hooks.tell_soon(OnSessionFinalize(session_id=session.name))
        return session

    def checkpoint_store(self, session: Session) -> Store:
        """Where the checkpoints of the session's workspace are kept."""
        settings = self.settings
        return self.checkpoints.of(
            session.project,
            most_bytes=settings.checkpoint_space << 20,
            notebook=settings.notebook,
        )

    def checkpoint(
        self, session: Session, turn: str, prompt: str, warn: Callable[[str], object]
    ) -> TurnCheckpoint | None:
        """What makes it possible to undo a turn; None if that is switched off."""
        if not self.settings.checkpoint_space:
            return None
        title = redact(" ".join(prompt[: 4 * TITLE_CHARS].split()))[:TITLE_CHARS]
        about = About(turn=turn, session=session.id, title=title)
        return TurnCheckpoint(self.checkpoint_store(session), about, self.undoables, warn)

    async def close(self) -> None:
        """End shells and connections. The sessions cannot be used any more."""
        self.conversations.close()
        self.checkpoints.close()
        await asyncio.sleep(0)  # what hooks are told of it comes in
        await self.hooks.settle()
        for model in self._models.values():
            await model.close()
        self._models.clear()

    def look_for_tools(self) -> None:
        """Find the user's tool files: new ones, and those that have changed."""
        self.discovered = self._builtin + discover(self.settings.user_tools)

    def catalog(self, session: Session | None = None) -> RegistryView:
        """All tools that there are now, those of the session alone included."""
        own = session.overlay.entries() if session else []
        usable = {
            **usable_mixture(self.registry, self.settings),
            **usable_vision(self.registry, self.settings),
        }
        there = {**usable, **{entry.name: entry for entry in own}}
        return self.registry.view(overlay=there)

    def chosen(self, settings: Settings, session: Session | None = None) -> RegistryView:
        """The tools that the settings ask for, whether or not they can be used now.

        If they name none, a small model is offered few: more would confuse it. And where
        nobody can be asked, no tool asks.

        Raises
        ------
        ConfigurationError
            For a name that is neither a toolset nor a tool.
        """
        self.look_for_tools()
        there = self.catalog(session)
        try:
            names = resolve_toolsets(
                settings.toolsets or None,
                settings.disabled,
                default=_default(settings),
                tools=there,
            )
        except UnknownToolset as error:
            raise ConfigurationError(str(error)) from None
        return there.restrict(allow=names)

    def offered(
        self, settings: Settings, session: Session | None = None
    ) -> list[tuple[ToolEntry, Availability]]:
        """The chosen tools, each with whether it can be used now.

        Waits for the first answers of the tools' own checks, so call it in a tool thread where a
        loop must not wait.
        """
        return _checked(self.chosen(settings, session))

    def usable(self, settings: Settings, session: Session | None = None) -> RegistryView:
        """The chosen tools that can be used now: what the agent of a turn may call.

        Waits like `offered`.
        """
        chosen = self.chosen(settings, session)
        return chosen.restrict(allow=[entry.name for entry, found in _checked(chosen) if found.ok])

    def model(self, settings: Settings) -> Model:
        """The model of these settings; the same one as long as they name the same."""
        named = (settings.model, settings.provider, settings.base_url, settings.api_key)
        key = (*named, settings.api, settings.local_model, settings.context_window, settings.vision)
        return self._opened(key, settings, lambda: choose(settings.model, settings))

    def compactor(
        self,
        session: Session,
        settings: Settings,
        emit: Callable[[Event], None],
        used: Callable[[Usage], None],
    ) -> Compactor:
        """Who makes the session's conversation shorter."""
        named = settings.compaction_model
        return Compactor(
            transcript=session.transcript,
            emit=emit,
            share=settings.compaction / 100,
            writer=(lambda: self.model(replace(settings, model=named))) if named else None,
            gauge=session.gauge,
            used=used,
        )

    def fallbacks(self, settings: Settings) -> list[Callable[[], Model]]:
        """Open the models to ask when that one fails, each when it is needed."""

        chosen = self.chosen_model
        return [partial(chosen, choice, settings) for choice in settings.fallback_models]

    def chosen_model(self, choice: ModelChoice, settings: Settings) -> Model:
        """A model that is named by itself; what its choice leaves open is as with the first."""
        key = (choice, settings.provider, settings.base_url, settings.api_key)
        return self._opened(key, settings, lambda: fall_back(choice, settings))

    def helpers(self, lent: Lent) -> dict[str, Any]:
        """What tools get that have other agents or models work for a turn."""
        return {"delegation": Delegation(self, lent), "mixture": Mixture(self, lent)}

    def _opened(
        self, named: tuple[Any, ...], settings: Settings, opened: Callable[[], Model]
    ) -> Model:
        waits = (settings.first_token_timeout, settings.stall_timeout, str(settings.prices))
        key = (*named, settings.profile, *waits)
        if key not in self._models:
            self._models[key] = opened()
        return self._models[key]

    async def turn(
        self,
        prompt: str,
        *,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any] = NOTHING,
    ) -> TurnResult:
        """Run one turn; on the agent loop.

        ``context`` is what tools get beside what the session gives them.

        Raises
        ------
        HermesError
            If the turn fails: one line for the user. Listeners have heard it, too.
        asyncio.CancelledError
            When it is interrupted.
        """
        with session.occupied():
            turn = await self._chooser.turn(prompt, session, options, listeners, context)
            return await turn.run(prompt)

    def tell_once(self, key: str) -> bool:
        """True the first time, so that a notice is given once for each kernel."""
        first = key not in self._told
        self._told.add(key)
        return first


def _default(settings: Settings) -> str:
    """The toolset for those who name none."""
    if toolset := profile_of(settings).toolset:
        return toolset
    return "headless" if settings.frontend == "policy" else "notebook"


def _checked(tools: RegistryView) -> list[tuple[ToolEntry, Availability]]:
    entries = tools.entries()
    return list(zip(entries, check_all(entries), strict=True))
