"""Everything of one kernel: settings, tools, sessions, models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.agent.models.choice import choose, fall_back, is_local
from hermes_jupyter.agent.tool_search.usage import ToolUsage
from hermes_jupyter.calls import Usage
from hermes_jupyter.conversations import Conversations
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.events import Event, Listener
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.road.hooks import Hooks
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.store.sessions.catalog import Reopened, Sessions
from hermes_jupyter.store.sessions.journal import Journal
from hermes_jupyter.turn import Turn
from hermes_jupyter.turn_values import TurnOptions, TurnResult, policy_of
from tools.availability import Availability, check_all
from tools.discovery import Discovered, discover, discover_builtin
from tools.environments.job_table import JobOwner
from tools.registry import ToolEntry, ToolRegistry, registry
from tools.toolsets import UnknownToolset, resolve_toolsets
from tools.view import RegistryView

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
        self.hooks = Hooks()
        """What plugins say before tools run."""
        self.tool_usage = ToolUsage(settings.home / "jupyter" / "tool_usage.json")

    @property
    def settings(self) -> Settings:
        """The settings of turns that begin now.

        Raises
        ------
        ConfigurationError
            When they are changed to some with a rule that is none.
        """
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        policy_of(settings)
        self._settings = settings

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
        return self.conversations.begin(name)

    def _session(self, name: str, stored: Journal | Reopened) -> Session:
        settings = self.settings
        return Session(
            name,
            stored,
            settings.home,
            settings.env_passthrough,
            skill_folders=settings.skill_folders,
            owner=self._owner,
            terminal=settings.terminal,
        )

    async def close(self) -> None:
        """End shells and connections. The sessions cannot be used any more."""
        self.conversations.close()
        for model in self._models.values():
            await model.close()
        self._models.clear()

    def look_for_tools(self) -> None:
        """Find the user's tool files: new ones, and those that have changed."""
        self.discovered = self._builtin + discover(self.settings.user_tools)

    def catalog(self, session: Session | None = None) -> RegistryView:
        """All tools that there are now, those of the session alone included."""
        return self.registry.view(overlay=session.overlay if session else None)

    def chosen(self, settings: Settings, session: Session | None = None) -> RegistryView:
        """The tools that the settings ask for, whether or not they can be used now.

        If they name none, the embedded model is offered few: more would confuse it. And where
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
        key = (*named, settings.api, settings.local_model, settings.context_window)
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

        def opener(choice: ModelChoice) -> Callable[[], Model]:
            key = (choice, settings.provider, settings.base_url, settings.api_key)
            return lambda: self._opened(key, settings, lambda: fall_back(choice, settings))

        return [opener(choice) for choice in settings.fallback_models]

    def _opened(
        self, named: tuple[Any, ...], settings: Settings, opened: Callable[[], Model]
    ) -> Model:
        waits = (settings.first_token_timeout, settings.stall_timeout, str(settings.prices))
        key = (*named, *waits)
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
            turn = Turn(self, session, options, listeners, context)
            return await turn.run(prompt)

    def tell_once(self, key: str) -> bool:
        """True the first time, so that a notice is given once for each kernel."""
        first = key not in self._told
        self._told.add(key)
        return first


def _default(settings: Settings) -> str:
    """The toolset for those who name none."""
    if is_local(settings.model, settings):
        return "small"
    return "headless" if settings.frontend == "policy" else "notebook"


def _checked(tools: RegistryView) -> list[tuple[ToolEntry, Availability]]:
    entries = tools.entries()
    return list(zip(entries, check_all(entries), strict=True))
