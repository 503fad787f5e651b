"""Services that all tests of a process share: each is started once and ended with the process."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.services import engines
from tests.services.packages import Unavailable

START: dict[str, Callable[[Path], engines.EngineService]] = {
    "dockerd": engines.dockerd,
    "podman": engines.podman,
}
_running: dict[str, engines.EngineService | Unavailable] = {}


def new_engine(kind: str) -> engines.EngineService:
    """An engine of one's own, to be ended by `engines.end`.

    Raises
    ------
    Unavailable
    """
    folder = Path(tempfile.mkdtemp(prefix=f"hermes-{kind}-"))  # short, for a socket is in it
    try:
        return START[kind](folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def shared_engine(kind: str) -> engines.EngineService:
    """The engine of this process.

    Raises
    ------
    Unavailable
        The same at every call, without another attempt.
    """
    if kind not in _running:
        try:
            _running[kind] = service = new_engine(kind)
            atexit.register(engines.end, service)
        except Unavailable as reason:
            _running[kind] = reason
    found = _running[kind]
    if isinstance(found, Unavailable):
        raise found
    return found


def why_no_engine(kind: str) -> str:
    """Why there is no such engine here; "" if there is, and it is started by that."""
    try:
        shared_engine(kind)
    except Unavailable as reason:
        return str(reason)
    return ""
