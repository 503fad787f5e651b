"""What the stand-in services run sandboxes on: this machine.

A sandbox is a private home folder, and the processes that were started for it. They are found by
a mark in their environment, so that those in sessions of their own end with it as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import struct
import termios
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

MARK = "STAND_IN_SANDBOX"
KEPT = 1 << 20  # bytes that a stream keeps for a reader who is behind, or comes back


class Machine:
    """The home folder and the processes of one sandbox."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.home = home
        self.alive = True
        (home / ".tmp").mkdir(parents=True, exist_ok=True)

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        path = os.environ.get("PATH", os.defpath)
        return {
            "PATH": path,
            "HOME": str(self.home),
            "TMPDIR": str(self.home / ".tmp"),  # what is there must end with the sandbox
            "LANG": "C.UTF-8",
            **extra,
            MARK: self.name,
        }

    def folder(self, cwd: str | None) -> str:
        return str(self.home / (cwd or ""))  # an absolute cwd stays as it is

    async def start(
        self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=self.folder(cwd),
            env=self.environment(env),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )

    async def start_in_terminal(
        self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str], size: tuple[int, int]
    ) -> tuple[asyncio.subprocess.Process, int]:
        """Start a process that has a terminal; also the descriptor of its other side."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        try:
            process = await asyncio.create_subprocess_exec(
                "/usr/bin/setsid",
                "--ctty",
                *argv,
                cwd=self.folder(cwd),
                env=self.environment({"TERM": "xterm-256color", **env}),
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return process, ours

    def pids(self) -> list[int]:
        mark = f"{MARK}={self.name}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def halt(self) -> None:
        """Kill its processes, as the end of a container does."""
        self.alive = False
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def destroy(self) -> None:
        self.halt()
        shutil.rmtree(self.home, ignore_errors=True)


async def exited(process: asyncio.subprocess.Process) -> int:
    """Wait for a process alone; ``process.wait()`` waits for its pipes as well."""
    with contextlib.suppress(ProcessLookupError):
        await _readable(os.pidfd_open(process.pid))
    while process.returncode is None:  # noqa: ASYNC110 - asyncio learns it in another thread
        await asyncio.sleep(0.001)
    return process.returncode


async def _readable(descriptor: int) -> None:
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def terminal_reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """What comes out of a terminal; closing the transport closes the descriptor."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    return reader, transport


async def write_terminal(descriptor: int, data: bytes) -> None:
    """Type ``data``; waits while the terminal's buffer is full."""
    loop = asyncio.get_running_loop()
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            free = asyncio.Event()
            loop.add_writer(descriptor, free.set)
            try:
                await free.wait()
            finally:
                loop.remove_writer(descriptor)


class Tape:
    """The bytes of one stream, which can be read again from a recent offset.

    Whoever writes waits when the reader is far behind, as at a pipe.
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self._start = 0  # offset of the first kept byte
        self._read_to = 0
        self.ended = False
        self._changed = asyncio.Condition()

    @property
    def length(self) -> int:
        return self._start + len(self._kept)

    async def record(self, source: asyncio.StreamReader) -> None:
        while part := await _some(source):
            async with self._changed:
                self._kept += part
                surplus = self._read_to - KEPT - self._start
                if surplus > KEPT:
                    del self._kept[:surplus]
                    self._start += surplus
                self._changed.notify_all()
                await self._changed.wait_for(lambda: self.length - self._read_to < KEPT)
        await self.end()

    async def end(self) -> None:
        async with self._changed:
            self.ended = True
            self._changed.notify_all()

    async def play(self, offset: int) -> AsyncIterator[bytes]:
        while part := await self._after(offset):
            offset += len(part)
            yield part

    async def _after(self, offset: int) -> bytes:
        async with self._changed:
            await self._changed.wait_for(lambda: self.length > offset or self.ended)
            part = bytes(self._kept[offset - self._start :])
            self._read_to = max(self._read_to, offset + len(part))
            self._changed.notify_all()
            return part


async def _some(source: asyncio.StreamReader) -> bytes:
    try:
        return await source.read(65536)
    except OSError:  # a terminal ends so when the last process that had it is gone
        return b""
