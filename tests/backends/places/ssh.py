"""Over SSH, to a server inside this process."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    from tests.services.ssh_server import SshServer

    server = SshServer(folder)
    try:
        yield lambda: backend("ssh").open(server.settings, OpenOptions())
    finally:
        server.stop()


def missing() -> str:
    return "" if importlib.util.find_spec("asyncssh") else "no asyncssh: pip install asyncssh"


PLACE = Place(name="ssh", title="ssh (asyncssh)", missing=missing, start=start)
