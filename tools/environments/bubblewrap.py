"""Bubblewrap: a process gets its own view of the file system, of processes and of the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.environments.bounds import Bounds, NotContained
from tools.files.paths import is_inside

SECONDS_TO_ANSWER = 10.0
SEPARATE = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--cap-drop", "ALL",
)  # fmt: skip
SYSTEM_VIEW = (
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    # Sockets of the container engine, of systemd and of the desktop.
    "--tmpfs", "/run",
)  # fmt: skip
OPEN_TO_ROOT = ("/proc/sys", "/proc/mtrr", "/proc/sysrq-trigger")
"""Root may write to these, even without capabilities: ``core_pattern`` would lead outside."""
NAME_SERVERS = ("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf")
PRIVATE = ("/tmp", "/run", "/dev")
"""What is there on the machine is not there inside."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The installed ``bwrap``, and what it can do beyond the least."""

    program: str
    extras: tuple[str, ...] = ()
    name: str = "bubblewrap"
    weakness: str = ""

    @classmethod
    def find(cls) -> Bubblewrap:
        """The one on PATH.

        Raises
        ------
        NotContained
            If there is none.
        """
        program = shutil.which("bwrap")
        if program is None:
            raise NotContained("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
        said = subprocess.run(
            [program, "--help"], capture_output=True, check=False, timeout=SECONDS_TO_ANSWER
        )
        extra = "--disable-userns"  # a root of its own inside would see more of the kernel
        return cls(program, (extra,) if extra.encode() in said.stdout + said.stderr else ())

    def around(self, argv: Sequence[str], bounds: Bounds, cwd: str) -> list[str]:
        """The command that runs ``argv`` within the bounds."""
        network = () if bounds.network else ("--unshare-net",)
        inside = ("--chdir", cwd, "--", *argv)
        return [self.program, *SEPARATE, *self.extras, *network, *_mounts(bounds), *inside]

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        return {"TMPDIR": "/tmp"}

    def outside(self, path: str, bounds: Bounds) -> str:
        """Where a path of the inside is on the machine."""
        if not is_inside(path, "/tmp") or any(is_inside(path, own) for own in _bound(bounds)):
            return path
        return bounds.tmp + path.removeprefix("/tmp")


def _mounts(bounds: Bounds) -> Iterator[str]:
    """Later ones lie over earlier ones."""
    yield from SYSTEM_VIEW
    for place in filter(os.path.exists, OPEN_TO_ROOT):
        yield from ("--ro-bind", place, place)
    if bounds.network:
        for place in NAME_SERVERS:
            yield from ("--ro-bind-try", place, place)
    yield from ("--bind", bounds.tmp, "/tmp")
    for place in _interpreter():
        yield from ("--ro-bind", place, place)
    for place in (bounds.tmp, bounds.workspace):
        yield from ("--bind", place, place)
    if bounds.shell:
        state = os.path.join(bounds.shell, "state")  # noqa: PTH118
        yield from ("--ro-bind", bounds.shell, bounds.shell, "--bind", state, state)
    for place in bounds.hidden:
        if not _is_visible(place, bounds):
            continue
        if Path(place).is_dir():
            yield from ("--tmpfs", place, "--remount-ro", place)
        else:
            yield from ("--ro-bind", "/dev/null", place)


def _is_visible(place: str, bounds: Bounds) -> bool:
    """Only over what is there can something be mounted."""
    private = any(is_inside(place, folder) for folder in PRIVATE)
    return not private or any(is_inside(place, own) for own in _bound(bounds))


def _bound(bounds: Bounds) -> tuple[str, ...]:
    """Folders that have the same name inside and outside, wherever they are."""
    shell = (bounds.shell,) if bounds.shell else ()
    return (bounds.tmp, bounds.workspace, *shell, *_interpreter())


def _interpreter() -> list[str]:
    """The folders of this Python that would not be seen inside: an environment below ``/tmp``."""
    folders = dict.fromkeys(map(os.path.realpath, (sys.prefix, sys.base_prefix)))
    return [each for each in folders if any(is_inside(each, hidden) for hidden in PRIVATE)]
