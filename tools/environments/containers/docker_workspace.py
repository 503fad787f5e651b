"""The workspace of a container: whose it is, and the copy of a folder in it."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from tools.environments.containers.docker_engine import SECONDS_TO_MOVE_DATA, Engine, patience
from tools.environments.containers.docker_labels import labels_of
from tools.environments.containers.docker_spec import ContainerSpec
from tools.environments.containers.mounts import COPY_LIMIT, WORKSPACE, TooLarge
from tools.environments.host import HostError

OWN = 'chown "$1" "$2"'
PIECE = 1 << 20


def own_workspace(engine: Engine, spec: ContainerSpec, identity: str, user: str) -> None:
    """Give the workspace to the user as whom commands run.

    In the container nobody may do that. So another one does, which has nothing but its volumes.

    Raises
    ------
    HostError
    """
    api = engine.api
    made = api.create_container(
        spec.image,
        entrypoint=["/bin/sh", "-c", OWN, "sh", user, WORKSPACE],
        user="0",
        labels=labels_of(replace(spec, persistent=False)),
        host_config=api.create_host_config(
            volumes_from=[identity], network_mode="none", cap_drop=["ALL"], cap_add=["CHOWN"]
        ),
    )["Id"]
    try:
        api.start(made)
        if api.wait(made)["StatusCode"]:
            said = api.logs(made).decode("utf-8", "replace").strip()
            raise HostError(f"{WORKSPACE} cannot be given to the user {user!r}: {said}")
    finally:
        api.remove_container(made, force=True)


def fill_workspace(api: Any, identity: str, folder: Path) -> None:
    """Copy a folder; a copy by the engine needs no tar in the image.

    Raises
    ------
    HostError
        If it is too large.
    """
    with tempfile.TemporaryFile() as packed:
        _pack(folder, packed, (_number(api, identity, "-u"), _number(api, identity, "-g")))
        with patience(SECONDS_TO_MOVE_DATA):
            api.put_archive(identity, WORKSPACE, _pieces(packed))


def _number(api: Any, identity: str, which: str) -> int:
    """The number of the user or group of commands there."""
    said = api.exec_start(api.exec_create(identity, ["id", which])["Id"])
    text = said.decode("utf-8", "replace").strip()
    return int(text) if text.isdigit() else 0


def _pack(folder: Path, packed: IO[bytes], owner: tuple[int, int]) -> None:
    size = 0

    def keep(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal size
        size += entry.size
        if size > COPY_LIMIT:
            raise TooLarge(folder)
        entry.uid, entry.gid = owner
        entry.uname = entry.gname = ""
        return entry if entry.isfile() or entry.isdir() or entry.issym() else None

    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(folder, arcname=".", filter=keep)
    packed.seek(0)


def _pieces(packed: IO[bytes]) -> Iterator[bytes]:
    while piece := packed.read(PIECE):
        yield piece
