"""A channel over something that can be polled: a socket, or the pipes of a local process."""

from __future__ import annotations

import select
import threading
import time
from abc import abstractmethod
from collections import deque
from typing import Protocol

from tools.environments.host import Channel, HostError, Piece, Stream

PIECE = 65536
UNSENT_LIMIT = 1 << 20
SECONDS_BETWEEN_LOOKS = 0.02
SECONDS_BETWEEN_TRIES = 0.1
INPUT_CLOSED = "its standard input is closed"
ENDED = "the process has ended and did not take all of its input"
LET_GO = "this channel is closed"


class Wire(Protocol):
    """One end of a connection. Nothing here blocks, and only one thread receives."""

    def fileno(self) -> int: ...

    def receive(self) -> bytes | None:
        """Some bytes; ``b""`` at the end; None if there is nothing now."""

    def buffered(self) -> bool:
        """Whether `receive` has something that a poll does not see."""

    def send(self, data: memoryview) -> int:
        """Send what can be sent now; how much that was."""

    def end_sending(self) -> None: ...

    def close(self) -> None: ...


class PolledChannel(Channel):
    """The bytes of a process, as they come; what its input does not take yet is kept.

    What is kept is sent by whoever reads, so that one thread can feed a process that answers
    while it is fed. A writer waits only beyond `UNSENT_LIMIT`.
    """

    def __init__(self, readers: dict[Wire, Stream], writer: Wire | None) -> None:
        self._readers = readers
        self._writer = writer
        self._ready: deque[Piece] = deque()
        self._reading = threading.Lock()  # guards the readers and what is ready
        self._sending = threading.Lock()  # guards the next two, and the writer
        self._unsent = bytearray()
        self._input_ends = False
        self._closed = False

    @property
    def at_end(self) -> bool:
        """Whether all that it printed has been read."""
        return not self._readers and not self._ready

    def feed(self, data: bytes) -> None:
        """As `write`, for a caller who reads next: never waits, and keeps what is not taken."""
        with self._sending:
            if self._closed or self._input_ends or self._writer is None:
                raise HostError(LET_GO if self._closed else INPUT_CLOSED)
            self._unsent += data
            self._flush()

    def write(self, data: bytes) -> None:
        self.feed(data)
        while len(self._unsent) > UNSENT_LIMIT and not self._closed:
            self._poll_for_room()
            with self._sending:
                self._flush()
            # An engine keeps the connection of a process that is gone, and takes nothing from it.
            if len(self._unsent) > UNSENT_LIMIT and self.exit_code is not None:
                raise HostError(ENDED)

    def close_input(self) -> None:
        with self._sending:
            self._input_ends = True
            if self._writer is not None:
                self._flush()

    def read(self, timeout: float) -> Piece | None:
        deadline = time.monotonic() + timeout
        try:
            with self._reading:
                return self._next(deadline)
        finally:
            if self._closed:
                self._dispose()

    def close(self) -> None:
        self._closed = True
        self._dispose()

    @abstractmethod
    def _take(self, wire: Wire, data: bytes) -> None:
        """Make pieces of what came from there, in ``self._ready``; of nothing at its end."""

    @abstractmethod
    def _close_wires(self) -> None:
        """Close all; called once or more often, never while another thread uses them."""

    def _next(self, deadline: float) -> Piece | None:
        while not self._ready:
            if self._closed:
                raise HostError(LET_GO)
            left = deadline - time.monotonic()
            if not self._readers:
                self._await_end(deadline)
                return None
            if not self._move(max(left, 0)) and left <= 0:
                return None  # looked once at least
        return self._ready.popleft()

    def _move(self, seconds: float) -> bool:
        """Wait for bytes and take them; send what waits to be sent. Whether any came."""
        came = [wire for wire in self._readers if wire.buffered()]
        poll, wires = select.poll(), {wire.fileno(): wire for wire in self._readers}
        for number in wires:
            poll.register(number, select.POLLIN)
        if self._unsent and self._writer is not None:
            both = self._writer.fileno() in wires
            poll.register(self._writer.fileno(), select.POLLOUT | (select.POLLIN if both else 0))
        # Another thread may close it or give more to send meanwhile, so no wait is long.
        slice_ms = 0 if came else min(seconds, SECONDS_BETWEEN_TRIES) * 1000
        for number, event in poll.poll(slice_ms):
            if number in wires and event & ~select.POLLOUT:
                came.append(wires[number])
        with self._sending:
            self._flush()
        received = [self._receive(wire) for wire in dict.fromkeys(came)]
        return any(received)

    def _receive(self, wire: Wire) -> bool:
        data = wire.receive()
        if data is None:
            return False
        if not data:
            del self._readers[wire]
        self._take(wire, data)
        return True

    def _await_end(self, deadline: float) -> None:
        """All streams have ended; the process will soon."""
        while self.exit_code is None and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, SECONDS_BETWEEN_LOOKS))

    def _flush(self) -> None:
        if self._writer is None:
            return
        if self._unsent and not self._closed:
            with memoryview(bytes(self._unsent[:UNSENT_LIMIT])) as view:
                sent = self._writer.send(view)
            del self._unsent[:sent]
        if self._input_ends and not self._unsent:
            self._writer.end_sending()
            self._writer = None

    def _poll_for_room(self) -> None:
        poll = select.poll()
        with self._sending:
            if self._writer is None or self._closed:
                return
            number = self._writer.fileno()
        poll.register(number, select.POLLOUT)
        poll.poll(SECONDS_BETWEEN_TRIES * 1000)

    def _dispose(self) -> None:
        """Close, unless somebody reads: the reader sees that it is closed, and does it then."""
        if not self._reading.acquire(blocking=False):
            return
        try:
            with self._sending:
                self._close_wires()
                self._readers, self._writer = {}, None
        finally:
            self._reading.release()
