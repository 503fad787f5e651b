"""A place in which the conformance suite runs: one module in ``places``, with a `PLACE`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tests.backends import places
from tools.environments.base import Environment

Open = Callable[[], Environment]
"""Gives an environment of its own to each test, which closes it. May run on a shared engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One engine, or one kind of shell on it."""

    name: str
    title: str
    """For the table in the documentation: "Docker 20.10"."""
    missing: Callable[[], str]
    """Why it cannot be had on this machine; "" if it can."""
    start: Callable[[Path], AbstractContextManager[Open]]
    """Start the engine once for all tests; the folder is for its files."""
    isolated: bool = False
    """Does it claim to keep commands from this machine and everything else of worth?"""
    lacks: frozenset[str] = frozenset()
    """What tests ask for and it does not have: "bash", "put_mode", "network"."""


def nothing_missing() -> str:
    return ""


def all_places() -> dict[str, Place]:
    names = sorted(module.name for module in pkgutil.iter_modules(places.__path__))
    found = [importlib.import_module(f"{places.__name__}.{name}").PLACE for name in names]
    return {place.name: place for place in found}
