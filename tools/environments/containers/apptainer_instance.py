"""The instance of a session: its folder on this machine, its start and its end."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import shutil
import signal
import stat
import time
from pathlib import Path
from typing import IO

from tools.environments.containers import owner
from tools.environments.containers.apptainer_program import Program
from tools.environments.containers.apptainer_spec import InstanceSpec
from tools.environments.containers.mounts import COPY_LIMIT, WORKSPACE, TooLarge
from tools.environments.host import HostError

SECONDS_TO_DIE = 5.0
SECONDS_BETWEEN_LOOKS = 0.02
THROW_AWAY = "once"


class Instance:
    """A running instance, which ends with `stop` or with whoever kills it.

    Attributes
    ----------
    name : str
        As apptainer knows it; it tells the owner, so that orphans can be found.
    note : str
        What of the spec could not be had.
    limits : tuple of str
        In front of each program, if limits hold for each process alone.
    """

    def __init__(self, spec: InstanceSpec, program: Program, folder: Path) -> None:
        self.name = f"hermes-{spec.session_name}-{owner.short_owner()}-{os.urandom(3).hex()}"
        self.note = ""
        self.limits: tuple[str, ...] = ()
        image = program.image(spec.image, spec.folder / "images")
        arguments = [*_options(spec, folder), image, self.name]
        try:
            program.call("instance", "start", *_cgroup(spec), *arguments)
        except HostError as error:
            if "cgroup" not in str(error):
                raise
            self.note = "limits hold for each process, as this machine gives no cgroups to users"
            self.limits = _each(spec)
            program.call("instance", "start", *arguments)
        self._pid = program.instances().get(self.name, 0)
        self._started = owner.started(self._pid) if self._pid else ""

    @property
    def alive(self) -> bool:
        return bool(self._started) and owner.started(self._pid) == self._started

    def stop(self) -> None:
        """Kill its first process; the kernel ends the others with it."""
        deadline = time.monotonic() + SECONDS_TO_DIE
        while self.alive and time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(SECONDS_BETWEEN_LOOKS)


class SessionFolder:
    """What of a session is kept on this machine, beside its instance.

    Raises
    ------
    HostError
        If another process works in it, for an overlay has one user.
    """

    def __init__(self, spec: InstanceSpec) -> None:
        name = spec.session_name
        if not spec.persistent:
            name = f"{THROW_AWAY}-{owner.short_owner()}-{os.urandom(3).hex()}"
        self.path = spec.folder / "sessions" / name
        self._is_kept = spec.persistent
        self.is_new = not (self.path / "workspace").exists()
        for part in ("home", "workspace", "work", "overlay"):
            (self.path / part).mkdir(parents=True, exist_ok=True)
        self._lock: IO[str] = (self.path / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise HostError(
                f"the session {spec.session!r} is open in another process; close it there, or set "
                "TERMINAL_CONTAINER_PERSISTENT=false"
            ) from error
        if self.is_new and spec.workspace == "copy":
            try:
                _copy(Path(spec.workspace_folder), self.path / "workspace")
            except BaseException:  # else the next session would find a part of it
                self._is_kept = False
                self.close()
                raise

    def close(self) -> None:
        self._lock.close()
        if not self._is_kept:
            shutil.rmtree(self.path, ignore_errors=True)


def reap(program: Program, folder: Path) -> list[str]:
    """End what processes that are gone left; the names of it.

    Raises
    ------
    HostError
    """
    reaped = []
    for name, pid in program.instances().items():
        kind, _, rest = name.partition("-")
        if kind == "hermes" and owner.is_gone_here("-".join(rest.split("-")[-3:-1])):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            reaped.append(name)
    for left in (folder / "sessions").glob(f"{THROW_AWAY}-*"):
        if owner.is_gone_here("-".join(left.name.split("-")[1:3])):
            shutil.rmtree(left, ignore_errors=True)
            reaped.append(left.name)
    return reaped


def _copy(source: Path, target: Path) -> None:
    size = 0

    def unfit(folder: str, names: list[str]) -> set[str]:
        nonlocal size
        entries = [Path(folder, name).lstat() for name in names]
        size += sum(entry.st_size for entry in entries)
        if size > COPY_LIMIT:
            raise TooLarge(source)
        kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        return {
            name
            for name, entry in zip(names, entries, strict=True)
            if not any(kind(entry.st_mode) for kind in kinds)
        }

    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=unfit)


def _options(spec: InstanceSpec, folder: Path) -> list[str]:
    own = ["--overlay", str(folder / "overlay")] if spec.persistent else ["--writable-tmpfs"]
    options = [
        "--containall",
        "--no-privs" if spec.as_root else "",
        "--fakeroot" if spec.fakeroot else "",
        *(() if spec.network else ("--net", "--network", "none")),
        *(["--overlay", spec.overlay] if spec.overlay else own),
        *("--workdir", str(folder / "work")),
        *("--home", f"{folder / 'home'}:{spec.home}"),
    ]
    if spec.workspace != "mount":
        options += ["--bind", f"{folder / 'workspace'}:{WORKSPACE}"]
    for volume in spec.mounts:
        options += ["--bind", f"{volume.source}:{volume.target}:{volume.options}"]
    return [option for option in options if option]


def _cgroup(spec: InstanceSpec) -> list[str]:
    cpus = min(spec.cpus, os.cpu_count() or 1)
    limits = {
        "--memory": str(spec.memory) if spec.memory else "",
        "--memory-swap": str(spec.memory) if spec.memory else "",
        "--pids-limit": str(spec.pids) if spec.pids else "",
        "--cpus": f"{cpus:g}" if spec.cpus else "",
    }
    return [part for name, value in limits.items() if value for part in (name, value)]


def _each(spec: InstanceSpec) -> tuple[str, ...]:
    """A start for programs that limits them, and what they start, one by one."""
    memory = f"ulimit -d {spec.memory >> 10};" if spec.memory else ""
    pids = f"ulimit -u {spec.pids} 2>/dev/null || ulimit -p {spec.pids};" if spec.pids else ""
    cores = f"0-{math.ceil(spec.cpus) - 1}" if 0 < spec.cpus < (os.cpu_count() or 1) else ""
    bound = f'command -v taskset >/dev/null && exec taskset -c {cores} "$@";' if cores else ""
    return ("/bin/sh", "-c", f'{memory} {pids} {bound} exec "$@"', "sh")
