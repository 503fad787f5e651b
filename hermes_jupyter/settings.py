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

from hermes_jupyter.errors import ConfigurationError

ApprovalMode = Literal["ask", "deny", "off"]
FrontEnd = Literal["auto", "widget", "input", "policy"]
APPROVAL_MODES: tuple[str, ...] = get_args(ApprovalMode)
FRONT_ENDS: tuple[str, ...] = get_args(FrontEnd)
LEAST_TOOL_LIMIT = 11
"""Eight tools and the three that search for the others."""
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
    local_model: str = ""
    """A known local model or the path of a .gguf file; empty takes what is installed."""
    toolsets: tuple[str, ...] = ()
    """Toolsets and tools to offer; empty offers the notebook's own and the user's tools."""
    disabled: tuple[str, ...] = ()
    max_steps: int = 90
    approvals: ApprovalMode = "ask"
    allow: tuple[str, ...] = ()
    """Rules such as ``terminal(rm build.log)``: run without asking."""
    deny: tuple[str, ...] = ()
    """Rules of the same shape that are never run. They win."""
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
    home: Path = field(default_factory=lambda: Path.home() / ".hermes")

    def __post_init__(self) -> None:
        _one_of("approvals", self.approvals, APPROVAL_MODES)
        _one_of("frontend", self.frontend, FRONT_ENDS)
        if self.max_steps < 1:
            raise ConfigurationError(f"max_steps must be at least 1, not {self.max_steps!r}")
        if self.tool_timeout <= 0:
            raise ConfigurationError(f"tool_timeout must be positive, not {self.tool_timeout!r}")
        if type(self.context_window) is not int or self.context_window < 0:
            raise ConfigurationError(
                f"context_window must be a number of tokens, not {self.context_window!r}"
            )
        _check_tool_search(self.tool_search_share, self.tool_limit)

    @property
    def has_endpoint(self) -> bool:
        return bool(self.base_url or self.api_key)

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
    found |= _from_yaml(home / "config.yaml")
    found |= _said(
        {
            "api_key": env.get("OPENAI_API_KEY"),
            "base_url": env.get("OPENAI_BASE_URL"),
            "model": env.get("HERMES_MODEL"),
            "local_model": env.get("HERMES_LOCAL_MODEL"),
        }
    )
    found |= _said(traits or {})
    known = {entry.name for entry in fields(Settings)}
    return Settings(**{name: value for name, value in found.items() if name in known})


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
    agent = config.get("agent") or {}
    return _said(
        {
            "model": model.get("default"),
            "base_url": model.get("base_url"),
            "api_key": model.get("api_key"),
            "context_window": model.get("context_length"),
            "max_steps": agent.get("max_turns"),
            "tool_search_share": _tool_search_share(config.get("tools")),
        }
    )


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
