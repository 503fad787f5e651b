"""This machine as a host; and a process of this machine as a channel, for engines with a program.

An engine that is used by its own command line (``apptainer exec ...``) opens a `ProcessChannel`.
"""

from __future__ import annotations

import contextlib
import os
import pty as terminals
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.environments.containment import Start, start_freely
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
from tools.environments.watched import WATCHED
from tools.secrets.variables import for_children

PIECE = 65_536
PIECES_AHEAD = 16
"""How many are read before somebody wants them; more wait in the pipe, and so does the process."""
SECONDS_TO_DIE = 2.0


class ProcessChannel(Channel):
    """A process of this machine.

    Parameters
    ----------
    env
        Variables in addition to those of this process that are no secrets.
    pty
        Give it a terminal, which becomes its standard input, output and error.
    start
        Starts it, within bounds maybe.

    Raises
    ------
    HostError
        If it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        start: Start = start_freely,
    ) -> None:
        self._pieces: queue.Queue[Piece] = queue.Queue(PIECES_AHEAD)
        self._writing = threading.Lock()  # guards the writing end, which another thread may close
        self._closed = threading.Event()
        given = {**for_children(os.environ), **(env or {})}
        try:
            self._process, writing_end, outputs = _start(argv, cwd, given, pty, start)
        except (OSError, ValueError) as error:
            raise HostError(f"cannot start {argv[0]!r}: {error}") from error
        WATCHED.add(self._process.pid)
        self._input: int | None = writing_end
        self._readers = [
            threading.Thread(target=self._read, args=end, name="hermes-channel", daemon=True)
            for end in outputs
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """Its number on this machine; it leads a session of its own."""
        return self._process.pid

    def write(self, data: bytes) -> None:
        with self._writing:
            if self._input is None:
                raise HostError("its standard input is closed")
            try:
                while data:
                    data = data[os.write(self._input, data) :]
            except OSError as error:
                raise HostError(f"it does not read what it is sent: {error}") from error

    def read(self, timeout: float) -> Piece | None:
        try:
            return self._pieces.get(timeout=timeout)
        except queue.Empty:
            return None

    def close_input(self) -> None:
        with self._writing:
            if self._input is not None:
                os.close(self._input)
                self._input = None

    @property
    def exit_code(self) -> int | None:
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def close(self) -> None:
        """Let go of it, and end the process itself: here nobody else would."""
        self._closed.set()
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(SECONDS_TO_DIE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        WATCHED.forget(self._process.pid)
        self.close_input()

    def _read(self, descriptor: int, stream: Stream) -> None:
        with open(descriptor, "rb", buffering=0) as pipe:
            while data := _piece_of(pipe.fileno()):
                self._put(Piece(stream, data))
        self._put(Piece(stream, b""))

    def _put(self, piece: Piece) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._pieces.put(piece, timeout=0.2)
                return


class LocalHost(Host):
    """This machine."""

    isolation = Isolation(isolated=False, host_paths=("/",))

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> ProcessChannel:
        return ProcessChannel(argv, cwd=cwd, env=env, pty=pty)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        return run_process(argv, stdin=stdin, timeout=timeout, env=for_children(os.environ))

    def get(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        target = Path(path)
        if target.is_dir():
            raise IsADirectoryError(f"is a folder: {path!r}")
        beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            beside.write_bytes(content)
            beside.chmod(mode)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)

    def home(self) -> str:
        return str(Path.home())

    def health(self) -> Health:
        return Health(True, "this machine")

    def close(self) -> None:
        """Nothing to let go of."""


def run_process(
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    timeout: float = 30.0,
    env: Mapping[str, str] | None = None,
) -> Completed:
    """Run a short process of this machine to its end. ``env`` is all it gets, if not None.

    Raises
    ------
    HostError
        If it cannot be started, or did not end in time.
    """
    try:
        done = subprocess.run(
            list(argv), input=stdin, capture_output=True, timeout=timeout, check=False, env=env
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{argv[0]!r} did not end within {timeout:g} s") from error
    except OSError as error:
        raise HostError(f"cannot start {argv[0]!r}: {error}") from error
    code = done.returncode
    return Completed(code if code >= 0 else 128 - code, done.stdout, done.stderr)


Ends = list[tuple[int, Stream]]


def _start(
    argv: Sequence[str], cwd: str | None, env: Mapping[str, str], pty: bool, start: Start
) -> tuple[subprocess.Popen[bytes], int, Ends]:
    """The process, where to write, and where to read."""
    if pty:
        ours, its = terminals.openpty()
        # The leader of a session gets as its terminal the first one that it opens.
        opener = ["sh", "-c", 'exec <>"$0" >&0 2>&0 && exec "$@"', os.ttyname(its), *argv]
        try:
            process = subprocess.Popen(
                opener, cwd=cwd, env=env, stdin=its, stdout=its, stderr=its, start_new_session=True
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(its)
        return process, os.dup(ours), [(ours, "out")]
    process = start(
        argv, cwd=cwd or os.getcwd(), env=env, bufsize=0, start_new_session=True,  # noqa: PTH109
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    numbers = []
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        with pipe:
            numbers.append(os.dup(pipe.fileno()))
    return process, numbers[0], [(numbers[1], "out"), (numbers[2], "err")]


def _piece_of(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, PIECE)
    except OSError:  # how a terminal says that nobody is left at its other side
        return b""
