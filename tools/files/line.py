"""A line to a place: one process there that answers questions, one after the other."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from tools.environments.host import Channel, Host, HostError
from tools.files import bundle, wire

LOOK_SECONDS = 0.1
START_SECONDS = 30.0
SILENT_SECONDS = 90.0
"""So long a place may say nothing before it counts as lost."""
PIECE = 256 * 1024
MOST_NOISE = 64 * 1024
"""Of what a login shell prints before our program runs."""
MOST_SAID = 16 * 1024
Stop = Callable[[], str]


class Stopped(Exception):
    """The question was taken back; the argument says why."""


class LineLost(ConnectionError):
    """The process at the other end is gone; another one may work."""


class LineSilent(ConnectionError):
    """It did not answer in time, and was killed."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command for the shell has printed."""

    exit_code: int
    out: bytes
    err: str


def never() -> str:
    return ""


class Line:
    """One process at the other end. For one thread at a time.

    Attributes
    ----------
    language
        What it understands: frames of `tools.files.wire`, or commands for a POSIX shell.

    Raises
    ------
    ConnectionError
        If it cannot be started.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._mark = secrets.token_hex(16)
        self._out, self._err = bytearray(), bytearray()
        self._pid = 0
        self.language: Literal["python", "shell", ""] = ""
        self.used_at = time.monotonic()
        try:
            self._channel: Channel = host.open(bundle.command(self._mark))
        except HostError as error:
            raise ConnectionError(str(error)) from error
        try:
            self.language, self._pid = self._introduced()
            python = self.language == "python"
            self._send(bundle.modules() if python else bundle.functions())
        except BaseException:
            self.close()
            raise

    @property
    def is_alive(self) -> bool:
        return self._channel.exit_code is None

    def ask(
        self, message: wire.Message, body: bytes = b"", *, stop: Stop = never
    ) -> tuple[dict[str, Any], bytes]:
        """The answer to a question.

        Raises
        ------
        LineLost, LineSilent
        Stopped
            ``stop`` gave a reason; the process is killed.
        """
        self._send(wire.frame(message, body))
        try:
            found = wire.read_frame(lambda count: self._receive(count, stop))
        except ValueError as error:
            self.kill()
            raise LineLost(f"the answer of the place makes no sense: {error}") from error
        self.used_at = time.monotonic()
        return found

    def run(self, command: str, *, stop: Stop = never) -> Said:
        """What a command prints, if a shell is there.

        Raises
        ------
        LineLost, LineSilent, Stopped
            As for `ask`.
        """
        mark = self._mark
        ended = f"{{ {command}\n}} </dev/null; __code=$?; printf '\\n{mark}' >&2\n"
        self._send(f"{ended}printf '\\n{mark}%s\\n' $__code\n".encode("utf-8", "surrogateescape"))
        out = self._up_to(self._out, f"\n{mark}".encode(), stop)
        code = self._up_to(self._out, b"\n", stop)
        err = self._up_to(self._err, f"\n{mark}".encode(), stop)
        self.used_at = time.monotonic()
        return Said(int(code), out, err.decode("utf-8", "replace"))

    def close(self) -> None:
        """Let it end."""
        with suppress(HostError):  # it is gone already
            self._channel.close_input()
        self._channel.close()

    def kill(self) -> None:
        """End it, whatever it does."""
        if self._pid > 1:  # of 0 and 1 others would die
            number = str(self._pid)
            with suppress(HostError):  # who cannot be reached cannot be killed
                self._host.run(["/bin/sh", "-c", 'kill -9 "$1"', "sh", number], timeout=5.0)
        self._channel.close()

    def _introduced(self) -> tuple[Literal["python", "shell"], int]:
        until = time.monotonic() + START_SECONDS

        def stop() -> str:
            late = time.monotonic() > until
            return "late" if late or len(self._out) > MOST_NOISE else ""

        try:
            self._up_to(self._out, f"\n{self._mark} ".encode(), stop)
            words = self._up_to(self._out, b"\n", stop).decode("ascii", "replace").split()
        except Stopped:
            raise LineLost("the program for files does not start there") from None
        if len(words) != 2 or words[0] not in ("python", "shell") or not words[1].isdecimal():
            raise LineLost(f"the place does not say what it speaks: {words!r:.100}")
        return ("python" if words[0] == "python" else "shell"), int(words[1])

    def _send(self, content: bytes) -> None:
        try:
            for start in range(0, len(content), PIECE):
                self._channel.write(content[start : start + PIECE])
        except HostError as error:
            raise self._lost(str(error)) from error

    def _receive(self, count: int, stop: Stop) -> bytes:
        silent_since = time.monotonic()
        while len(self._out) < count:
            silent_since = self._take(silent_since, stop)
        found = bytes(self._out[:count])
        del self._out[:count]
        return found

    def _up_to(self, buffer: bytearray, mark: bytes, stop: Stop) -> bytes:
        """All before the mark; both are taken out of the buffer."""
        silent_since, looked = time.monotonic(), 0
        while (at := buffer.find(mark, looked)) < 0:
            looked = max(0, len(buffer) - len(mark))
            silent_since = self._take(silent_since, stop)
        found = bytes(buffer[:at])
        del buffer[: at + len(mark)]
        return found

    def _take(self, silent_since: float, stop: Stop) -> float:
        """Wait for more bytes. Returns since when there are none."""
        began = time.monotonic()
        try:
            piece = self._channel.read(LOOK_SECONDS)
        except HostError as error:
            raise self._lost(str(error)) from error
        if piece is not None:
            (self._out if piece.stream == "out" else self._err).extend(piece.data)
            if self.language == "python":
                del self._err[:-MOST_SAID]
            return time.monotonic()
        if not self.is_alive:
            raise self._lost("it has ended")
        if why := stop():
            self.kill()
            raise Stopped(why)
        if began - silent_since > SILENT_SECONDS:
            self.kill()
            raise LineSilent(f"the place where files are said nothing for {SILENT_SECONDS:.0f} s")
        if time.monotonic() - began < LOOK_SECONDS / 2:  # at the end of a stream, before the exit
            time.sleep(LOOK_SECONDS / 10)
        return silent_since

    def _lost(self, why: str) -> LineLost:
        said = self._err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return LineLost(f"the place where files are is lost: {why}{f' ({said})' if said else ''}")
