"""A process in a Daytona sandbox with three streams, out of what Daytona streams.

Its commands give one text at their end. Its sessions keep two streams apart, but as lines of text,
and take input as lines that they never end. Its terminals alone carry bytes in both directions; so
a process has two of them, and ``daytona_relay.sh`` between.
"""

from __future__ import annotations

import asyncio
import base64
import uuid
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

from tools.environments.async_channel import AsyncChannel
from tools.environments.async_host import HostLoop
from tools.environments.host import HostError, Stream

Role = Literal["out", "err", "tty"]

READY_TIMEOUT = 30.0
CLOSE_TIMEOUT = 10.0
UPLOADED = 100_000  # bytes of input from which on it is faster to upload a file
UPLOAD_TIMEOUT = 50.0
INPUT_PART = 30_000  # bytes; a message to a terminal must stay below 64 KiB, as base64 too
PARTS_AHEAD = 4096  # of a terminal, each some KiB, that wait for a reader
TOO_MUCH = 1 << 20  # bytes before the mark: no login shell prints so much


class Terminal:
    """One terminal of the sandbox, in which the relay runs in one of its roles.

    Parameters
    ----------
    process
        The library's processes of the sandbox.
    folder
        Where the relay is there.
    mark
        What it prints before anything of interest.
    on_data
        Gets all that comes after the mark.
    """

    def __init__(
        self, process: Any, folder: str, mark: bytes, on_data: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self.id = f"hermes-{uuid.uuid4().hex[:16]}"
        self._process = process
        self._folder = folder
        self._mark = mark
        self._on_data = on_data
        self._before = b""
        self._ready = asyncio.Event()
        self._handle: Any = None

    async def open(self, role: Role, size: Any) -> None:
        """Start a login shell, have it run the relay, and wait until that is ready."""
        self._handle = await self._process.create_pty_session(
            id=self.id, on_data=self._receive, pty_size=size
        )
        await self._handle.send_input(f" exec sh {self._folder}/relay {role}\n")
        ready = asyncio.ensure_future(self._ready.wait())
        ended = asyncio.ensure_future(self._handle.wait())
        await asyncio.wait({ready, ended}, timeout=READY_TIMEOUT, return_when="FIRST_COMPLETED")
        for task in (ready, ended):
            task.cancel()
        if not self._ready.is_set():
            shown = self._before[-300:].decode(errors="replace").strip()
            raise HostError(
                f"The sandbox's login shell did not start our relay within {READY_TIMEOUT:g} s. "
                f"Does one of its start files ask something? It shows: {shown!r}"
            )

    async def send(self, data: bytes) -> None:
        await self._handle.send_input(data)

    async def wait(self) -> int | None:
        """Wait for its end: the exit code, or None if the connection was lost."""
        code = (await self._handle.wait()).exit_code
        return code if code is not None and code >= 0 else None

    async def close(self, *, kill: bool) -> None:
        if self._handle is None:
            return
        with suppress(Exception):  # it may be gone already, which is what is wanted
            if kill:
                await self._process.kill_pty_session(self.id, request_timeout=CLOSE_TIMEOUT)
        await self._handle.disconnect()

    async def _receive(self, data: bytes) -> None:
        if self._ready.is_set():
            await self._on_data(data)
            return
        self._before += data
        _, mark, rest = self._before.partition(self._mark)
        if mark:
            self._before = b""
            self._ready.set()
            if rest:
                await self._on_data(rest)
        elif len(self._before) > TOO_MUCH:
            self._before = self._before[-len(self._mark) :]


class Frames:
    """The frames of one stream, cut out of what the relay prints."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self.complete: asyncio.Queue[bytes] = asyncio.Queue()
        """An empty frame is the end."""

    async def receive(self, data: bytes) -> None:
        self._rest += data
        while (end := self._rest.find(b"\n")) >= 0:
            length = int(self._rest[:end])
            if len(self._rest) < end + 1 + length:
                return
            self.complete.put_nowait(bytes(self._rest[end + 1 : end + 1 + length]))
            del self._rest[: end + 1 + length]


class _Channel(AsyncChannel):
    """What both kinds have in common: a task that follows the process until it ends."""

    terminals: tuple[Terminal, ...]

    def __init__(self, host_loop: HostLoop) -> None:
        super().__init__(host_loop)
        self._watch: Any = None

    async def begin(self, size: Any) -> None:
        """Open the terminals, and start the process."""
        roles = self.roles()
        try:
            await asyncio.gather(
                *(t.open(role, size) for t, role in zip(self.terminals, roles, strict=True))
            )
        except BaseException:
            await self.let_go(kill=True)
            raise
        self._watch = asyncio.ensure_future(self._follow())

    def close(self) -> None:
        """Let go of the process. Its terminals end, and with them what did not leave them."""
        self.fail(HostError("The connection to this process was closed."))
        self.host_loop.start(self._stop())

    @abstractmethod
    def roles(self) -> tuple[Role, ...]: ...

    @abstractmethod
    async def follow(self) -> int | None:
        """Bring all output, and return the exit code; None if the connection was lost."""

    async def let_go(self, *, kill: bool) -> None:
        await asyncio.gather(*(terminal.close(kill=kill) for terminal in self.terminals))

    async def _follow(self) -> None:
        code = None
        try:
            code = await self.follow()
        finally:
            if code is None:
                self.fail(HostError("The connection to a process in the Daytona sandbox was lost."))
            else:
                self.finish(code)
        await self.let_go(kill=False)

    async def _stop(self) -> None:
        if self._exit_code is None:  # it may run, even if the connection was lost
            if self._watch is not None:
                self._watch.cancel()
            await self.let_go(kill=True)


class DaytonaChannel(_Channel):
    """One process with pipes."""

    def __init__(self, host_loop: HostLoop, sandbox: Any, folder: str, mark: bytes) -> None:
        super().__init__(host_loop)
        self._files, self._folder = sandbox.fs, folder
        self._uploads = 0
        self._out, self._err = Frames(), Frames()
        self.terminals = (
            Terminal(sandbox.process, folder, mark, self._out.receive),
            Terminal(sandbox.process, folder, mark, self._err.receive),
        )

    def roles(self) -> tuple[Role, ...]:
        return ("out", "err")

    async def send(self, data: bytes) -> None:
        if len(data) >= UPLOADED:
            self._uploads += 1
            name = f"input{self._uploads}"
            await self._files.upload_file(data, f"{self._folder}/{name}", int(UPLOAD_TIMEOUT))
            await self.terminals[0].send(f"@{name}\n".encode())
            return
        for start in range(0, len(data), INPUT_PART):
            line = base64.b64encode(data[start : start + INPUT_PART]) + b"\n"
            await self.terminals[0].send(line)

    async def send_end(self) -> None:
        await self.terminals[0].send(b".\n")

    async def follow(self) -> int | None:
        main, side = self.terminals
        pumps = [
            asyncio.ensure_future(self._bring("out", self._out)),
            asyncio.ensure_future(self._bring("err", self._err)),
        ]
        ended = asyncio.ensure_future(main.wait())
        side_ended = asyncio.ensure_future(side.wait())
        try:
            await asyncio.wait({ended, side_ended}, return_when=asyncio.FIRST_COMPLETED)
            # Without the side one, errors and acknowledgements are lost.
            if not ended.done() or ended.result() is None:
                return None
            _, late = await asyncio.wait(pumps, timeout=CLOSE_TIMEOUT)
            if late:
                return None
            with suppress(Exception):
                await side.send(b"end\n")
            return ended.result()
        finally:
            for task in (*pumps, ended, side_ended):
                task.cancel()

    async def _bring(self, stream: Stream, frames: Frames) -> None:
        while True:
            data = await frames.complete.get()
            await self.output.put(stream, data)
            await self.terminals[1].send(f"{stream}\n".encode())
            if not data:
                self.output.end_of(stream)
                return


class DaytonaTerminal(_Channel):
    """One process that has a terminal; what it prints fast may be cut off by the service."""

    def __init__(self, host_loop: HostLoop, sandbox: Any, folder: str, mark: bytes) -> None:
        super().__init__(host_loop)
        self._parts: asyncio.Queue[bytes] = asyncio.Queue(PARTS_AHEAD)
        self.terminals = (Terminal(sandbox.process, folder, mark, self._parts.put),)

    def roles(self) -> tuple[Role, ...]:
        return ("tty",)

    async def send(self, data: bytes) -> None:
        for start in range(0, len(data), INPUT_PART):
            await self.terminals[0].send(data[start : start + INPUT_PART])

    async def send_end(self) -> None:
        await self.terminals[0].send(b"\x04")

    async def follow(self) -> int | None:
        pump = asyncio.ensure_future(self._bring())
        try:
            code = await self.terminals[0].wait()
            await self._parts.put(b"")
            await asyncio.wait({pump}, timeout=CLOSE_TIMEOUT)
            return code
        finally:
            pump.cancel()

    async def _bring(self) -> None:
        while data := await self._parts.get():
            await self.output.put("out", data)
