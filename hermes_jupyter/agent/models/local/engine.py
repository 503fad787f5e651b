"""The inference engine: llama.cpp's own server, inside this process, on a port of its own.

Only the child process imports it. Loading a model holds the interpreter's lock for seconds, and a
native crash takes the process with it; neither may happen to a kernel.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.metadata
import json
import os
import secrets
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hermes_jupyter.agent.models.local.catalog import CONTEXT
from hermes_jupyter.errors import ModelError

PACKAGE = "xllamacpp"
PROMPT_CACHE = 512  # MiB; the engine's default of 8 GiB is more than a kernel may take
LONGEST_SILENCE = 900.0  # seconds; reading a full window takes minutes on a slow machine


class Engine:
    """A running engine. It is reached with a key that nobody outside this process knows.

    Parameters
    ----------
    weights : Path
        The file of the model.
    name : str
        What the model is called.
    slots : Path
        Folder for the states that `PrefixStore` keeps.

    Raises
    ------
    ModelError
        If the engine is not installed, or cannot load the file.
    """

    def __init__(self, weights: Path, name: str, slots: Path) -> None:
        slots.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.slots = slots
        self._key = secrets.token_hex(16)
        settings = configured(weights, name, self._key)
        settings.slot_save_path = f"{slots}{os.sep}"
        self._server = started(settings, weights)
        size = weights.stat().st_size
        self.fingerprint = f"{weights} {size} {importlib.metadata.version(PACKAGE)} {CONTEXT}"
        self._address = urlsplit(self._server.listening_address).netloc

    @contextlib.contextmanager
    def post(
        self, path: str, body: Any, caller: socket.socket
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request; give it up, and free the engine, as soon as the caller hangs up."""
        connection = http.client.HTTPConnection(self._address, timeout=LONGEST_SILENCE)
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._key}"}
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(body).encode(), headers)
            assert connection.sock is not None
            with hanging_up_with(caller, connection.sock):
                yield connection.getresponse()


@contextlib.contextmanager
def hanging_up_with(caller: socket.socket, upstream: socket.socket) -> Iterator[None]:
    """Shut `upstream` down when the caller closes its end.

    A thread, because the engine is silent while it reads a prompt, and a call is written to the
    caller only when it is whole: a write would notice the loss up to a minute too late.
    """
    woken, waker = socket.socketpair()

    def watch() -> None:
        readable, _, _ = select.select([caller, woken], [], [])
        if woken not in readable and hung_up(caller):
            with contextlib.suppress(OSError):  # the answer was complete just now
                upstream.shutdown(socket.SHUT_RDWR)

    watcher = threading.Thread(target=watch, name="hermes-hang-up", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        waker.close()
        watcher.join(5.0)
        woken.close()


def hung_up(caller: socket.socket) -> bool:
    try:
        return not caller.recv(1, socket.MSG_PEEK)
    except ConnectionError:
        return True


def configured(weights: Path, name: str, key: str) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            f'The local model needs an engine. Run: pip install "hermes-jupyter[local]" ({error})',
            kind="no_model",
        ) from error
    cores = usable_cores()
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.model_alias = {name}
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cache_ram_mib = PROMPT_CACHE
    # One core stays free while it writes: with all of them taken, a second busy program made
    # generation ten times slower. Reading a prompt gains from every core.
    settings.cpuparams.n_threads = max(1, cores - 1)
    settings.cpuparams_batch.n_threads = cores
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [key]
    settings.use_jinja = True
    settings.offline = True
    settings.ui = False
    settings.verbosity = 0
    return settings


def started(settings: Any, weights: Path) -> Any:
    import xllamacpp

    try:
        return xllamacpp.Server(settings)
    except RuntimeError as error:
        raise ModelError(
            f"The engine cannot load {str(weights)!r}: {error}", kind="server"
        ) from error


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # a container or a batch job may own a few only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
