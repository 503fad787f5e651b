"""A container of a Docker engine, as a place where processes run."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tools.environments.containers.docker_channel import DockerChannel
from tools.environments.containers.docker_create import create
from tools.environments.containers.docker_engine import (
    Engine,
    is_conflict,
    is_missing,
    patience,
    was_refused,
)
from tools.environments.containers.docker_labels import remove
from tools.environments.containers.docker_reaper import reap
from tools.environments.containers.docker_spec import ContainerSpec
from tools.environments.containers.docker_wire import Frames, SocketWire
from tools.environments.containers.processes import complete
from tools.environments.containers.starters import LINGERING, SIZED
from tools.environments.host import Completed, Health, Host, HostError
from tools.environments.remote_files import fetch, store

SECONDS_TO_LOOK = 3.0
SECONDS_TO_CLOSE = 10.0
SECONDS_TO_APPEAR = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
KILLED = 128 + 9
REMOVED = "the container was removed"
CLOSED = "this container's session is closed; open another one"


class DockerHost(Host):
    """Processes run in one container, which is made when the first one is started.

    A container that was removed meanwhile is made again, one that was stopped is started again:
    the next process finds what the new container has.

    Parameters
    ----------
    spec
        What the container is.
    engine
        Who runs it; closed with the host.
    env
        Variables of all processes here. They are not written into the container, where everybody
        who may ask the engine could read them.
    reaps
        Whether containers that dead processes left are looked for first.
    """

    def __init__(
        self, spec: ContainerSpec, engine: Engine, env: Mapping[str, str], *, reaps: bool = True
    ) -> None:
        self.spec = spec
        self.isolation = spec.isolation
        self._engine = engine
        self._env = dict(env)
        self._lock = threading.RLock()  # guards the next four
        self._identity = ""
        self._note = ""
        self._reaps = reaps
        self._closed = False

    @property
    def identity(self) -> str:
        """The engine's id of the container; "" before the first process."""
        return self._identity

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> DockerChannel:
        if not self._identity:
            self._living_container()
        starter = (*(LINGERING if self._engine.is_podman else ()), *(SIZED if pty else ()))
        return self._open([*starter, *argv], cwd=cwd, env=env, pty=pty)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        if not self._identity:
            self._living_container()  # an image may have to be pulled: not the process's time
        deadline = time.monotonic() + timeout
        with patience(timeout):
            return complete(self._open(argv), argv[0], stdin, deadline)

    def get(self, path: str) -> bytes:
        return fetch(self, path)

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        store(self, path, content, mode)

    def home(self) -> str:
        return self.spec.cwd

    def health(self) -> Health:
        try:
            with patience(SECONDS_TO_LOOK), self._engine.translating():
                version = self._engine.api.version()["Version"]
                where = f"engine {version} at {self._engine.address}"
                if not self._identity:
                    return Health(True, f"{where}; a container starts with the first command")
                found = self._engine.api.inspect_container(self._identity)
        except HostError as error:
            gone = is_missing(error)
            text = "the container was removed; the next command starts another" if gone else ""
            return Health(False, text or str(error))
        state, name = found["State"]["Status"], found["Name"].lstrip("/")
        notes = "; ".join(filter(None, [where, f"container {name} ({state})", self._note]))
        return Health(state == "running", notes)

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            identity = self._identity
        try:
            if identity:
                with contextlib.suppress(HostError), patience(SECONDS_TO_CLOSE):
                    self._let_go(identity)
        finally:
            self._engine.close()

    def _let_go(self, identity: str) -> None:
        if not self.spec.persistent:
            remove(self._engine, identity)
        elif not self.spec.stays_up:
            with self._engine.translating():
                self._engine.api.kill(identity)

    def _open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> DockerChannel:
        about = {
            "cmd": list(argv),
            "environment": {**self._env, **(env or {})},
            "workdir": cwd or self.spec.cwd,
            "tty": pty,
        }
        identity = self._identity or self._living_container()
        try:
            return self._start(identity, about)
        except HostError as error:
            if not was_refused(error) or self._is_running(identity):
                raise
        return self._start(self._living_container(), about)

    def _start(self, identity: str, about: dict[str, Any]) -> DockerChannel:
        with self._engine.translating():
            api = self._engine.api
            process = api.exec_create(identity, **about, stdin=True)["Id"]
            stream = api.exec_start(process, tty=about["tty"], socket=True)
            wire = SocketWire(stream._response)
        frames = None if about["tty"] else Frames()
        return DockerChannel(wire, frames, lambda: self._exit_code(identity, process))

    def _exit_code(self, identity: str, process: str) -> int | None:
        try:
            with self._engine.translating():
                found = self._engine.api.exec_inspect(process)
        except HostError as error:
            if was_refused(error):  # podman has other words than "missing" during a removal
                raise HostError(f"the process is lost: {self._fate(identity)}") from error
            raise
        if found["Running"] or found["ExitCode"] is None:
            return None
        code = int(found["ExitCode"])
        if code == KILLED:
            time.sleep(SECONDS_BETWEEN_LOOKS)  # its container may be about to end as well
        if code == KILLED and not self._is_running(identity):
            raise HostError(f"the process ended with its container: {self._fate(identity)}")
        return code

    def _fate(self, identity: str) -> str:
        """What became of the container."""
        try:
            with self._engine.translating():
                state = self._engine.api.inspect_container(identity)["State"]
        except HostError as error:
            return REMOVED if was_refused(error) else str(error)
        if state.get("Status") in ("removing", "stopping"):  # the latter is how podman removes
            return REMOVED
        if state.get("OOMKilled"):
            return "the container ran out of memory; raise TERMINAL_CONTAINER_MEMORY"
        if state["Running"]:
            return "the engine was started again"
        return f"the container was stopped (exit code {state.get('ExitCode')})"

    def _is_running(self, identity: str) -> bool:
        try:
            with self._engine.translating():
                state = self._engine.api.inspect_container(identity)["State"]
                return bool(state["Running"]) and not state.get("Paused")
        except HostError as error:
            if was_refused(error):  # podman refuses to look at one that is being removed
                return False
            raise

    def _living_container(self) -> str:
        """The container, made or started if need be."""
        with self._lock:
            if self._closed:
                raise HostError(CLOSED)
            if self._reaps:
                self._reaps = False
                reap(self._engine)
            known = self._identity or (self.spec.name if self.spec.persistent else "")
            self._identity = self._revived(known) if known else ""
            if not self._identity:
                self._identity, self._note = self._made()
            return self._identity

    def _made(self) -> tuple[str, str]:
        try:
            return create(self._engine, self.spec)
        except HostError as error:
            if not (self.spec.persistent and is_conflict(error)):
                raise
            # Another process of this session was faster; its container is not visible at once.
            deadline = time.monotonic() + SECONDS_TO_APPEAR
            while not (identity := self._revived(self.spec.name)):
                if time.monotonic() > deadline:
                    raise
                time.sleep(SECONDS_BETWEEN_LOOKS)
            return identity, ""

    def _revived(self, known: str) -> str:
        """The id of a container that is there, started if it was not; "" if there is none."""
        try:
            with self._engine.translating():
                found = self._engine.api.inspect_container(known)
                if found["State"].get("Paused"):
                    self._engine.api.unpause(known)
                elif not found["State"]["Running"]:
                    self._engine.api.start(known)
                return str(found["Id"])
        except HostError as error:
            if is_missing(error):
                return ""
            raise
