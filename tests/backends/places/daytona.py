"""Daytona: its unchanged library, against a stand-in for its servers."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    from tests.services.daytona_server import KEY, DaytonaServer

    numbers = itertools.count()
    with DaytonaServer(folder) as server:
        settings = {"DAYTONA_API_KEY": KEY, "DAYTONA_API_URL": server.url}
        yield lambda: backend("daytona").open(settings, OpenOptions(session=f"s{next(numbers)}"))


def missing() -> str:
    found = importlib.util.find_spec("daytona")
    return "" if found else "no library of Daytona; run: pip install 'hermes-jupyter[daytona]'"


PLACE = Place(
    name="daytona", title="Daytona (stand-in)", missing=missing, start=start, isolated=True
)
