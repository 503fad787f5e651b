"""Places for tests: each is this machine, reached in another way."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.unit.tools.process_host import ProcessHost
from tools.files.remote_place import RemotePlace
from tools.safety import Objection

COMMANDS = (
    "cat", "chmod", "chown", "dd", "find", "grep", "head", "ls", "mkdir", "mv", "readlink", "rm",
    "rmdir", "sh", "stat", "tail", "wc", "xargs",
)  # fmt: skip
"""All that a place without Python needs."""
WAYS = ("local", "python", "shell")


class Places:
    """Remote places that tests share, by their home folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, str], RemotePlace] = {}

    def place(self, way: str) -> RemotePlace:
        key = way, os.environ["HOME"]
        if key not in self._made:
            self._made[key] = RemotePlace(self.host(way), "there")
        return self._made[key]

    def host(self, way: str) -> ProcessHost:
        return ProcessHost({"HOME": os.environ["HOME"], "PATH": self.path(way)})

    def path(self, way: str) -> str:
        """The search path for commands of a machine that has only so much.

        Of a ``shell``, what busybox has, if it is here; of ``coreutils``, never.
        """
        folder = self._folder / way
        if not folder.is_dir():
            folder.mkdir()
            for name, program in _programs(way):
                (folder / name).symlink_to(program)
        return str(folder)

    def close(self) -> None:
        for place in self._made.values():
            place.close()


def _programs(way: str) -> Iterator[tuple[str, str]]:
    if way == "python":
        yield "python3", sys.executable
        return
    busybox = shutil.which("busybox") if way == "shell" else None
    for name in COMMANDS:
        program = busybox or shutil.which(name)
        assert program, name
        yield name, program


@contextmanager
def places_in(folder: Path) -> Iterator[Places]:
    places = Places(folder)
    yield places
    places.close()


def without_place(said: Objection | None) -> Objection | None:
    """The objection as it would be on this machine."""
    if said is None:
        return None
    grant = said.grant.replace(" on there in this session", " in this session")
    return replace(said, reason=said.reason.removesuffix(" on there"), grant=grant)


def context(place: RemotePlace | None, folder: str) -> Mapping[str, Any]:
    """What a handler is told of where it works."""
    if place is None:
        return {"cwd": folder}
    return {"environment": SimpleNamespace(files=place, cwd=folder)}
