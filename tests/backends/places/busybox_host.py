"""A host with nothing but busybox: a shell without functions that survive it, and small tools."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tools.environments.host import Completed
from tools.environments.local_host import LocalHost, ProcessChannel
from tools.environments.remote import RemoteEnvironment


class BusyboxHost(LocalHost):
    """This machine, as it looks with the programs of busybox alone."""

    def __init__(self, programs: Path) -> None:
        self._start = ["env", f"PATH={programs}"]

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> ProcessChannel:
        return super().open([*self._start, *argv], cwd=cwd, env=env, pty=pty)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        return super().run([*self._start, *argv], stdin=stdin, timeout=timeout)


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    programs = folder / "bin"
    programs.mkdir()
    busybox = shutil.which("busybox")
    assert busybox
    subprocess.run([busybox, "--install", "-s", programs], check=True, timeout=30)
    yield lambda: RemoteEnvironment("busybox-host", BusyboxHost(programs), cwd=str(folder))


def missing() -> str:
    return "" if shutil.which("busybox") else "no busybox; install it (apt-get install busybox)"


PLACE = Place(
    name="busybox-host",
    title="a host with busybox",
    missing=missing,
    start=start,
    lacks=frozenset({"bash"}),
)
