"""Real container engines for tests: dockerd, and podman's service with the same API."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path

import docker

from tests.services import roots
from tests.services.packages import Unavailable, need

SECONDS_TO_START = 30
SECONDS_TO_STOP = 20
DEBIAN, BUSYBOX = "hermes-test:debian", "hermes-test:busybox"
FILES = 4096  # without CAP_SYS_RESOURCE a container cannot have more than this machine's limit
WITH_US = ["setpriv", "--pdeathsig", "TERM"]
"""The engine ends with the tests, however they end."""


class EngineService(ABC):
    """An engine that can be stopped and started again; what it keeps is in ``folder``."""

    title: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "api.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"unix://{self.socket}"

    @property
    def settings(self) -> dict[str, str]:
        """What a backend needs to find it, and an image with bash and python."""
        return {"DOCKER_HOST": self.address, "TERMINAL_DOCKER_IMAGE": DEBIAN}

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises
        ------
        Unavailable
        """
        with (self.folder / "engine.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*WITH_US, *self._command()],
                env={**os.environ, **self._variables()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS_TO_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Unavailable(f"{self.title} does not start: {self._last_words()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it as an administrator does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Make it accept connections but never answer, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def client(self) -> docker.DockerClient:
        return docker.DockerClient(base_url=self.address, timeout=60)

    def load(self, archive: Path, name: str) -> None:
        """Import the tar file of a root as an image."""
        repository, _, tag = name.partition(":")
        client = self.client()
        answer = client.api.import_image_from_file(str(archive), repository=repository, tag=tag)
        # podman's service forgets the tag, but names the image it made.
        identity = json.loads(answer.strip().splitlines()[-1])["status"]
        client.images.get(identity).tag(repository, tag)
        client.close()

    @abstractmethod
    def clear(self) -> None:
        """End what of it goes on after it was stopped."""

    @abstractmethod
    def _command(self) -> list[str]: ...

    def _variables(self) -> dict[str, str]:
        return {}

    def _signal(self, number: int) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    def _end(self, number: int) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(SECONDS_TO_STOP)
        self._process = None

    def _answers(self) -> bool:
        try:
            client = docker.APIClient(base_url=self.address, version="1.41", timeout=5)
            try:
                return bool(client.ping())
            finally:
                client.close()
        except (docker.errors.DockerException, OSError):
            return False

    def _last_words(self) -> str:
        text = (self.folder / "engine.log").read_text(errors="replace").strip()
        return " ".join(text.splitlines()[-3:])


class Dockerd(EngineService):
    """Docker's daemon, with no bridge and no firewall rules of its own."""

    title = "dockerd"

    def _command(self) -> list[str]:
        if "containerd" not in _command_line(self._half):  # a zombie would count as alive
            self._half_file.unlink(missing_ok=True)
        file = self.folder / "daemon.json"
        file.write_text(json.dumps(self._configuration()))
        return ["dockerd", "--config-file", str(file)]

    def _configuration(self) -> dict[str, object]:
        limit = {"Name": "nofile", "Soft": FILES, "Hard": FILES}
        no = ("iptables", "ip6tables", "ip-forward", "ip-masq", "userland-proxy", "live-restore")
        return {
            "hosts": [self.address],
            "data-root": str(self.folder / "data"),
            "exec-root": str(self.folder / "exec"),
            "pidfile": str(self.folder / "engine.pid"),
            "bridge": "none",
            "storage-driver": "overlay2",
            "default-ulimits": {"nofile": limit},
            **dict.fromkeys(no, False),
        }

    def clear(self) -> None:
        """End the half of it that goes on after a crash, and that a second dockerd only uses."""
        if "containerd" in _command_line(self._half):
            os.kill(self._half, signal.SIGTERM)

    @property
    def _half_file(self) -> Path:
        return self.folder / "exec/containerd/containerd.pid"

    @property
    def _half(self) -> int:
        return int(self._half_file.read_text()) if self._half_file.is_file() else 0


class Podman(EngineService):
    """``podman system service``; its containers do not end with it."""

    title = "podman"

    def _command(self) -> list[str]:
        (self.folder / "containers.conf").write_text(
            f'[containers]\ndefault_ulimits=["nofile={FILES}:{FILES}","nproc={FILES}:{FILES}"]\n'
            'netns="none"\n[engine]\nruntime="runc"\n'
            # Else a process per command is kept for five minutes, for whoever asks how it ended.
            "exit_command_delay=15\n"
        )
        (self.folder / "storage.conf").write_text(
            f'[storage]\ndriver="overlay"\ngraphroot="{self.folder}/graph"\n'
            f'runroot="{self.folder}/run"\n'
        )
        return [*self._podman(), "system", "service", "--time=0", self.address]

    def _podman(self) -> list[str]:
        return ["podman", "--cgroup-manager=cgroupfs", "--tmpdir", str(self.folder / "tmp")]

    def _variables(self) -> dict[str, str]:
        return {
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
        }

    def clear(self) -> None:
        """Remove all containers, which would live on without the service."""
        subprocess.run(
            [*self._podman(), "rm", "--all", "--force", "--time", "0"],
            env={**os.environ, **self._variables()},
            capture_output=True,
            timeout=60,
        )


def dockerd(folder: Path) -> EngineService:
    """A running dockerd with the two images of the tests.

    Raises
    ------
    Unavailable
    """
    _as_root("dockerd")
    need({"dockerd": "docker.io", "containerd": "containerd", "runc": "runc"})
    return with_images(Dockerd(folder))


def podman(folder: Path) -> EngineService:
    """A running podman service with the two images of the tests.

    Raises
    ------
    Unavailable
    """
    _as_root("podman")
    need({"podman": "podman", "runc": "runc", "conmon": "conmon"})
    return with_images(Podman(folder))


def end(service: EngineService) -> None:
    """Stop an engine for good and remove what it keeps."""
    service.stop()
    service.clear()
    below = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mounted in sorted(path for path in below if path.startswith(f"{service.folder}/"))[::-1]:
        subprocess.run(["umount", "--lazy", mounted], capture_output=True, timeout=10)
    shutil.rmtree(service.folder, ignore_errors=True)


def _as_root(name: str) -> None:
    if os.geteuid() != 0:
        raise Unavailable(f"{name} needs root to be started")


def with_images(service: EngineService) -> EngineService:
    """Start it with the two images of the tests; ended if that fails."""
    archives = service.folder / "roots"
    archives.mkdir()
    debian = roots.packed(roots.debian(archives / "debian"), archives / "debian.tar")
    busybox = roots.packed(roots.busybox(archives / "busybox"), archives / "busybox.tar")
    service.start()
    try:
        service.load(debian, DEBIAN)
        service.load(busybox, BUSYBOX)
    except BaseException:
        end(service)
        raise
    shutil.rmtree(archives)
    return service


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
