"""A process behind an asyncio library: its streams between a loop and the threads that use them."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable

from tools.environments.async_host import GRACE, HostLoop
from tools.environments.host import Channel, HostError, Piece, Stream

OUTPUT_LIMIT = 1_000_000  # bytes of output that wait for a reader
INPUT_LIMIT = 4_000_000  # bytes of input that wait to be sent
SEND_TIMEOUT = 60.0


class Output:
    """Pieces of output between a loop, which puts them in, and a thread, which takes them out.

    Not more than `OUTPUT_LIMIT` bytes wait here: then `put` does.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._changed = threading.Condition()  # guards the next five
        self._pieces: deque[Piece] = deque()
        self._size = 0
        self._streams: set[Stream] = {"out", "err"}  # that more may come from
        self._ended = False
        self._failure: HostError | None = None
        self._room = asyncio.Event()
        self.moved = 0
        """How many bytes went in or out so far: it grows as long as something goes on."""

    @property
    def waiting(self) -> bool:
        """Has something come that was not taken yet?"""
        return bool(self._pieces)

    @property
    def done(self) -> bool:
        """Is all taken that will ever come?"""
        return self._ended and not self._pieces

    async def put(self, stream: Stream, data: bytes) -> None:
        """Add some bytes; for the loop. Waits while there is no room."""
        if not data:
            return
        while self._size >= OUTPUT_LIMIT and not self._ended:
            self._room.clear()
            await self._room.wait()
        with self._changed:
            self._pieces.append(Piece(stream, data))
            self._size += len(data)
            self.moved += len(data)
            self._changed.notify_all()

    def end_of(self, stream: Stream) -> None:
        """Nothing more will come of one stream."""
        with self._changed:
            if stream in self._streams and not self._ended:
                self._streams.remove(stream)
                self._pieces.append(Piece(stream, b""))
                self._changed.notify_all()

    def end(self, failure: HostError | None = None) -> None:
        """Nothing more will come, because of ``failure`` or because the process has ended."""
        if failure is None:
            self.end_of("out")
            self.end_of("err")
        with self._changed:
            if not self._ended:
                self._ended = True
                self._failure = failure
                self._changed.notify_all()
        self._wake()

    def take(self, timeout: float) -> Piece | None:
        """The next piece; None if none comes in time, or ever.

        Raises
        ------
        HostError
            If all is taken that came before a failure.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._ended, timeout)
            if not self._pieces:
                if self._failure is not None:
                    raise HostError(str(self._failure)) from self._failure
                return None
            piece = self._pieces.popleft()
            full = self._size >= OUTPUT_LIMIT
            self._size -= len(piece.data)
            self.moved += len(piece.data)
        if full:
            self._wake()
        return piece

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._room.set)


class Input:
    """Bytes between a thread that writes them and a loop that sends them, in order.

    A write returns at once while less than `INPUT_LIMIT` bytes wait: the answer to a command is
    then not two ways away, but one.
    """

    def __init__(self, host_loop: HostLoop, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._host_loop = host_loop
        self._send = send
        self._changed = threading.Condition()  # guards the next four
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._sending = False
        self._closed = ""

    def write(self, data: bytes) -> None:
        """Have ``data`` sent.

        Raises
        ------
        HostError
            If the input is closed, or what was written before could not be sent.
        """
        with self._changed:
            ready = self._changed.wait_for(lambda: self._size < INPUT_LIMIT, SEND_TIMEOUT)
            if not ready:
                self._closed = self._closed or "the process reads nothing"
            if self._closed:
                raise HostError(f"The process takes no more input: {self._closed}.")
            if not data:
                return
            self._parts.append(data)
            self._size += len(data)
            if self._sending:
                return
            self._sending = True
        self._host_loop.start(self._send_all())

    def close(self, reason: str) -> None:
        """Refuse what is written from now on."""
        with self._changed:
            self._closed = self._closed or reason
            self._changed.notify_all()

    def flushed(self, timeout: float) -> bool:
        """Wait until all is sent; False if that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._sending, timeout)

    async def _send_all(self) -> None:
        while part := self._next():
            try:
                await self._host_loop.bounded(
                    self._send(part), within=SEND_TIMEOUT, doing="sending input"
                )
            except HostError as error:
                self.close(str(error).rstrip("."))
                with self._changed:
                    self._parts.clear()
                    self._size = 0
            with self._changed:
                self._changed.notify_all()

    def _next(self) -> bytes:
        with self._changed:
            part = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            if not part:
                self._sending = False
                self._changed.notify_all()
            return part


class AsyncChannel(Channel):
    """A process behind an asyncio library. Subclasses put its output in and send its input."""

    def __init__(self, host_loop: HostLoop) -> None:
        self.host_loop = host_loop
        self.output = Output(host_loop.loop)
        self._input = Input(host_loop, self.send)
        self._exit_code: int | None = None

    @abstractmethod
    async def send(self, data: bytes) -> None:
        """Send some input; on the loop, one call after the other."""

    @abstractmethod
    async def send_end(self) -> None:
        """End the input; on the loop, after all input was sent."""

    def write(self, data: bytes) -> None:
        self._input.write(data)

    def read(self, timeout: float) -> Piece | None:
        return self.output.take(timeout)

    def close_input(self) -> None:
        self._input.close("its input was closed")
        if self._input.flushed(SEND_TIMEOUT) and not self.output.done:
            self.host_loop.call(self.send_end(), timeout=SEND_TIMEOUT, doing="closing an input")

    @property
    def exit_code(self) -> int | None:
        # Not before all output is read: who sees an exit code may stop reading.
        return self._exit_code if self.output.done else None

    def finish(self, exit_code: int) -> None:
        """The process has ended and all its output is in."""
        self._exit_code = exit_code
        self._input.close("it has ended")
        self.output.end()

    def fail(self, error: HostError) -> None:
        """The connection is lost."""
        self._input.close(str(error).rstrip("."))
        self.output.end(error)


async def drained(output: Output, pumps: set[asyncio.Task[None]], idle: float) -> None:
    """Wait for the tasks that bring output, as long as something moves.

    A child of the process may hold its output open for ever; so after ``idle`` seconds in which
    nothing came, they are cancelled.
    """
    quiet_since, moved = time.monotonic(), output.moved
    while pending := {pump for pump in pumps if not pump.done()}:
        await asyncio.wait(pending, timeout=idle / 4)
        if output.moved != moved or output.waiting:
            quiet_since, moved = time.monotonic(), output.moved
        elif time.monotonic() - quiet_since >= idle:
            for pump in pending:
                pump.cancel()
            await asyncio.wait(pending, timeout=GRACE)
            return
