"""Folders of this machine in a container, as settings tell them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tools.environments.containers.values import Values
from tools.environments.host import HostError

WORKSPACE = "/workspace"
HOMES_OF_THIS_MACHINE = ("/home/", "/Users/")
COPY_LIMIT = 2 << 30
Workspace = Literal["none", "mount", "copy"]


class TooLarge(HostError):
    """A folder shall be copied that is larger than anybody expects."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{str(folder)!r} has more than {COPY_LIMIT >> 30} GB, too much to be copied; mount "
            "the workspace instead (TERMINAL_DOCKER_WORKSPACE or TERMINAL_SINGULARITY_WORKSPACE)"
        )


@dataclass(frozen=True, slots=True)
class Volume:
    """A folder of this machine, or a volume of the engine, inside the container."""

    source: str
    target: str
    options: str = "rw"

    @property
    def is_host_path(self) -> bool:
        return self.source.startswith("/")

    @property
    def writable(self) -> bool:
        return "ro" not in self.options.split(",")


def cwd_from(wanted: str) -> str:
    """The folder to start in. A home of this machine is none of the container's."""
    if not wanted.startswith("/") or wanted.startswith(HOMES_OF_THIS_MACHINE):
        return WORKSPACE
    return str(PurePosixPath(wanted))


def workspace_from(values: Values, name: str, default: str) -> Workspace:
    """What becomes of the notebook's folder."""
    match values.choice(name, default, ("none", "mount", "copy")):
        case "mount":
            return "mount"
        case "copy":
            return "copy"
    return "none"


def volume_from(name: str, text: str) -> Volume:
    """Read ``/here:/there:ro``, a part of the setting ``name``."""
    source, colon, rest = text.partition(":")
    target, _, options = rest.partition(":")
    if not colon or not source or not target.startswith("/"):
        raise ValueError(
            f"{name} must hold /folder/here:/folder/there or "
            f"/folder/here:/folder/there:ro, not {text!r}"
        )
    return Volume(os.path.expanduser(source), target, options or "rw")  # noqa: PTH111
