"""A process on another machine, over SSH."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from tools.environments.async_channel import OUTPUT_LIMIT, AsyncChannel
from tools.environments.async_host import HostLoop
from tools.environments.host import HostError, Stream

SECONDS_OF_SILENCE = 0.5
"""How long to wait for the rest of the output of a process that has ended: a child of it may hold
the channel open for ever."""


class SshChannel(AsyncChannel):
    """It is what `asyncssh` calls a session: the methods without a docstring are called by that,
    on the loop."""

    def __init__(self, host_loop: HostLoop) -> None:
        super().__init__(host_loop)
        self._channel: Any = None
        self._code: int | None = None
        self._unread: asyncio.Queue[tuple[Stream, bytes] | None] = asyncio.Queue()
        self._waiting = 0  # bytes in the queue
        self._writable = asyncio.Event()
        self._writable.set()
        self._tasks = {host_loop.loop.create_task(self._pass_on())}
        self._lost: HostError | None = None

    async def send(self, data: bytes) -> None:
        await self._writable.wait()
        self._must_be_open()
        self._channel.write(data)

    async def send_end(self) -> None:
        await self._writable.wait()
        self._must_be_open()
        self._channel.write_eof()

    def close(self) -> None:
        self.host_loop.start(self._close())

    def connection_made(self, channel: Any) -> None:
        self._channel = channel

    def session_started(self) -> None:
        pass

    def data_received(self, data: bytes, kind: int | None) -> None:
        self._waiting += len(data)
        self._unread.put_nowait(("out" if kind is None else "err", data))
        if self._waiting > OUTPUT_LIMIT:
            self._channel.pause_reading()

    def eof_received(self) -> bool:
        return True  # our own direction stays open

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def exit_status_received(self, status: int) -> None:
        self._code = status
        self._tasks.add(self.host_loop.loop.create_task(self._end_when_silent()))

    def exit_signal_received(self, name: str, dumped: bool, text: str, language: str) -> None:
        known = signal.Signals.__members__.get(f"SIG{name}")
        self.exit_status_received(128 + (known or 0))

    def connection_lost(self, error: BaseException | None) -> None:
        self._writable.set()
        if self._code is None:
            cause = error or ConnectionResetError("the process has gone without a word")
            self._lost = self.host_loop.explain(cause)
        self._unread.put_nowait(None)

    def _must_be_open(self) -> None:
        if self._lost is not None or self._channel is None or self._channel.is_closing():
            raise self._lost or HostError("the process has ended")

    async def _pass_on(self) -> None:
        """Bring what was received to who reads, as fast as that reads."""
        while (received := await self._unread.get()) is not None:
            stream, data = received
            await self.output.put(stream, data)
            was_full = self._waiting > OUTPUT_LIMIT
            self._waiting -= len(data)
            if was_full and self._waiting <= OUTPUT_LIMIT:
                self._channel.resume_reading()
        if self._lost is not None:
            self.fail(self._lost)
        else:
            self.finish(self._code or 0)

    async def _end_when_silent(self) -> None:
        moved = -1
        while moved != self.output.moved or self._waiting:
            moved = self.output.moved
            await asyncio.sleep(SECONDS_OF_SILENCE)
        self._unread.put_nowait(None)
        self._channel.close()

    async def _close(self) -> None:
        if self._channel is not None:
            self._channel.abort()
        for task in self._tasks:
            task.cancel()
        self.output.end()
