"""What a user says about agents that work for an agent, and about asking several models at once.

Both in the words of Hermes Agent's files: ``delegation: {max_iterations: 50, ...}`` and
``moa: {reference_models: [...], aggregator_model: ...}``. A file may hold more, which plays no
part; what a notebook says must be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.model_settings import ModelChoice, fallbacks

MODEL_KEYS = frozenset(
    {"model", "provider", "base_url", "api_key", "key_env", "api_mode", "context_length"}
)
MOST_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationSettings:
    """How agents work for an agent."""

    model: ModelChoice | None = None
    """Whom they ask; None: the model that the agent asks itself."""
    max_iterations: int = 50
    """Model calls of each."""
    max_concurrent_children: int = 3
    """So many work side by side; more wait."""
    max_spawn_depth: int = 1
    """How deep agents may have agents: with 1, a child has none."""
    max_summary_chars: int = 24_000
    """Of a child's answer that the agent reads at once; all of it is kept."""

    def __post_init__(self) -> None:
        _count("delegation.max_iterations", self.max_iterations)
        _count("delegation.max_concurrent_children", self.max_concurrent_children, MOST_AT_ONCE)
        _count("delegation.max_spawn_depth", self.max_spawn_depth)
        _count("delegation.max_summary_chars", self.max_summary_chars)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureSettings:
    """Which models `mixture_of_agents` asks. Without reference models there is no such tool."""

    reference_models: tuple[ModelChoice, ...] = ()
    """Asked side by side."""
    aggregator_model: ModelChoice | None = None
    """Makes one answer of theirs; None: the model of the turn."""
    min_successful_references: int = 1
    reference_temperature: float | None = 0.6
    """None: what the provider takes by itself."""
    aggregator_temperature: float | None = 0.4

    def __post_init__(self) -> None:
        most = len(self.reference_models) or 1
        _count("moa.min_successful_references", self.min_successful_references, most)
        for name in ("reference_temperature", "aggregator_temperature"):
            said = getattr(self, name)
            if said is not None and not (type(said) in (int, float) and 0 <= said <= 2):
                raise ConfigurationError(f"moa.{name} must be 0 to 2, not {said!r}")


def delegation_settings(in_file: Any, in_notebook: Any = None) -> DelegationSettings:
    """What ``delegation:`` of the file says, and the notebook over it.

    Raises
    ------
    ConfigurationError
    """
    known = {field.name for field in fields(DelegationSettings)}
    told = _told("delegation", in_file, in_notebook, known | MODEL_KEYS)
    values = {name: told[name] for name in known - {"model"} if name in told}
    about = {name: told[name] for name in MODEL_KEYS if told.get(name)}
    if isinstance(about.get("model"), Mapping | ModelChoice):
        about = about["model"]
    return DelegationSettings(model=_model("delegation.model", about) if about else None, **values)


def mixture_settings(in_file: Any, in_notebook: Any = None) -> MixtureSettings:
    """The same for ``moa:``."""
    known = {field.name for field in fields(MixtureSettings)}
    told = _told("moa", in_file, in_notebook, known)
    if told.get("enabled") is False:
        return MixtureSettings()
    values = {name: told[name] for name in known if name in told}
    values["reference_models"] = fallbacks(told.get("reference_models"))
    if aggregator := told.get("aggregator_model"):
        values["aggregator_model"] = _model("moa.aggregator_model", aggregator)
    return MixtureSettings(**values)


def _told(name: str, in_file: Any, in_notebook: Any, known: set[str] | frozenset[str]) -> Any:
    for said in (in_file, in_notebook):
        if said is not None and not isinstance(said, Mapping):
            raise ConfigurationError(f"{name} must hold keys and values, not {said!r}")
    own = dict(in_notebook or {})
    if strange := sorted(own.keys() - known - {"enabled"}):
        raise ConfigurationError(f"{name} has no {strange[0]!r}; it has {', '.join(sorted(known))}")
    return {name: value for name, value in {**(in_file or {}), **own}.items() if value is not None}


def _model(name: str, told: Any) -> ModelChoice:
    found = fallbacks(told)
    if len(found) != 1:
        raise ConfigurationError(f"{name} must be one model, not {told!r}")
    return found[0]


def _count(name: str, value: Any, most: int | None = None) -> None:
    if type(value) is not int or value < 1 or (most is not None and value > most):
        upto = f"from 1 to {most}" if most is not None else "at least 1"
        raise ConfigurationError(f"{name} must be {upto}, not {value!r}")
