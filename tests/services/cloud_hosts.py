"""Hosts at the stand-ins, for tests of what is below the shell."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tools.environments.host import Channel, Host

Make = Callable[..., Host]
"""Makes a host; ``name`` for a persistent sandbox, ``token`` or ``key`` for another credential."""


@contextmanager
def modal(folder: Path) -> Iterator[tuple[Any, Make]]:
    from tests.services.modal_server import TOKEN, ModalServer
    from tools.environments.modal_host import ModalHost, ModalSandbox

    def make(*, image: str = "debian:12", token: tuple[str, str] = TOKEN, **wanted: Any) -> Host:
        return ModalHost(ModalSandbox(image=image, **wanted), token)

    with (
        ModalServer(folder) as server,
        mock.patch.dict(os.environ, {"MODAL_SERVER_URL": server.url}),
    ):
        yield server, make


@contextmanager
def daytona(folder: Path) -> Iterator[tuple[Any, Make]]:
    from tests.services.daytona_server import KEY, DaytonaServer
    from tools.environments.daytona_host import DaytonaHost, DaytonaSandbox

    with DaytonaServer(folder) as server:

        def make(*, key: str = KEY, **wanted: Any) -> Host:
            return DaytonaHost(DaytonaSandbox(**wanted), key, server.url)

        yield server, make


CLOUDS = {"modal": modal, "daytona": daytona}


def missing(cloud: str) -> str:
    """Why a cloud cannot be tried here."""
    if importlib.util.find_spec(cloud) is not None:
        return ""
    return f"no library of {cloud}; run: pip install 'hermes-jupyter[{cloud}]'"


def everything(channel: Channel) -> tuple[dict[str, bytes], int | None]:
    """All that comes until the process has ended; waits for each stream's end."""
    came, open_streams = {"out": b"", "err": b""}, {"out", "err"}
    deadline = time.monotonic() + 60
    while open_streams and time.monotonic() < deadline:
        piece = channel.read(10)
        if piece is not None and piece.data:
            came[piece.stream] += piece.data
        elif piece is not None:
            open_streams.discard(piece.stream)
    assert not open_streams, "a stream did not end"
    while channel.exit_code is None and time.monotonic() < deadline:
        assert channel.read(0.1) is None
    return came, channel.exit_code
