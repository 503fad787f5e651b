"""This machine as a host: what all other places share, without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place, nothing_missing
from tools.environments.local_host import LocalHost
from tools.environments.remote import RemoteEnvironment


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    yield lambda: RemoteEnvironment("bash-host", LocalHost(), cwd=str(folder))


PLACE = Place(name="bash-host", title="a host with bash", missing=nothing_missing, start=start)
