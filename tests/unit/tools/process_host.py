"""A `Host` that starts processes on this machine: what a remote place is tested with."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from tools.environments.host import (
    Channel,
    Completed,
    Health,
    Host,
    HostError,
    Isolation,
    Piece,
    Stream,
)


class ProcessChannel(Channel):
    """Pipes to one process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.sent = 0
        self.cut_after: int | None = None
        """Bytes after which the connection is cut while something is sent."""
        self._pieces: queue.Queue[Piece | None] = queue.Queue()
        assert process.stdout is not None
        assert process.stderr is not None
        self._pumps = [
            threading.Thread(target=self._pump, args=("out", process.stdout), daemon=True),
            threading.Thread(target=self._pump, args=("err", process.stderr), daemon=True),
        ]
        for pump in self._pumps:
            pump.start()

    def _pump(self, stream: Stream, pipe: IO[bytes]) -> None:
        with pipe:
            while data := os.read(pipe.fileno(), 65536):
                self._pieces.put(Piece(stream, data))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            if self.cut_after is not None and self.sent + len(data) > self.cut_after:
                self.process.stdin.write(data[: max(0, self.cut_after - self.sent)])
                self.process.stdin.close()
                raise HostError("the connection was cut")
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise HostError(f"cannot write: {error}") from error
        self.sent += len(data)

    def read(self, timeout: float) -> Piece | None:
        try:
            return self._pieces.get(timeout=timeout)
        except queue.Empty:
            return None

    def close_input(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError as error:
            raise HostError(str(error)) from error

    @property
    def exit_code(self) -> int | None:
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def close(self) -> None:
        """Wait for it, so that a test leaves nothing behind; a real one does not."""
        with suppress(HostError):
            self.close_input()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pump in self._pumps:  # they close what they read; nobody else may meanwhile
            pump.join()


class ProcessHost(Host):
    """Starts everything with ``env`` only, and after ``prefix``."""

    isolation = Isolation(isolated=False)

    def __init__(self, env: Mapping[str, str], prefix: Sequence[str] = ()) -> None:
        self.env, self.prefix = dict(env), tuple(prefix)
        self.channels: list[ProcessChannel] = []
        self.refuses = ""
        """Why nothing can be started, if so."""
        self.cut_after: int | None = None
        """Bytes of its input after which the connection of a short process is cut."""

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> Channel:
        if self.refuses:
            raise HostError(self.refuses)
        process = subprocess.Popen(
            [*self.prefix, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.env, **(env or {})},
            cwd=cwd,
            bufsize=0,
            start_new_session=True,
        )
        self.channels.append(ProcessChannel(process))
        return self.channels[-1]

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        if self.refuses:
            raise HostError(self.refuses)
        given = stdin[: self.cut_after]
        try:
            done = subprocess.run(
                [*self.prefix, *argv],
                input=given, capture_output=True, env=self.env, timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise HostError("it did not end in time") from error
        if given != stdin:
            raise HostError("the connection was cut")
        return Completed(done.returncode, done.stdout, done.stderr)

    def get(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        Path(path).write_bytes(content)
        Path(path).chmod(mode)

    def home(self) -> str:
        return self.env.get("HOME", "/")

    def health(self) -> Health:
        return Health(not self.refuses, self.refuses)

    def close(self) -> None:
        for channel in self.channels:
            channel.close()
