"""This machine's own shell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place, nothing_missing
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    yield lambda: backend("local").open({}, OpenOptions(workspace=str(folder)))


PLACE = Place(
    name="local",
    title="this machine",
    missing=nothing_missing,
    start=start,
)
