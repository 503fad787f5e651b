"""Commands within bounds: what a user asks for, and the wall that this machine can put up."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from tools.environments.bounds import Bounds, NotContained, bounds_of
from tools.environments.bubblewrap import Bubblewrap
from tools.environments.landlock import Landlock

logger = logging.getLogger(__name__)

Mode = Literal["off", "auto", "bubblewrap", "landlock"]
MODES: tuple[str, ...] = get_args(Mode)
SECONDS_TO_TRY = 20.0
Process = subprocess.Popen[bytes]


class Wall(Protocol):
    """A means of the system to hold a process in bounds."""

    @property
    def name(self) -> str: ...

    @property
    def weakness(self) -> str:
        """What it leaves open, for a person; empty if nothing worth a word."""

    def around(self, argv: Sequence[str], bounds: Bounds, cwd: str) -> list[str]:
        """The command that runs ``argv`` within the bounds."""

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        """What the environment of a contained process must say."""

    def outside(self, path: str, bounds: Bounds) -> str:
        """Where a path of the inside is on the machine."""


WALLS: Mapping[str, Callable[[], Wall]] = {
    "bubblewrap": Bubblewrap.find,
    "landlock": Landlock.find,
}
"""The best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Containment:
    """What a user asks for."""

    mode: Mode = "off"
    network: bool = True
    workspace: str = ""
    """The folder that may be written to; empty for the one in which the environment is opened."""
    hidden: tuple[str, ...] = ()
    """What must not be seen besides the secrets that are known."""


OFF = Containment()


class Start(Protocol):
    """How a process is started: `subprocess.Popen`, or within bounds."""

    def __call__(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], **options: Any
    ) -> Process: ...


def start_freely(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], **options: Any
) -> Process:
    """Start a process without bounds."""
    return subprocess.Popen(argv, cwd=cwd, env=env, **options)


class Enclosure:
    """Starts processes within bounds, or as they are if none are asked for.

    Raises
    ------
    NotContained
        If bounds are asked for and this machine cannot hold anything in them.
    """

    def __init__(self, containment: Containment, workspace: str) -> None:
        self.containment = containment
        self._wall: Wall | None = None
        self._parent = _Parent()
        if containment.mode == "off":
            return
        tmp = tempfile.mkdtemp(prefix="hermes-tmp-")
        self._end = weakref.finalize(self, _end, self._parent, tmp, os.getpid())
        try:
            self._bounds = bounds_of(
                containment.workspace or workspace,
                tmp,
                network=containment.network,
                also_hidden=containment.hidden,
            )
            self._wall = _wall(containment.mode, self._bounds)
        except BaseException:
            self._end()
            raise

    @property
    def description(self) -> str:
        """What is in force, for a person."""
        if self._wall is None:
            return "off"
        network = f"network {'on' if self.containment.network else 'off'}"
        weakness = f" ({self._wall.weakness})" if self._wall.weakness else ""
        return f"{self._wall.name}, {network}{weakness}"

    @property
    def variables(self) -> Mapping[str, str]:
        """What the environment of its processes must say."""
        return self._wall.variables(self._bounds) if self._wall else {}

    def outside(self, path: str) -> str:
        """Where a folder that a command speaks of is on this machine."""
        return self._wall.outside(path, self._bounds) if self._wall else path

    def starter(self, shell: Path) -> Start:
        """How to start what speaks with us through the folder ``shell``."""

        def start(
            argv: Sequence[str], *, cwd: str, env: Mapping[str, str], **options: Any
        ) -> Process:
            return self._start(argv, str(shell), cwd=cwd, env=env, **options)

        return start

    def _start(
        self,
        argv: Sequence[str],
        shell: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        **options: Any,
    ) -> Process:
        if self._wall is None:
            return start_freely(argv, cwd=cwd, env=env, **options)
        bounds = replace(self._bounds, shell=os.path.realpath(shell) if shell else "")
        command = self._wall.around(argv, bounds, os.path.realpath(cwd))
        return self._parent.run(lambda: start_freely(command, cwd=cwd, env=env, **options))

    def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], **options: Any
    ) -> Process:
        """Start a process within the bounds, as `start_freely` does without."""
        return self._start(argv, "", cwd=cwd, env=env, **options)

    def around(self, argv: Sequence[str], cwd: str) -> list[str]:
        """The command that runs ``argv`` within the bounds, for who starts it otherwise."""
        if self._wall is None:
            return list(argv)
        return self._wall.around(argv, self._bounds, os.path.realpath(cwd))

    def close(self) -> None:
        """End what was started here, and remove its temporary files."""
        if self._wall is not None:
            self._end()


def best_enclosure(containment: Containment, workspace: str) -> Enclosure:
    """The bounds that are asked for; if none are, those of bubblewrap where they can be had.

    Raises
    ------
    NotContained
        If some are asked for and cannot be had.
    """
    if containment.mode != "off":
        return Enclosure(containment, workspace)
    try:
        return Enclosure(replace(containment, mode="bubblewrap"), workspace)
    except NotContained as problem:
        logger.debug("no bounds: %s", problem)
        return Enclosure(containment, workspace)


def report(containment: Containment, workspace: str) -> tuple[bool, str]:
    """Whether what is asked for can be had in this folder; what it is, or why not."""
    try:
        enclosure = Enclosure(containment, workspace)
    except NotContained as problem:
        return False, f"{containment.mode} is not possible, so no command runs: {problem}"
    enclosure.close()
    return True, enclosure.description


def _wall(mode: str, bounds: Bounds) -> Wall:
    """The best wall that holds, tried out."""
    reasons = []
    for name in WALLS if mode == "auto" else (mode,):
        try:
            wall = WALLS[name]()
            _try(wall, bounds)
        except (OSError, subprocess.SubprocessError) as problem:
            reasons.append(str(problem))
        else:
            return wall
    raise NotContained("; ".join(reasons))


def _try(wall: Wall, bounds: Bounds) -> None:
    tried = subprocess.run(
        wall.around(["true"], bounds, bounds.workspace),
        cwd=bounds.workspace,
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS_TO_TRY,
        check=False,
    )
    if tried.returncode:
        lines = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        said = lines[-1] if lines else f"exit code {tried.returncode}"
        raise NotContained(f"{wall.name} does not work here: {said}")


class _Parent:
    """The thread that starts processes which die with their parent.

    For the kernel of the system, the parent is a thread; tool threads come and go.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Process], Callable[[], Process]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # guards the thread

    def run(self, start: Callable[[], Process]) -> Process:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_serve, args=(self._jobs,), name="hermes-parent", daemon=True
                )
                self._thread.start()
        started: Future[Process] = Future()
        self._jobs.put((started, start))
        return started.result()

    def end(self) -> None:
        self._jobs.put(None)


def _serve(
    jobs: queue.SimpleQueue[tuple[Future[Process], Callable[[], Process]] | None],
) -> None:
    while (job := jobs.get()) is not None:
        started, start = job
        try:
            started.set_result(start())
        except BaseException as error:  # noqa: BLE001 - belongs to who asked
            started.set_exception(error)


def _end(parent: _Parent, tmp: str, owner: int) -> None:
    if os.getpid() == owner:
        parent.end()
        shutil.rmtree(tmp, ignore_errors=True)
