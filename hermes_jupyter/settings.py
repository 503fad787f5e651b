"""What the user has chosen: traits over environment over ``config.yaml`` over defaults.

What a user chooses by the environment is read here only. A `Settings` is frozen; a change makes
a new one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.model_settings import (
    ModelChoice,
    api_named,
    check_api,
    compaction_in,
    fallbacks,
    keys_in,
    prices,
    seconds_in,
)
from hermes_jupyter.terminal_settings import terminal_settings

ApprovalMode = Literal["ask", "edits", "plan", "auto", "deny", "off"]
FrontEnd = Literal["auto", "widget", "input", "policy"]
APPROVAL_MODES: tuple[str, ...] = get_args(ApprovalMode)
FRONT_ENDS: tuple[str, ...] = get_args(FrontEnd)
CONTAINMENTS = ("off", "auto", "bubblewrap", "landlock")
LEAST_TOOL_LIMIT = 11
"""Eight tools and the three that search for the others."""
RULE_LISTS = ("allow", "ask", "deny")
FORMER_MODES: Mapping[str, ApprovalMode] = {"manual": "ask", "smart": "auto"}
"""What Hermes Agent calls its modes."""
NEVER_OFF = (
    "approvals are not switched off by a file: it says so, and asks nevertheless. In a notebook: "
    "%%agent --approve off, or %config Hermes.approvals = 'off', which ends with the kernel"
)
_LOOKS_LIKE_RULE = re.compile(r"\s*(?:(?:@|effect:).+|[\w*?.-]+\s*\(.*\))\s*", re.DOTALL)
MAX_SCANNER_SECONDS = 60.0
SWITCH: Mapping[Any, str] = {True: "on", False: "off"}
"""What YAML makes of these two words."""
ALWAYS_SEARCH = 0.01
"""A share of the window that any set of tools exceeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One consistent set of choices."""

    model: str = ""
    """Name of a model; empty takes the endpoint's first one, or the embedded model."""
    base_url: str = ""
    """An OpenAI-compatible endpoint, with ``/v1``."""
    api_key: str = field(default="", repr=False)
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
    toolsets: tuple[str, ...] = ()
    """Toolsets and tools to offer; empty offers the notebook's own and the user's tools."""
    disabled: tuple[str, ...] = ()
    max_steps: int = 90
    approvals: ApprovalMode = "ask"
    """``edits`` lets edits of the project's files run, ``plan`` nothing that changes anything;
    ``auto`` has a model look first; ``deny`` asks nobody, and ``off`` runs all but the worst."""
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
    tool_timeout: float = 600.0
    """Longest time of a tool that names none itself, in seconds."""
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
    reopen: bool = True
    """Whether a notebook goes on with its own conversation when its kernel is started anew."""
    home: Path = field(default_factory=lambda: Path.home() / ".hermes")
    notices: tuple[str, ...] = ()
    """What a person should know about these settings."""

    def __post_init__(self) -> None:
        _one_of("approvals", self.approvals, APPROVAL_MODES)
        _one_of("frontend", self.frontend, FRONT_ENDS)
        _one_of("containment", self.containment, CONTAINMENTS)
        _one_of("network", self.network, ("on", "off"))
        _one_of("isolated", self.isolated, ("ask", "run"))
        if not 0 < self.scanner_timeout <= MAX_SCANNER_SECONDS:
            raise ConfigurationError(
                f"scanner_timeout must be more than 0 and at most {MAX_SCANNER_SECONDS:g} s, "
                f"not {self.scanner_timeout!r}"
            )
        if self.max_steps < 1:
            raise ConfigurationError(f"max_steps must be at least 1, not {self.max_steps!r}")
        if self.tool_timeout <= 0:
            raise ConfigurationError(f"tool_timeout must be positive, not {self.tool_timeout!r}")
        if not 0 <= self.approval_timeout < float("inf"):
            raise ConfigurationError(
                f"approval_timeout must be a number of seconds, not {self.approval_timeout!r}"
            )
        if type(self.context_window) is not int or self.context_window < 0:
            raise ConfigurationError(
                f"context_window must be a number of tokens, not {self.context_window!r}"
            )
        _check_tool_search(self.tool_search_share, self.tool_limit)
        if not 0 <= self.compaction <= 90:
            raise ConfigurationError(f"compaction must be 0 to 90 percent, not {self.compaction!r}")
        check_api(self.api)
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


def _check_tool_search(share: Any, limit: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 100:
        raise ConfigurationError(f"tool_search_share must be 0 to 100 percent, not {share!r}")
    if type(limit) is not int or not (limit == 0 or limit >= LEAST_TOOL_LIMIT):
        raise ConfigurationError(
            f"tool_limit must be 0 (no limit) or at least {LEAST_TOOL_LIMIT}, not {limit!r}"
        )


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
    in_file = _from_yaml(home / "config.yaml")
    found |= in_file
    found["terminal"] = terminal_settings(in_file.get("terminal"), env)
    found |= _said(
        {
            "api_key": env.get("OPENAI_API_KEY"),
            "base_url": env.get("OPENAI_BASE_URL"),
            "model": env.get("HERMES_MODEL"),
            "local_model": env.get("HERMES_LOCAL_MODEL"),
            "connection_folders": tuple(filter(None, [env.get("JUPYTER_RUNTIME_DIR")])),
            "keys": keys_in(env),
            "stall_timeout": seconds_in(env, "HERMES_STREAM_STALE_TIMEOUT"),
            "notebook": _notebook(env.get("JPY_SESSION_NAME", "")),
        }
    )
    in_files = {name: found.get(name, ()) for name in RULE_LISTS}
    found |= _said(traits or {})
    # A rule that forbids does not go away because a notebook has one of its own.
    found |= {name: (*in_files[name], *_own(found, name, in_files)) for name in RULE_LISTS}
    found["fallback_models"] = fallbacks(found.get("fallback_models"))
    found["prices"] = prices(found.get("prices"))
    known = {entry.name for entry in fields(Settings)}
    return Settings(**{name: value for name, value in found.items() if name in known})


def _notebook(named: str) -> str:
    """The absolute path of a notebook; consoles have names, too, and no file."""
    return str(Path(named).absolute()) if named.endswith(".ipynb") else ""


def _own(found: Mapping[str, Any], name: str, in_files: Mapping[str, Any]) -> tuple[str, ...]:
    rules = found.get(name, ())
    return () if rules is in_files[name] else tuple(rules)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in values.items() if value not in (None, "", [], ())}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in said.items()}


def _from_yaml(path: Path) -> dict[str, Any]:
    """The keys of Hermes Agent's own configuration that mean the same here."""
    if not path.is_file():
        return {}
    import yaml  # only for those who have such a file

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error
    if not isinstance(config, dict):
        raise ConfigurationError(f"{path} must hold keys and values, not {type(config).__name__}")
    model = config.get("model") or {}
    model = {"default": model} if isinstance(model, str) else model
    agent, terminal = config.get("agent") or {}, config.get("terminal") or {}
    skills = config.get("skills") or {}
    return _said(
        {
            "model": model.get("default"),
            "base_url": model.get("base_url"),
            "api_key": model.get("api_key"),
            "context_window": model.get("context_length"),
            **_models(config, model),
            **compaction_in(config),
            "max_steps": agent.get("max_turns"),
            "max_tries": agent.get("api_max_retries"),
            "tool_search_share": _tool_search_share(config.get("tools")),
            "env_passthrough": _names(terminal.get("env_passthrough")),
            "skill_folders": _names(skills.get("external_dirs")),
            "terminal": terminal,
            **_approvals(config.get("approvals"), config.get("command_allowlist")),
            **_security(config.get("security")),
        }
    )


def _models(config: Mapping[str, Any], model: Mapping[str, Any]) -> dict[str, Any]:
    """Where models are, in the words of Hermes Agent's files.

    ``providers: {NAME: {base_url, key_env, request_timeout_seconds, stale_timeout_seconds}}`` is
    read for the chosen provider.
    """
    provider = model.get("provider")
    provider = None if provider in ("auto", "main") else provider
    about = (config.get("providers") or {}).get(provider) or {}
    return {
        "provider": provider,
        "base_url": model.get("base_url") or about.get("base_url") or about.get("url"),
        "api": api_named(model.get("api_mode") or about.get("api_mode")),
        "first_token_timeout": about.get("request_timeout_seconds"),
        "stall_timeout": about.get("stale_timeout_seconds"),
        "fallback_models": config.get("fallback_providers") or config.get("fallback_model"),
        "prices": config.get("prices"),
        "max_cost": (config.get("agent") or {}).get("max_cost"),
        "max_tokens": (config.get("agent") or {}).get("max_tokens"),
    }


def _approvals(told: Any, allowlist: Any) -> dict[str, Any]:
    """``approvals: {mode, allow, ask, deny}`` and ``command_allowlist``.

    In Hermes Agent's files ``deny`` and the allowlist are patterns over commands; ours may be
    rules as well.
    """
    told = told if isinstance(told, dict) else {"mode": told}
    commands = _rules("command_allowlist", allowlist)
    allowed = (*_rules("approvals.allow", told.get("allow")), *(f"terminal({c})" for c in commands))
    asked, denied = (_rules(f"approvals.{name}", told.get(name)) for name in ("ask", "deny"))
    mode, notices = _mode(told.get("mode"))
    return {
        "approvals": mode,
        "notices": notices,
        "allow": allowed,
        "ask": tuple(map(_rule, asked)),
        "deny": tuple(map(_rule, denied)),
    }


def _security(told: Any) -> dict[str, Any]:
    """``security: {tirith_enabled, tirith_path, tirith_timeout, tirith_fail_open}``, and ours."""
    told = told if isinstance(told, dict) else {}
    scanner = told.get("tirith_path") or ("tirith" if told.get("tirith_enabled") else None)
    containment, network = told.get("containment"), told.get("network")
    return {
        "scanner": "off" if told.get("tirith_enabled") is False else scanner,
        "scanner_timeout": told.get("tirith_timeout"),
        "scanner_fail_open": told.get("tirith_fail_open"),
        "containment": "off" if containment is False else containment,
        "network": SWITCH[network] if isinstance(network, bool) else network,
        "isolated": told.get("isolated"),
    }


def _mode(told: Any) -> tuple[Any, tuple[str, ...]]:
    if told is False or told == "off":  # YAML reads "off" as false
        return "ask", (NEVER_OFF,)
    if told is not None and not isinstance(told, str):
        raise ConfigurationError(
            f"approvals.mode must be one of {', '.join(APPROVAL_MODES)}, not {told!r}"
        )
    return FORMER_MODES.get(told or "", told), ()


def _rules(name: str, told: Any) -> tuple[str, ...]:
    """A list of texts. One that is none is an error: a rule is never silently ignored."""
    rules = [told] if isinstance(told, str) else [] if told is None else told
    if not isinstance(rules, list):
        raise ConfigurationError(f"{name} must be a list of rules, not {told!r}")
    for rule in rules:
        if not isinstance(rule, str) or not rule.strip():
            raise ConfigurationError(f"{name} must hold texts; {rule!r} is no rule")
    return tuple(rules)


def _rule(text: str) -> str:
    return text if _LOOKS_LIKE_RULE.fullmatch(text) else f"*({text})"


def _names(told: Any) -> tuple[str, ...]:
    """One name, or a list of names."""
    names = told.split(",") if isinstance(told, str) else told or ()
    return tuple(str(name).strip() for name in names)


def _tool_search_share(tools: Any) -> Any:
    """``tools: {tool_search: {enabled: auto, threshold_pct: 10}}``; None if it says nothing."""
    told = tools.get("tool_search") if isinstance(tools, dict) else None
    told = told if isinstance(told, dict) else {"enabled": told}
    match told.get("enabled"):
        case False | "off":
            return 0.0
        case True | "on":
            return ALWAYS_SEARCH
        case None | "auto":
            return told.get("threshold_pct")
        case other:
            raise ConfigurationError(
                f"tools.tool_search.enabled must be auto, on or off, not {other!r}"
            )
