"""Which variables of the server hold keys, so that kernels and terminals start without them."""

from __future__ import annotations

import fnmatch
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from hermes_jupyter.server.masking import SHORTEST
from hermes_jupyter.server.offered import KEY_VARIABLES, key_variables

Name = TypeVar("Name", bound=Hashable)


class Settings(Protocol):
    """Of `HermesServer`."""

    models: list[Mapping[str, Any]]
    hide_keys: bool | None
    hidden_variables: list[str]


def hidden(env: Mapping[str, str], settings: Settings, keys: Sequence[str]) -> frozenset[str]:
    """The variables of this environment that kernels and terminals do not get.

    Parameters
    ----------
    keys
        Of the models that the server offers: a variable that holds one is hidden under any name.
    """
    patterns = {*settings.hidden_variables}
    if settings.hide_keys is not False:
        patterns |= key_variables(settings.models)
    if settings.hide_keys:
        patterns |= KEY_VARIABLES
    found = {name for name in env if any(fnmatch.fnmatchcase(name, each) for each in patterns)}
    return frozenset(found if settings.hide_keys is False else found | holding(env, keys))


def holding(texts: Mapping[Name, str], keys: Iterable[str]) -> frozenset[Name]:
    """The names of texts that hold a key."""
    wanted = [key for key in keys if len(key) >= SHORTEST]
    return frozenset(name for name, text in texts.items() if any(key in text for key in wanted))
