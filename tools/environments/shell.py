"""One bash process that runs command after command: how to speak with it.

Nothing travels through shell text or through the output of a command. The command is a file; its
output has a pipe of its own, opened anew for every command, so that what a background child prints
later cannot be taken for the output of the next one; its end, exit code and folder come
through a third pipe. `LocalEnvironment` decides what to do with all that.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import stat
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tools.environments.containment import Start, start_freely
from tools.environments.output import OutputCollector
from tools.environments.process_tree import end_session
from tools.environments.turns import SECONDS_BETWEEN_LOOKS
from tools.environments.watched import WATCHED

LOOP = " ".join(
    line
    for line in Path(__file__).with_name("shell_loop.sh").read_text(encoding="utf-8").splitlines()
    if not line.lstrip().startswith("#")
)
BASH = "bash"
PIECE = 65_536
SECONDS_FOR_THE_REST = 0.2
"""How long to read on after the end of a command whose pipe a background child keeps open."""
SECONDS_TO_TIDY_UP = 0.05

Halt = Callable[[], str]
"""Asked often while a command runs; a text other than "" says why it must end now."""


@dataclass(frozen=True, slots=True)
class State:
    """What a new shell needs to go on where another one ended."""

    cwd: str
    snapshot: Path | None = None
    """A file to source: options, variables, functions, aliases."""
    number: int = 0
    """Of the last command; names the files that belong to it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one command ended."""

    exit_code: int
    state: State
    halted: str = ""
    """Why it was killed, if it was."""
    shell_ended: bool = False
    left_running: bool = False
    """A background child still holds the output pipe."""


class Shell:
    """A bash in a session of its own, so that no Ctrl-C of the notebook reaches it.

    Not thread-safe: its owner serialises the calls.
    """

    def __init__(
        self, state: State, home: Path, env: Mapping[str, str], start: Start = start_freely
    ) -> None:
        self.home = home
        self._number = state.number
        self._state = state
        snapshot = str(state.snapshot) if state.snapshot else ""
        self._process = start(
            [BASH, "--noprofile", "--norc", "-c", LOOP, "bash", str(home), snapshot, state.cwd],
            cwd=state.cwd,
            env={} if snapshot else dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        WATCHED.add(self._process.pid, str(home))
        self._report = _make_pipe(home / "pipes" / "report")
        self._end = weakref.finalize(self, _end, self._process, self._report, os.getpid())

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def run(
        self, command: bytes, stdin: bytes | None, cwd: str, output: OutputCollector, halt: Halt
    ) -> Ending:
        """Run a command; its output goes to ``output`` as it comes."""
        self._number += 1
        pipe_name = self.home / "pipes" / f"output.{self._number}"
        reader, writer = _make_pipe(pipe_name)
        patience = SECONDS_TO_TIDY_UP
        try:
            self._request(command, stdin, cwd)
            ending = self._wait(reader, output, halt)
            patience = patience if ending.shell_ended else SECONDS_FOR_THE_REST
        except BaseException:  # a KeyboardInterrupt: the command must not go on unseen
            self.kill(grace=SECONDS_TO_TIDY_UP)
            raise
        finally:
            os.close(writer)
            pipe_name.unlink(missing_ok=True)
            open_still = _read_the_rest(reader, output, patience)
        self._state = replace(ending.state, number=self._number)
        return replace(ending, state=self._state, left_running=open_still)

    def kill(self, *, grace: float) -> None:
        """End the shell and everything in its session."""
        end_session(self._process.pid, grace=grace)
        self._end()

    def _request(self, command: bytes, stdin: bytes | None, cwd: str) -> None:
        (self.home / "command").write_bytes(command)
        source = self.home / "stdin" if stdin is not None else Path(os.devnull)
        if stdin is not None:
            source.write_bytes(stdin)
        fields = (str(self._number), cwd, str(source))
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has just ended; `_wait` sees that
            self._process.stdin.write(b"".join(os.fsencode(field) + b"\0" for field in fields))
            self._process.stdin.flush()

    def _wait(self, reader: int, output: OutputCollector, halt: Halt) -> Ending:
        report = b""
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            selector.register(self._report[0], selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(SECONDS_BETWEEN_LOOKS):
                    if key.fd == reader:
                        output.feed(os.read(reader, PIECE))
                    else:
                        report += os.read(key.fd, PIECE)
                if report.count(b"\0") >= 3:
                    return self._ending_of(report)
                if not self.alive:
                    return self._ending_of_shell()
                if why := halt():
                    self.kill(grace=SECONDS_TO_TIDY_UP)
                    return Ending(-1, self._state, halted=why, shell_ended=True)

    def _ending_of(self, report: bytes) -> Ending:
        _, status, cwd, *_ = report.split(b"\0")
        if self._state.snapshot:
            self._state.snapshot.unlink(missing_ok=True)
        return Ending(int(status), State(os.fsdecode(cwd), self._saved(self._number)))

    def _ending_of_shell(self) -> Ending:
        """The command was ``exit``, ``exec`` or a failure under ``set -e``."""
        note = self.home / "state" / "ended"
        state = self._state
        with contextlib.suppress(OSError):  # the shell had no time to write it, or it is no file
            with open(open_written(note), "rb") as file:
                cwd = file.read(PIECE)
            note.unlink()
            if cwd.endswith(b"\0"):
                state = State(os.fsdecode(cwd[:-1]), self._saved(self._number) or state.snapshot)
        status = self._process.returncode
        self.kill(grace=SECONDS_TO_TIDY_UP)
        return Ending(status if status >= 0 else 128 - status, state, shell_ended=True)

    def _saved(self, number: int) -> Path | None:
        path = self.home / "state" / str(number)
        return path if path.is_file() else None


def make_home() -> Path:
    """A folder for the files and pipes of a shell, closed to other users.

    A contained shell may fill ``state`` and write to what is in ``pipes``, and only read the rest.
    """
    home = Path(tempfile.mkdtemp(prefix="hermes-shell-"))
    for name in ("pipes", "state"):
        (home / name).mkdir()
    return home


def open_written(path: Path) -> int:
    """Open for reading what a command may have put there: no link out of its bounds, no pipe.

    Raises
    ------
    OSError
    """
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"not a file: {path}")
    return number


def _make_pipe(path: Path) -> tuple[int, int]:
    """A named pipe. Our own writing end keeps it from ending before somebody has opened it."""
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return reader, os.open(path, os.O_WRONLY)


def _read_the_rest(reader: int, output: OutputCollector, patience: float) -> bool:
    """Read to the end of the pipe, not for long; True if a background child keeps it open.

    Such a child must not be killed by a broken pipe nor blocked by a full one: what it prints
    from now on is read and dropped.
    """
    try:
        ended = _read_until(time.monotonic() + patience, reader, output)
    except BaseException:  # of the listener
        os.close(reader)
        raise
    if ended:
        os.close(reader)
    else:
        name = "hermes-late-output"
        threading.Thread(target=_drop, args=(reader,), name=name, daemon=True).start()
    return not ended


def _read_until(deadline: float, reader: int, output: OutputCollector) -> bool:
    """Read up to the end of the pipe; False if it has not come at the deadline."""
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if selector.select(left):
                piece = os.read(reader, PIECE)
                if not piece:
                    return True
                output.feed(piece)
    return False


def _drop(reader: int) -> None:
    """Ends with the last process that holds the pipe."""
    os.set_blocking(reader, True)
    with open(reader, "rb", buffering=0) as pipe:
        while pipe.read(PIECE):
            continue


def _end(process: subprocess.Popen[bytes], pipe: tuple[int, int], owner: int) -> None:
    """Last will of a shell, also at the exit of the interpreter; not in a forked child of it."""
    if os.getpid() != owner:
        return
    if process.poll() is None:
        end_session(process.pid, grace=SECONDS_TO_TIDY_UP)
    WATCHED.forget(process.pid)
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    for descriptor in pipe:
        os.close(descriptor)


def remove_home(home: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(home, ignore_errors=True)
