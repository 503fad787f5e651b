"""What container a session wants, read from its settings; nothing here speaks with an engine."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tools.environments.containers.mounts import (
    WORKSPACE,
    Volume,
    Workspace,
    cwd_from,
    volume_from,
    workspace_from,
)
from tools.environments.containers.values import Values
from tools.environments.host import Isolation

IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20"
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""Enough to install packages and to kill what another user of the container started."""
TMPFS = ("/tmp:size=512m", "/var/tmp:size=256m", "/run:size=64m,noexec")
TMPFS_IF_READ_ONLY = ("/root:size=256m",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """All that decides what a container is; another spec is another container."""

    session: str
    image: str = IMAGE
    cwd: str = WORKSPACE
    cpus: float = 1.0
    memory: int = 5120 << 20
    pids: int = 256
    disk: int = 0
    """0: no limit. Few storage drivers can limit it."""
    network: str = "default"
    read_only: bool = False
    tmpfs: tuple[str, ...] = TMPFS
    volumes: tuple[Volume, ...] = ()
    workspace: Workspace = "none"
    workspace_folder: str = ""
    capabilities: tuple[str, ...] = CAPABILITIES
    user: str = ""
    runtime: str = ""
    persistent: bool = True
    stays_up: bool = False
    """It runs on when its session ends."""

    @property
    def digest(self) -> str:
        about = {**asdict(self), "stays_up": False}
        return hashlib.sha256(repr(sorted(about.items())).encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """What a persistent container is called, to be found again."""
        session = re.sub(r"[^A-Za-z0-9_.-]+", "-", self.session).strip("-.") or "session"
        return f"hermes-{session[:40]}-{self.digest}"

    @property
    def mounts(self) -> tuple[Volume, ...]:
        if self.workspace != "mount":
            return self.volumes
        return (*self.volumes, Volume(self.workspace_folder, WORKSPACE))

    @property
    def isolation(self) -> Isolation:
        paths = (v.source for v in self.mounts if v.is_host_path and v.writable)
        return Isolation(
            isolated=True, host_paths=tuple(dict.fromkeys(paths)), network=self.network != "none"
        )


def spec_from(settings: Mapping[str, str], session: str, workspace: str) -> ContainerSpec:
    """Read the settings of a session whose files are in the local folder ``workspace``.

    Raises
    ------
    ValueError
        A text that names the setting and what it may be.
    """
    values, volumes = Values(settings), "TERMINAL_DOCKER_VOLUMES"
    read_only = values.flag("TERMINAL_DOCKER_READ_ONLY", False)
    mounts_cwd = values.flag("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE", False)
    return ContainerSpec(
        session=session,
        image=values.text("TERMINAL_DOCKER_IMAGE", IMAGE),
        cwd=cwd_from(values.text("TERMINAL_CWD")),
        cpus=values.number("TERMINAL_CONTAINER_CPU", 1),
        memory=values.size("TERMINAL_CONTAINER_MEMORY", "5120m"),
        pids=int(values.number("TERMINAL_DOCKER_PIDS", 256)),
        disk=values.size("TERMINAL_CONTAINER_DISK", "0"),
        network=_network(values.text("TERMINAL_DOCKER_NETWORK", "true")),
        read_only=read_only,
        tmpfs=values.words("TERMINAL_DOCKER_TMPFS")
        or (*TMPFS, *(TMPFS_IF_READ_ONLY if read_only else ())),
        volumes=tuple(volume_from(volumes, text) for text in values.words(volumes)),
        workspace=workspace_from(
            values, "TERMINAL_DOCKER_WORKSPACE", "mount" if mounts_cwd else "none"
        ),
        workspace_folder=workspace,
        capabilities=values.words("TERMINAL_DOCKER_CAPABILITIES", CAPABILITIES),
        user=_user(values),
        runtime=values.text("TERMINAL_DOCKER_RUNTIME"),
        persistent=values.flag("TERMINAL_CONTAINER_PERSISTENT", True),
        stays_up=values.flag("TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES", False),
    )


def _network(text: str) -> str:
    meanings = {"true": "default", "yes": "default", "1": "default", "on": "default"}
    meanings |= dict.fromkeys(("false", "no", "0", "off"), "none")
    return meanings.get(text.lower(), text)


def _user(values: Values) -> str:
    if values.flag("TERMINAL_DOCKER_RUN_AS_HOST_USER", False):
        return f"{os.getuid()}:{os.getgid()}"
    return values.text("TERMINAL_DOCKER_USER")
