"""What the user has chosen about models: others to fall back to, keys, prices, tools they see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.errors import ConfigurationError

APIS = ("", "chat", "responses")
API_NAMES: Mapping[str, str] = {
    "chat_completions": "chat", "codex_responses": "responses", "openai_responses": "responses",
}  # fmt: skip
"""What Hermes Agent calls them."""
LEASED = "hermes-lease-"
"""So begins a token for the Jupyter server: it goes there, whatever other keys there are."""
_KEY_ENDS = ("_API_KEY", "_TOKEN")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model and where it is. What is empty is as with the first model."""

    model: str = ""
    provider: str = ""
    """A name of the table of providers, such as ``openrouter``; ``custom`` for none of them."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    key_env: str = ""
    """The environment variable that holds the key."""
    api: str = ""
    context_window: int = 0
    temperature: float | None = None
    """None: what the provider takes by itself."""
    vision: bool | None = None
    """Does it see images? None: what its server or its name tells."""

    def __post_init__(self) -> None:
        if not (self.model or self.base_url or self.provider):
            raise ConfigurationError("a fallback model needs a name, such as {'model': 'local'}")
        check_api(self.api)


def check_api(api: str) -> None:
    if api not in APIS:
        raise ConfigurationError(f"api must be chat or responses, not {api!r}")


def api_named(told: Any) -> str | None:
    """``api_mode`` of a configuration, in our words; None if it says nothing that we have."""
    return API_NAMES.get(told, told if told in APIS[1:] else None)


def keys_in(env: Mapping[str, str]) -> dict[str, str]:
    """The keys of all providers that the environment holds, by the names of their variables."""
    return {name: value for name, value in env.items() if value and name.endswith(_KEY_ENDS)}


def fallbacks(told: Any) -> tuple[ModelChoice, ...]:
    """Models from a list of names and mappings (``fallback_providers`` of ``config.yaml``).

    Raises
    ------
    ConfigurationError
    """
    told = [told] if isinstance(told, str | Mapping | ModelChoice) else told or ()
    if not isinstance(told, list | tuple):
        raise ConfigurationError(f"fallback models must be a list, not {told!r}")
    return tuple(map(_choice, told))


def _choice(told: Any) -> ModelChoice:
    if isinstance(told, ModelChoice):
        return told
    if isinstance(told, str):
        return ModelChoice(model=told)
    if not isinstance(told, Mapping):
        raise ConfigurationError(f"a fallback model is a name or a mapping, not {told!r}")
    return ModelChoice(
        model=str(told.get("model") or told.get("default") or ""),
        provider=str(told.get("provider") or ""),
        base_url=str(told.get("base_url") or ""),
        api_key=str(told.get("api_key") or ""),
        key_env=str(told.get("key_env") or told.get("api_key_env") or ""),
        api=api_named(told.get("api") or told.get("api_mode")) or "",
        context_window=_count(told.get("context_window") or told.get("context_length") or 0),
        vision=_yes_or_no(told.get("vision")),
    )


def _yes_or_no(told: Any) -> bool | None:
    if told is None or isinstance(told, bool):
        return told
    raise ConfigurationError(f"vision of a model must be true or false, not {told!r}")


def vision_model(told: Any) -> ModelChoice | None:
    """Who looks at images for a model that cannot: a name or a mapping; None for nobody.

    Raises
    ------
    ConfigurationError
    """
    if isinstance(told, Mapping) and not (told.get("model") or told.get("base_url")):
        told = None  # Hermes Agent's files name providers that choose a model by themselves
    if not told:
        return None
    choice = _choice(told)
    return choice if choice.vision is not None else replace(choice, vision=True)


def vision_in(config: Mapping[str, Any]) -> dict[str, Any]:
    """``auxiliary: {vision: {provider, model, base_url, api_key}}`` and ``model: {vision}``."""
    helper = (config.get("auxiliary") or {}).get("vision") or {}
    model = config.get("model")
    own = model.get("vision") if isinstance(model, Mapping) else None
    helper = {**helper, "provider": ""} if helper.get("provider") in ("auto", "main") else helper
    seen = {True: "on", False: "off", None: None}.get(own, own)
    return {"vision": seen, "vision_model": helper}


def prices(told: Any) -> dict[str, dict[str, float]]:
    """``prices: {MODEL: {input: 1.0, output: 2.0, cached_input: 0.1}}``, for a million tokens.

    Raises
    ------
    ConfigurationError
        For a price that is none: a ceiling would be kept by it.
    """
    if not isinstance(told or {}, Mapping):
        raise ConfigurationError(f"prices must be a mapping, not {told!r}")
    return {str(model): _price(str(model), said) for model, said in (told or {}).items()}


def _price(model: str, said: Any) -> dict[str, float]:
    said = said if isinstance(said, Mapping) else {}
    found = {name: said[name] for name in ("input", "output", "cached_input") if name in said}
    wrong = [each for each in found.values() if type(each) not in (int, float) or not each >= 0]
    if wrong or not {"input", "output"} <= found.keys():
        raise ConfigurationError(
            f"the price of {model!r} must be like {{input: 1.0, output: 2.0}}: "
            "dollars for a million tokens"
        )
    return {name: float(value) for name, value in found.items()}


def _count(told: Any) -> int:
    if type(told) is not int or told < 0:
        raise ConfigurationError(f"context_length must be a number of tokens, not {told!r}")
    return told


def compaction_in(config: Mapping[str, Any]) -> dict[str, Any]:
    """``compression: {enabled, threshold}`` and ``auxiliary: {compression: {model}}``."""
    told = config.get("compression") or {}
    helper = (config.get("auxiliary") or {}).get("compression") or {}
    share = told.get("threshold")
    if told.get("enabled") is False:
        share = 0.0
    elif share is not None and (isinstance(share, bool) or not isinstance(share, int | float)):
        raise ConfigurationError(f"compression.threshold must be 0 to 1, not {share!r}")
    return {
        "compaction": None if share is None else 100.0 * share,
        "compaction_model": helper.get("model"),
    }


def seconds_in(env: Mapping[str, str], name: str) -> float | None:
    """A number of seconds from the environment."""
    try:
        return float(env[name]) if env.get(name) else None
    except ValueError:
        raise ConfigurationError(f"{name} must be seconds, not {env[name]!r}") from None
