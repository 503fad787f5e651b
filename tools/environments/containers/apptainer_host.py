"""An instance of apptainer, as a place where processes run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence

from tools.environments.containers.apptainer_instance import Instance, SessionFolder, reap
from tools.environments.containers.apptainer_program import Program, variables
from tools.environments.containers.apptainer_spec import InstanceSpec
from tools.environments.containers.starters import SIZED
from tools.environments.host import Completed, Health, Host, HostError, Piece
from tools.environments.local_host import ProcessChannel, run_process
from tools.environments.remote_files import fetch, store
from tools.secrets.variables import for_children

ENDED = "the instance was ended; the next command starts another"
CLOSED = "this session's instance is closed; open another one"


class InstanceChannel(ProcessChannel):
    """A process in an instance, which is one of this machine as well."""

    def __init__(
        self,
        argv: Sequence[str],
        is_alive: Callable[[], bool],
        *,
        env: Mapping[str, str],
        pty: bool,
    ) -> None:
        self._is_alive = is_alive
        super().__init__(argv, cwd="/", env=env, pty=pty)

    def read(self, timeout: float) -> Piece | None:
        piece = super().read(timeout)
        if not (piece and piece.data) and not self._is_alive():
            raise HostError(f"the process ended with its place: {ENDED}")
        return piece


class ApptainerHost(Host):
    """Processes run in one instance, which is started with the first one.

    An instance that has ended is started again. What is kept then is what the session keeps on
    this machine: home, workspace, and with a persistent session all of the root.

    Parameters
    ----------
    env
        Variables of all processes here.
    reaps
        Whether instances that dead processes left are looked for first.
    """

    def __init__(
        self,
        spec: InstanceSpec,
        program: Program,
        env: Mapping[str, str],
        *,
        reaps: bool = True,
    ) -> None:
        self.spec = spec
        self.isolation = spec.isolation
        self._program = program
        self._env = dict(env)
        self._lock = threading.Lock()  # guards the next four
        self._instance: Instance | None = None
        self._folder: SessionFolder | None = None
        self._reaps = reaps
        self._closed = False

    @property
    def instance(self) -> Instance | None:
        """None before the first process."""
        return self._instance

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> ProcessChannel:
        instance = self._living_instance()
        command = self._command(instance, [*SIZED, *argv] if pty else argv, cwd)
        given = variables({**self._env, **(env or {})})
        return InstanceChannel(command, lambda: instance.alive, env=given, pty=pty)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        instance = self._living_instance()
        env = {**for_children(os.environ), **variables(self._env)}
        command = self._command(instance, argv, None)
        done = run_process(command, stdin=stdin, timeout=timeout, env=env)
        if done.exit_code and not instance.alive:
            raise HostError(f"{argv[0]!r} ended with its place: {ENDED}")
        return done

    def get(self, path: str) -> bytes:
        return fetch(self, path)

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        store(self, path, content, mode)

    def home(self) -> str:
        return self.spec.cwd

    def health(self) -> Health:
        instance = self._instance
        if instance is None:
            return Health(True, f"{self.spec.image}; an instance starts with the first command")
        if not instance.alive:
            return Health(False, ENDED)
        about = f"instance {instance.name} of {self.spec.image}"
        return Health(True, "; ".join(filter(None, [about, instance.note])))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._instance is not None:
                self._instance.stop()
                self._instance = None
            if self._folder is not None:
                self._folder.close()
                self._folder = None

    def _command(self, instance: Instance, argv: Sequence[str], cwd: str | None) -> list[str]:
        start = [*self._program.argv, "exec", "--cleanenv", "--no-eval"]
        where = ["--pwd", cwd or self.spec.cwd, f"instance://{instance.name}"]
        return [*start, *where, *instance.limits, *argv]

    def _living_instance(self) -> Instance:
        with self._lock:
            if self._closed:
                raise HostError(CLOSED)
            if self._instance is not None and self._instance.alive:
                return self._instance
            if self._reaps:
                self._reaps = False
                reap(self._program, self.spec.folder)
            self._folder = self._folder or SessionFolder(self.spec)
            self._instance = Instance(self.spec, self._program, self._folder.path)
            self._make_cwd(self._instance)
            return self._instance

    def _make_cwd(self, instance: Instance) -> None:
        argv = self._command(instance, ["mkdir", "-p", "--", self.spec.cwd], "/")
        made = run_process(argv, env=for_children(os.environ))
        if made.exit_code:
            instance.stop()
            said = made.err.decode("utf-8", "replace").strip()
            raise HostError(f"commands cannot run in the instance: {said}")
