"""What the user has chosen: traits over environment over ``config.yaml`` over defaults.

What a user chooses by the environment is read here only. A `Settings` is frozen; a change makes
a new one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from hermes_jupyter.agents_settings import (
    DelegationSettings,
    MixtureSettings,
    delegation_settings,
    mixture_settings,
)
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.model_settings import (
    ModelChoice,
    check_api,
    fallbacks,
    keys_in,
    prices,
    seconds_in,
    vision_model,
)
from hermes_jupyter.replay_settings import check_replay, replay_in
from hermes_jupyter.settings_file import APPROVAL_MODES, ApprovalMode, from_file, said
from hermes_jupyter.terminal_settings import terminal_settings
from hermes_jupyter.tool_search_settings import check_tool_search

FrontEnd = Literal["auto", "widget", "control", "input", "policy"]
FRONT_ENDS: tuple[str, ...] = get_args(FrontEnd)
VISIONS = ("auto", "on", "off")
PROFILES = ("auto", "full", "small", "tiny")
CONTAINMENTS = ("off", "auto", "bubblewrap", "landlock")
RULE_LISTS = ("allow", "ask", "deny")
MAX_SCANNER_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One consistent set of choices."""

    model: str = ""
    """Name of a model; empty takes the endpoint's first one, or the embedded model."""
    base_url: str = ""
    """An OpenAI-compatible endpoint, with ``/v1``."""
    api_key: str = field(default="", repr=False)
    server_url: str = ""
    """The Jupyter server that has started this kernel, as it says itself."""
    via_server: bool = False
    """Whether that server wants its models to be used, if the user names no endpoint."""
    provider: str = ""
    """Who serves the model, by the names of the table of providers; empty: what ``base_url`` says.
    """
    api: str = ""
    """``chat`` or ``responses``; empty takes what suits the model."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys of providers, by the names of their environment variables."""
    fallback_models: tuple[ModelChoice, ...] = ()
    """Asked in this order when the model fails and waiting does not help; each turn begins anew
    with the first. A name alone is another model of the same endpoint."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of models, for a million tokens, where the known ones are not right."""
    max_tries: int = 3
    """How often a model is asked for one answer, before the next is."""
    first_token_timeout: float = 0.0
    """Longest wait for the beginning of an answer, in seconds; 0 takes the provider's."""
    stall_timeout: float = 0.0
    """Longest silence in the middle of an answer, in seconds; 0 takes the provider's."""
    max_tokens: int = 0
    """Tokens that the model calls of a turn may take, read and written; 0 for any number."""
    max_cost: float = 0.0
    """US dollars that the model calls of a turn may cost; 0 for any amount."""
    local_model: str = ""
    """A known local model or the path of a .gguf file; empty takes what is installed."""
    profile: str = "auto"
    """How much help the model gets: ``full`` (none), ``small``, ``tiny``; or as its name tells."""
    vision: str = "auto"
    """Whether the model sees images: ``on``, ``off``, or as its server or its name tells."""
    vision_model: ModelChoice | None = None
    """Who is asked about images if the model does not see them."""
    toolsets: tuple[str, ...] = ()
    """Toolsets and tools to offer; empty offers the notebook's own and the user's tools."""
    disabled: tuple[str, ...] = ()
    max_steps: int = 90
    approvals: ApprovalMode = "ask"
    """``edits`` lets edits of cells and of the project's files run, ``plan`` nothing that changes
    anything; ``auto`` has a model look first; ``deny`` asks nobody, and ``off`` runs all but the
    worst."""
    allow: tuple[str, ...] = ()
    """Rules such as ``terminal(rm build.log)``: run without asking."""
    ask: tuple[str, ...] = ()
    """Rules by which a person is asked, whatever else would allow it."""
    deny: tuple[str, ...] = ()
    """Rules of what is never run. They win."""
    approval_timeout: float = 0.0
    """Seconds after which a request that nobody answers is denied; 0 waits for ever."""
    frontend: FrontEnd = "auto"
    """How a person is asked; ``auto`` finds out what the front end can do."""
    page_comes_later: bool = False
    """Is the page shown only when all cells have run, as Voila does?"""
    tool_timeout: float = 600.0
    """Longest time of a tool that names none itself, in seconds."""
    hook_timeout: float = 5.0
    """Longest time of a hook, in seconds; then it goes on without it."""
    tool_search_share: float = 10.0
    """Percent of the model's window that descriptions of tools may take. Of more tools the least
    used are left out, and the model searches them; 0 leaves nothing out."""
    tool_limit: int = 128
    """How many tools the model's provider accepts in a request; 0 for any number."""
    context_window: int = 0
    """Tokens of the model's context window; 0 for what its server says."""
    env_passthrough: tuple[str, ...] = ()
    """Variables of this process that commands get although they look secret: names, or patterns
    such as ``AWS_*``."""
    containment: str = "off"
    """What holds commands in bounds: ``auto`` takes the best that this machine has. What is asked
    for and not possible keeps commands from running."""
    network: str = "on"
    """Whether contained commands have one: ``on`` or ``off``."""
    terminal: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Which terminal to use, and what its backend needs to know, by the names of the environment:
    ``TERMINAL_ENV``, ``TERMINAL_SSH_HOST``."""
    isolated: str = "ask"
    """``run``: commands in a container that has no folder of this machine run without asking."""
    scanner: str = "auto"
    """A program that looks at commands first; ``auto`` takes tirith if it is there."""
    scanner_timeout: float = 5.0
    scanner_fail_open: bool = True
    """Whether commands run unscanned when the scanner fails; otherwise a person is asked."""
    skill_folders: tuple[str, ...] = ()
    """Further folders with skills, besides ``<home>/skills``."""
    connection_folders: tuple[str, ...] = ()
    """Where Jupyter keeps the keys of running kernels, if not where it usually does."""
    notebook: str = ""
    """Path of the notebook that this kernel runs for, as Jupyter tells it; empty if unknown."""
    compaction: float = 50.0
    """Percent of the model's window at which a conversation is made shorter; 0: only when asked
    to, or when the server says that it is too long."""
    compaction_model: str = ""
    """Who writes the notes then; the model of the turn if empty."""
    context: float = 10.0
    """Percent of the model's window that the user's cells above may take; 0: it is not told."""
    delegation: DelegationSettings = field(default_factory=DelegationSettings)
    """Of the agents that work for the agent."""
    mixture: MixtureSettings = field(default_factory=MixtureSettings)
    """The models that are asked together."""
    record: bool = False
    """Whether turns leave a recording in the notebook, or in a file beside it."""
    replay: str = ""
    """``record`` makes turns again from their recordings; ``tools`` runs their calls anew."""
    recordings: str = ""
    """A notebook, recording or folder in which recordings are looked for first."""
    keep_answers: str = "prompt"
    """When a cell that is run again shows its earlier answer: ``prompt`` if its prompt is the
    same, ``context`` if what was asked before it is the same, too, or ``never``."""
    reopen: bool = True
    """Whether a notebook goes on with its own conversation when its kernel is started anew."""
    checkpoint_space: int = 1024
    """Megabytes for what files were like before each turn, for each workspace; 0 keeps nothing,
    so that turns cannot be undone."""
    home: Path = field(default_factory=lambda: Path.home() / ".hermes")
    notices: tuple[str, ...] = ()
    """What a person should know about these settings."""

    def __post_init__(self) -> None:
        _one_of("approvals", self.approvals, APPROVAL_MODES)
        _one_of("frontend", self.frontend, FRONT_ENDS)
        _one_of("containment", self.containment, CONTAINMENTS)
        _one_of("network", self.network, ("on", "off"))
        _one_of("isolated", self.isolated, ("ask", "run"))
        _one_of("profile", self.profile, PROFILES)
        _one_of("vision", self.vision, VISIONS)
        if not 0 < self.scanner_timeout <= MAX_SCANNER_SECONDS:
            raise ConfigurationError(
                f"scanner_timeout must be more than 0 and at most {MAX_SCANNER_SECONDS:g} s, "
                f"not {self.scanner_timeout!r}"
            )
        if self.max_steps < 1:
            raise ConfigurationError(f"max_steps must be at least 1, not {self.max_steps!r}")
        if self.tool_timeout <= 0:
            raise ConfigurationError(f"tool_timeout must be positive, not {self.tool_timeout!r}")
        if not 0 < self.hook_timeout < float("inf"):
            raise ConfigurationError(f"hook_timeout must be positive, not {self.hook_timeout!r}")
        if not 0 <= self.approval_timeout < float("inf"):
            raise ConfigurationError(
                f"approval_timeout must be a number of seconds, not {self.approval_timeout!r}"
            )
        if type(self.context_window) is not int or self.context_window < 0:
            raise ConfigurationError(
                f"context_window must be a number of tokens, not {self.context_window!r}"
            )
        check_tool_search(self.tool_search_share, self.tool_limit)
        if not 0 <= self.compaction <= 90:
            raise ConfigurationError(f"compaction must be 0 to 90 percent, not {self.compaction!r}")
        if not 0 <= self.context <= 50:
            raise ConfigurationError(f"context must be 0 to 50 percent, not {self.context!r}")
        if type(self.checkpoint_space) is not int or self.checkpoint_space < 0:
            raise ConfigurationError(
                f"checkpoint_space must be a number of megabytes, not {self.checkpoint_space!r}"
            )
        check_api(self.api)
        check_replay(self.replay, self.keep_answers)
        for name in ("first_token_timeout", "stall_timeout", "max_cost"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigurationError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        if type(self.max_tokens) is not int or self.max_tokens < 0:
            raise ConfigurationError(f"max_tokens must be 0 or more, not {self.max_tokens!r}")
        if type(self.max_tries) is not int or self.max_tries < 1:
            raise ConfigurationError(f"max_tries must be at least 1, not {self.max_tries!r}")

    @property
    def has_endpoint(self) -> bool:
        return bool(self.base_url or self.api_key or self.provider)

    @property
    def user_tools(self) -> Path:
        """Where the user's own ``*_tool.py`` files lie."""
        return self.home / "jupyter" / "tools"


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def load(traits: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Settings from the notebook's traits, ``config.yaml`` and the environment.

    Parameters
    ----------
    traits
        What ``c.Hermes`` and ``%config Hermes`` say; empty values count as not said.
    env
        The environment; ``os.environ`` if None.

    Raises
    ------
    ConfigurationError
        For a value that is not allowed, or a ``config.yaml`` that cannot be read.
    """
    env = os.environ if env is None else env
    home = Path(env["HERMES_HOME"]) if env.get("HERMES_HOME") else Path.home() / ".hermes"
    found: dict[str, Any] = {"home": home}
    in_file = from_file(home / "config.yaml")
    found |= in_file
    found["terminal"] = terminal_settings(in_file.get("terminal"), env)
    found |= said(
        {
            "api_key": env.get("OPENAI_API_KEY"),
            "base_url": env.get("OPENAI_BASE_URL"),
            "model": env.get("HERMES_MODEL"),
            "local_model": env.get("HERMES_LOCAL_MODEL"),
            "connection_folders": tuple(filter(None, [env.get("JUPYTER_RUNTIME_DIR")])),
            "keys": keys_in(env),
            "server_url": env.get("HERMES_SERVER_URL"),
            "via_server": env.get("HERMES_VIA_SERVER") == "1",
            "stall_timeout": seconds_in(env, "HERMES_STREAM_STALE_TIMEOUT"),
            "page_comes_later": "VOILA_BASE_URL" in env,
            "notebook": _notebook(env.get("JPY_SESSION_NAME", "")),
            **replay_in(env),
        }
    )
    in_files = {name: found.get(name, ()) for name in RULE_LISTS}
    found |= said(traits or {})
    # A rule that forbids does not go away because a notebook has one of its own.
    found |= {name: (*in_files[name], *_own(found, name, in_files)) for name in RULE_LISTS}
    found["fallback_models"] = fallbacks(found.get("fallback_models"))
    found["prices"] = prices(found.get("prices"))
    found["vision_model"] = vision_model(found.get("vision_model"))
    own = traits or {}
    found["delegation"] = delegation_settings(in_file.get("delegation"), own.get("delegation"))
    found["mixture"] = mixture_settings(in_file.get("mixture"), own.get("mixture"))
    known = {entry.name for entry in fields(Settings)}
    return Settings(**{name: value for name, value in found.items() if name in known})


def _notebook(named: str) -> str:
    """The absolute path of a notebook; consoles have names, too, and no file."""
    return str(Path(named).absolute()) if named.endswith(".ipynb") else ""


def _own(found: Mapping[str, Any], name: str, in_files: Mapping[str, Any]) -> tuple[str, ...]:
    rules = found.get(name, ())
    return () if rules is in_files[name] else tuple(rules)
