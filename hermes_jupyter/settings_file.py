"""``config.yaml``: the keys of Hermes Agent that mean the same here, and ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.model_settings import api_named, compaction_in, vision_in
from hermes_jupyter.tool_search_settings import tool_search_share

ApprovalMode = Literal["ask", "edits", "plan", "auto", "deny", "off"]
APPROVAL_MODES: tuple[str, ...] = get_args(ApprovalMode)

FORMER_MODES: Mapping[str, ApprovalMode] = {"manual": "ask", "smart": "auto"}
"""What Hermes Agent calls its modes."""
NEVER_OFF = (
    "approvals are not switched off by a file: it says so, and asks nevertheless. In a notebook: "
    "%%agent --approve off, or %config Hermes.approvals = 'off', which ends with the kernel"
)
_LOOKS_LIKE_RULE = re.compile(r"\s*(?:(?:@|effect:).+|[\w*?.-]+\s*\(.*\))\s*", re.DOTALL)
SWITCH: Mapping[Any, str] = {True: "on", False: "off"}
"""What YAML makes of these two words."""


def from_file(path: Path) -> dict[str, Any]:
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
    return said(
        {
            "model": model.get("default"),
            "base_url": model.get("base_url"),
            "api_key": model.get("api_key"),
            "context_window": model.get("context_length"),
            **_models(config, model),
            **compaction_in(config),
            **vision_in(config),
            "profile": agent.get("profile"),
            "max_steps": agent.get("max_turns"),
            "max_tries": agent.get("api_max_retries"),
            "tool_search_share": tool_search_share(config.get("tools")),
            "env_passthrough": _names(terminal.get("env_passthrough")),
            "checkpoint_space": _space(config.get("checkpoints")),
            "skill_folders": _names(skills.get("external_dirs")),
            "terminal": terminal,
            "delegation": config.get("delegation"),
            "mixture": config.get("moa"),
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


def said(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say something; lists as tuples."""
    said = {name: value for name, value in values.items() if value not in (None, "", [], ())}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in said.items()}


def _space(told: Any) -> Any:
    """``checkpoints: {space_mb: 1024}``; what else is there is for Hermes Agent's own."""
    return told.get("space_mb") if isinstance(told, dict) else None
