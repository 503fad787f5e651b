"""Real ipykernels that start quickly: forked from a process that has imported all.

As a program it reads lines of JSON, ``connection_file``, ``cwd`` and maybe ``env`` and ``log``, and
prints the id of the process that it has forked for each. The child leads a session of its own, and
then does what ``ipykernel_launcher`` does: its sockets, threads, shell and history are its own,
since the parent has none.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


OF_A_TURN = (
    "anyio._backends._asyncio", "anyio.streams.stapled", "hermes_jupyter.api",
    "hermes_jupyter.loading", "hermes_jupyter.kernel.history", "IPython.core.magics",
    "mistune.plugins.task_lists", "mistune.plugins.url", "tree_sitter", "tree_sitter_bash",
)  # fmt: skip
"""What a kernel imports before the end of its first turn.

Not ipywidgets, which makes itself known to the kernel that imports it.
"""


class Zygote:
    """Starts kernels; ends those that are left at the end."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._folder, self._env = folder, env
        self._kernels: list[Kernel] = []
        self._started = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1", **env},
        )  # fmt: skip

    def fork(self) -> Kernel:
        """Begin to start a kernel, and return at once."""
        from jupyter_client.connect import write_connection_file

        assert self._process.stdin
        assert self._process.stdout
        self._started += 1
        path, _ = write_connection_file(str(self._folder / f"kernel-{self._started}.json"))
        log = str(self._folder / f"kernel-{self._started}.log")
        about = {"connection_file": path, "cwd": str(self._folder), "log": log}
        self._process.stdin.write(json.dumps(about) + "\n")
        self._process.stdin.flush()
        kernel = Kernel(int(self._process.stdout.readline()), path)
        self._kernels.append(kernel)
        return kernel

    def close(self) -> None:
        for kernel in self._kernels:
            kernel.kill()
        self._process.communicate(timeout=30)


class Kernel:
    """One kernel, and what it has published."""

    def __init__(self, pid: int, connection_file: str) -> None:
        self._pid: int | None = pid
        self._connection_file = connection_file

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A front end of it, once it is ready."""
        import front
        from jupyter_client.blocking.client import BlockingKernelClient

        client = BlockingKernelClient(connection_file=self._connection_file)
        client.load_connection_file()
        client.start_channels(hb=False)
        opened: Any = None
        try:
            opened = front.Front(None, client)  # type: ignore[arg-type]
            opened.until_heard()
            yield opened
        finally:
            if opened is not None:
                opened.close()
            client.stop_channels()

    def kill(self) -> None:
        """As the system does when the memory is full."""
        pid, self._pid = self._pid, None  # it may soon be that of another process
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Import what a kernel needs, then fork."""
    import openai
    from ipykernel.kernelapp import IPKernelApp

    from tools.discovery import discover_builtin

    for name in OF_A_TURN:
        importlib.import_module(name)
    openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
    discover_builtin()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the dead
    while line := _line():
        if os.fork() == 0:
            about = json.loads(line)
            _begin(**about)
            # With an environment it is a server's, and ends when that dies, as kernels do.
            parent = os.getppid() if "env" in about else 0
            IPKernelApp.launch_instance(argv=["-f", about["connection_file"]], parent_handle=parent)
            os._exit(0)


def _begin(
    connection_file: str, cwd: str, env: dict[str, str] | None = None, log: str = ""
) -> None:
    """Be a process as if it had been started anew, and tell its id."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.write(1, f"{os.getpid()}\n".encode())
    _redirect(log)
    if env is not None:
        os.environ.clear()
        os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(cwd)
    sys.argv[1:] = ["-f", connection_file]
    sys.path[:] = [each for each in sys.path if each != str(HERE)]


def _line() -> bytes:
    """One line of input, and no more of it: the rest is for others."""
    line = b""
    while not line.endswith(b"\n") and (sign := os.read(0, 1)):
        line += sign
    return line


def _redirect(log: str) -> None:
    """Into a file, or to where errors are written."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if log else 2
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, target)


if __name__ == "__main__":
    main()
