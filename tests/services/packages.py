"""Debian packages that tests need: installed as root on Debian, else reported as missing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

SECONDS_TO_INSTALL = 300
QUIET = {"DEBIAN_FRONTEND": "noninteractive"}
LOCK = Path(tempfile.gettempdir()) / f"hermes-packages-{os.getuid()}.lock"

_inside = ContextVar("_inside", default=False)


class Unavailable(Exception):
    """A service cannot run here; the text is the reason why its tests are skipped."""


def need(programs: dict[str, str]) -> None:
    """See that programs are there; a missing one is installed from its package.

    Parameters
    ----------
    programs
        The Debian package of each program.

    Raises
    ------
    Unavailable
    """
    if not _missing(programs):
        return
    with locked():
        if packages := _missing(programs):
            _install(packages)
    if packages := _missing(programs):
        raise Unavailable(f"needs {', '.join(packages)}, which could not be installed")


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Keep other test processes, which run side by side, from installing something meanwhile.

    May be used within itself.
    """
    if _inside.get():
        yield
        return
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        token = _inside.set(True)
        try:
            yield
        finally:
            _inside.reset(token)


def _missing(programs: dict[str, str]) -> list[str]:
    return [package for program, package in programs.items() if not shutil.which(program)]


def _install(packages: list[str]) -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Unavailable(f"needs {', '.join(packages)} (Debian: apt-get install as root)")
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        done = subprocess.run(
            command, env={**os.environ, **QUIET}, capture_output=True, timeout=SECONDS_TO_INSTALL
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise Unavailable(f"{' '.join(command[:2])} failed: {' '.join(said)}")
