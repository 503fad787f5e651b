"""What a keeper passes on to its job: frames from the pipe ``in``, for its input or terminal."""

from __future__ import annotations

import contextlib
import os
import select

PIECE = 65_536
LONGEST_PAYLOAD = 4_000
"""So that a frame is written in one go, or not at all."""
MOST_WAITING = 65_536
"""Bytes that the job has not read yet; then no more is taken."""
WRITE, CLOSE = b"w", b"c"


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """A message for the pipe."""
    return kind + len(payload).to_bytes(2, "big") + payload


class Input:
    """The way from the pipe to the descriptor ``target``, which must not block.

    When the job takes no more, the pipe is removed: so whoever writes notices.
    """

    def __init__(self, folder: str, target: int, poll: select.poll) -> None:
        self._path = f"{folder}/in"
        self.target, self._poll = target, poll
        self._frames = self._waiting = b""
        self._closing = False
        os.mkfifo(self._path, 0o600)
        # Also open for writing, so that it does not end whenever a kernel closes it.
        self.source = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)

    @property
    def is_open(self) -> bool:
        return self.source >= 0

    @property
    def target_events(self) -> int:
        """What to listen for at the target, beside its errors."""
        return select.POLLOUT if self.is_open and self._waiting else 0

    def listen(self) -> None:
        """Register the pipe: while the job reads, and not beyond."""
        if self.is_open:
            has_room = len(self._waiting) < MOST_WAITING
            self._poll.register(self.source, select.POLLIN if has_room else 0)

    def take(self) -> None:
        """Read frames, and pass on what they hold."""
        self._frames += os.read(self.source, PIECE)
        while len(self._frames) >= 3:
            end = 3 + int.from_bytes(self._frames[1:3], "big")
            if len(self._frames) < end:
                break
            self._closing |= self._frames[:1] == CLOSE
            self._waiting += self._frames[3:end]
            self._frames = self._frames[end:]
        self.feed()

    def feed(self) -> None:
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self.target, self._waiting[:PIECE]) :]
        except BlockingIOError:
            return
        except OSError:
            self._closing = True
        if self._closing:
            self.close()

    def close(self) -> None:
        if not self.is_open:
            return
        with contextlib.suppress(FileNotFoundError):  # who has closed it has removed it
            os.unlink(self._path)  # noqa: PTH108
        self._poll.unregister(self.source)
        os.close(self.source)
        self.source, self._waiting = -1, b""
