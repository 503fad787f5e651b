"""What instance of apptainer a session wants, read from its settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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

IMAGE = "docker://nikolaik/python-nodejs:python3.11-nodejs20"
HOME_OF_ROOT, HOME_OF_USER = "/root", "/home/agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSpec:
    """All that decides what an instance is."""

    session: str
    folder: Path
    """Where sessions and images are kept on this machine."""
    image: str = IMAGE
    """A .sif file, a sandbox folder, or what ``apptainer build`` can make a .sif file of."""
    cwd: str = WORKSPACE
    cpus: float = 0
    memory: int = 0
    pids: int = 0
    network: bool = True
    overlay: str = ""
    """A folder or image file that keeps changes of the root; else the session's own."""
    volumes: tuple[Volume, ...] = ()
    workspace: Workspace = "none"
    workspace_folder: str = ""
    persistent: bool = True
    fakeroot: bool = False
    as_root: bool = False
    """Whether apptainer is run by root: it can do more then."""

    @property
    def home(self) -> str:
        return HOME_OF_ROOT if self.as_root or self.fakeroot else HOME_OF_USER

    @property
    def session_name(self) -> str:
        """The session as a part of the names of files and instances."""
        return re.sub(r"[^A-Za-z0-9]+", "-", self.session).strip("-")[:40] or "session"

    @property
    def mounts(self) -> tuple[Volume, ...]:
        if self.workspace != "mount":
            return self.volumes
        return (*self.volumes, Volume(self.workspace_folder, WORKSPACE))

    @property
    def isolation(self) -> Isolation:
        paths = (v.source for v in self.mounts if v.writable)
        return Isolation(
            isolated=True, host_paths=tuple(dict.fromkeys(paths)), network=self.network
        )


def spec_from(settings: Mapping[str, str], session: str, workspace: str) -> InstanceSpec:
    """Read the settings of a session whose files are in the local folder ``workspace``.

    Raises
    ------
    ValueError
        A text that names the setting and what it may be.
    """
    values = Values(settings)
    prefix = "TERMINAL_SINGULARITY"
    volumes = f"{prefix}_VOLUMES"
    return InstanceSpec(
        session=session,
        folder=_folder(values),
        image=os.path.expanduser(values.text(f"{prefix}_IMAGE", IMAGE)),  # noqa: PTH111 - or a URL
        cwd=cwd_from(values.text("TERMINAL_CWD")),
        cpus=values.number("TERMINAL_CONTAINER_CPU", 1),
        memory=values.size("TERMINAL_CONTAINER_MEMORY", "5120m"),
        pids=int(values.number(f"{prefix}_PIDS", 256)),
        network=values.flag(f"{prefix}_NETWORK", True),
        overlay=os.path.expanduser(values.text(f"{prefix}_OVERLAY")),  # noqa: PTH111
        volumes=tuple(volume_from(volumes, text) for text in values.words(volumes)),
        workspace=workspace_from(values, f"{prefix}_WORKSPACE", "none"),
        workspace_folder=workspace,
        persistent=values.flag("TERMINAL_CONTAINER_PERSISTENT", True),
        fakeroot=values.flag(f"{prefix}_FAKEROOT", False),
        as_root=os.geteuid() == 0,
    )


def _folder(values: Values) -> Path:
    for name in ("TERMINAL_SCRATCH_DIR", "TERMINAL_SANDBOX_DIR"):
        if given := values.text(name):
            return Path(given).expanduser() / "hermes-singularity"
    scratch = Path("/scratch", Path.home().name)
    if scratch.is_dir():
        return scratch / "hermes-singularity"
    return Path(values.text("HERMES_HOME", "~/.hermes")).expanduser() / "jupyter/singularity"
