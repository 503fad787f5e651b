"""The kinds of places where commands can run. A new one is a new module here, with a `BACKEND`.

Packages may bring some as well, as entry points of the group ``hermes_jupyter.backends`` that name
a `Backend`.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points

from tools.environments.base import Environment
from tools.environments.host import HostError

logger = logging.getLogger(__name__)

GROUP = "hermes_jupyter.backends"
Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """What an environment is opened for."""

    session: str = "default"
    """For names and labels of what is made there."""
    workspace: str = ""
    """The folder of this machine in which the session works."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that commands get there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A kind of place."""

    name: str
    title: str
    """For a person: "Docker container"."""
    open: Callable[[Settings, OpenOptions], Environment]
    """Raises a `HostError` if the settings do not do, or the place cannot be had."""
    available: Callable[[Settings], tuple[bool, str]]
    """Whether it is installed and configured; what it would use, or what to do. Quick."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Names of its settings, each with a line that explains it."""


def backends() -> dict[str, Backend]:
    """All that are known, by name, ours first. One that cannot be loaded is logged, and left out"""
    found: dict[str, Backend] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        _add(found, partial(_load, f"{__name__}.{module.name}"))
    for point in entry_points(group=GROUP):
        _add(found, point.load)
    return found


def backend(name: str) -> Backend:
    """The one of this name.

    Raises
    ------
    HostError
        If there is none; it names those that there are.
    """
    known = backends()
    if name not in known:
        raise HostError(f"there is no terminal backend {name!r}; choose from {', '.join(known)}")
    return known[name]


def _load(module: str) -> Backend:
    loaded: Backend = importlib.import_module(module).BACKEND
    return loaded


def _add(found: dict[str, Backend], load: Callable[[], Backend]) -> None:
    try:
        loaded = load()
    except Exception:  # whatever a package of somebody else does when it is imported
        logger.exception("a terminal backend cannot be loaded")
        return
    found.setdefault(loaded.name, loaded)
