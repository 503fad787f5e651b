"""The models that kernels may ask through the server, and the keys for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.agent.models.prices import Price, price_of
from hermes_jupyter.agent.models.providers import PROVIDERS, Provider, named, provider_at
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.server.keys import key_of

FIELDS = frozenset(
    {"name", "model", "provider", "base_url", "key", "key_env", "keyring", "api", "context_window"}
)
APIS: Mapping[str, frozenset[str]] = {
    "": frozenset({"chat", "responses"}),
    "chat": frozenset({"chat"}),
    "responses": frozenset({"responses"}),
}
KEY_VARIABLES = frozenset(name for provider in PROVIDERS for name in provider.keys)
"""Of the environment; those that hold the keys of the providers that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One model."""

    name: str
    """As kernels call it."""
    model: str
    """As its provider does."""
    provider: Provider
    base_url: str
    key: str = field(repr=False)
    api: str = ""
    """The only interface that it may be asked by; empty for either."""
    price: Price | None = None
    context_window: int = 0

    @property
    def told(self) -> Mapping[str, Any]:
        """What kernels learn of it."""
        price = self.price
        return {
            "name": self.name,
            "provider": self.provider.name,
            "api": self.api,
            "context_window": self.context_window,
            "price": None
            if price is None
            else {"input": price.read, "output": price.written, "cached_input": price.cached},
        }


def offered(
    told: Sequence[Mapping[str, Any]], prices: Mapping[str, Any], env: Mapping[str, str]
) -> Mapping[str, Offered]:
    """The models of the configuration, by name and in their order.

    Raises
    ------
    ConfigurationError
        For an entry that is none, or a key that is not there.
    """
    found = [_offered(each, prices, env) for each in told]
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ConfigurationError("two entries of HermesServer.models have the same name")
    return dict(zip(names, found, strict=True))


def key_variables(told: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The variables in which the configuration looks for keys."""
    found: set[str] = set()
    for entry in told:
        known = named(str(entry.get("provider") or ""))
        known = known or provider_at(str(entry.get("base_url") or ""))
        found |= {str(entry["key_env"])} if entry.get("key_env") else {*known.keys}
    return frozenset(found)


def _offered(
    entry: Mapping[str, Any], prices: Mapping[str, Any], env: Mapping[str, str]
) -> Offered:
    name = str(entry.get("name") or entry.get("model") or "")
    if not name:
        raise ConfigurationError("an entry of HermesServer.models has no name")
    if strange := sorted(set(entry) - FIELDS):
        raise ConfigurationError(f"HermesServer.models: {name!r} has no field {strange[0]!r}")
    provider, base_url = _where(name, entry)
    api = str(entry.get("api") or "")
    if api not in APIS:
        raise ConfigurationError(f"HermesServer.models: {name!r}: api is chat or responses")
    model = str(entry.get("model") or name)
    return Offered(
        name=name,
        model=model,
        provider=provider,
        base_url=base_url,
        key=key_of(name, entry, provider, env),
        api=api,
        price=price_of(name, provider, prices) or price_of(model, provider, prices),
        context_window=int(entry.get("context_window") or 0),
    )


def _where(name: str, entry: Mapping[str, Any]) -> tuple[Provider, str]:
    wanted = str(entry.get("provider") or "")
    known = named(wanted) if wanted else None
    if wanted and known is None:
        raise ConfigurationError(f"HermesServer.models: {name!r}: provider {wanted!r} is not known")
    base_url = str(entry.get("base_url") or (known.base_url if known else ""))
    if not base_url:
        raise ConfigurationError(f"HermesServer.models: {name!r} needs a provider or a base_url")
    return known or provider_at(base_url), base_url
