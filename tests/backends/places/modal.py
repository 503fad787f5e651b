"""Modal: its unchanged library, against a stand-in for its servers."""

from __future__ import annotations

import importlib.util
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from tests.backends.place import Open, Place
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    from tests.services.modal_server import TOKEN, ModalServer

    settings = {"MODAL_TOKEN_ID": TOKEN[0], "MODAL_TOKEN_SECRET": TOKEN[1]}
    numbers = itertools.count()
    with (
        ModalServer(folder) as server,
        mock.patch.dict(os.environ, {"MODAL_SERVER_URL": server.url}),
    ):
        yield lambda: backend("modal").open(settings, OpenOptions(session=f"s{next(numbers)}"))


def missing() -> str:
    found = importlib.util.find_spec("modal")
    return "" if found else "no library of Modal; run: pip install 'hermes-jupyter[modal]'"


PLACE = Place(name="modal", title="Modal (stand-in)", missing=missing, start=start, isolated=True)
