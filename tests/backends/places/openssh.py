"""Over SSH, to OpenSSH's own server."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tests.services import sshd
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    server = sshd.Sshd(folder)
    try:
        yield lambda: backend("ssh").open(server.settings, OpenOptions())
    finally:
        server.stop()


def missing() -> str:
    if importlib.util.find_spec("asyncssh") is None:
        return "no asyncssh: pip install asyncssh"
    return sshd.missing()


PLACE = Place(name="openssh", title="ssh (OpenSSH)", missing=missing, start=start)
