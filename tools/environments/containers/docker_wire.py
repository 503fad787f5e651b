"""The stream of a process in a container: a connection that was HTTP until the process started."""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Any

HEADER = 8
NOTHING_NOW = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
PIECE = 65536


class SocketWire:
    """The socket of an answer ``101 Switching Protocols``.

    Parameters
    ----------
    answer
        The answer of ``requests``, which owns the socket and closes it.
    """

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        # http.client may have read more than the headers: what the process printed first.
        self._file = answer.raw._fp.fp
        self._socket: socket.socket = self._file.raw._sock
        self._socket.setblocking(False)
        self._early: bytes | None = None
        self._looked = False

    def fileno(self) -> int:
        return self._socket.fileno()

    def buffered(self) -> bool:
        if not self._looked:
            self._looked = True
            with contextlib.suppress(OSError):
                self._early = self._file.peek(1)
        tls = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        return bool(self._early) or tls

    def receive(self) -> bytes | None:
        if self._early:
            data = self._early
            self._early = None
            return data
        try:
            return self._socket.recv(PIECE)
        except NOTHING_NOW:
            return None
        except OSError:  # reset: the engine is gone, and whoever asks it next will say so
            return b""

    def send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except NOTHING_NOW:
            return 0
        except OSError:  # nobody takes it any more; the reader learns why
            return len(data)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            # Of the TCP connection, also below TLS, which has no half of its own to close here.
            socket.socket.shutdown(self._socket, socket.SHUT_WR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._answer.close()


class Frames:
    """Takes the two streams of a process apart: eight bytes say which and how much follows."""

    def __init__(self) -> None:
        self._header = b""
        self._left = 0
        self._error = False

    def split(self, data: bytes) -> list[tuple[bool, bytes]]:
        """The parts of ``data``, each with whether it is of standard error."""
        parts, at = [], 0
        while at < len(data):
            if self._left:
                part = data[at : at + self._left]
                parts.append((self._error, part))
                self._left -= len(part)
                at += len(part)
                continue
            missing = HEADER - len(self._header)
            self._header += data[at : at + missing]
            at += missing
            if len(self._header) == HEADER:
                self._error = self._header[0] == 2
                self._left = int.from_bytes(self._header[4:], "big")
                self._header = b""
        return parts
