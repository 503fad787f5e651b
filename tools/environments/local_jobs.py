"""Background jobs on this machine, each kept by a `keeper` process."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import shutil
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import tools
from tools.environments.births import birth_of, is_alive
from tools.environments.job_output import read_part
from tools.environments.jobs import Job, JobEnd, JobError, JobRecord, Output, Reason
from tools.environments.keeper_input import CLOSE, LONGEST_PAYLOAD, WRITE, frame
from tools.environments.keeper_start import Order
from tools.environments.process_tree import end_politely

SECONDS_TO_START = 20.0
SECONDS_TO_TIDY_UP = 2.0
SECONDS_TO_WRITE = 5.0
SECONDS_TO_NOTE = 1.0
"""How long a keeper may take to write down an end, after the job is gone."""
LONGEST = 86_400.0
"""Seconds that a job may run."""
END_OF_INPUT = b"\x04"
KEEPER = (
    "import sys, types; package = sys.modules['tools'] = types.ModuleType('tools'); "
    f"package.__path__ = [{str(Path(tools.__file__).parent)!r}]; "
    "from tools.environments.keeper import main; main()"
)
"""The package without what its ``__init__`` imports: a keeper starts for each job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOrder:
    """How to start a process."""

    argv: Sequence[str]
    env: Mapping[str, str]
    inherited: Sequence[int] = ()
    """Descriptors that it gets under the same number."""
    longest: float = LONGEST


def start_job(order: LocalOrder, record: JobRecord, folder: Path) -> LocalJob:
    """Start a process in a session of its own, with ``record`` but for its pid and birth.

    Raises
    ------
    JobError
    """
    told: Order = {
        "argv": list(order.argv),
        "cwd": record.cwd,
        "env": dict(order.env),
        "inherited": list(order.inherited),
        "folder": str(folder),
        "pty": record.options.pty,
        "longest": order.longest,
    }
    keeper = subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", KEEPER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        pass_fds=order.inherited,
        start_new_session=True,
    )
    with keeper.stdin as stdin, keeper.stdout as stdout:  # type: ignore[union-attr]
        with contextlib.suppress(BrokenPipeError):  # then it has said nothing either
            stdin.write(marshal.dumps(dict(told)))
        with contextlib.suppress(BrokenPipeError):
            stdin.close()
        ready = select.poll()
        ready.register(stdout, select.POLLIN)
        said = stdout.readline().decode() if ready.poll(SECONDS_TO_START * 1_000) else ""
    started, _, rest = said.strip().partition(" ")
    if started != "started":
        keeper.kill()
        keeper.wait()
        raise JobError(rest or "its keeper could not be started")
    pid, birth = rest.split()
    keeper.returncode = 0  # its end is none of this object's business: `LocalJob` reaps it
    return LocalJob(replace(record, pid=int(pid), birth=birth), folder, keeper.pid)


class LocalJob(Job):
    """A job on this machine.

    Parameters
    ----------
    child
        The number of its keeper, if that is a child of this process.
    """

    def __init__(self, record: JobRecord, folder: Path, child: int = 0) -> None:
        if not record.pid:  # the kernel that started it had no time to write that down
            pid, birth = _process(folder / "pid")
            record = replace(record, pid=pid, birth=birth)
        super().__init__(record)
        self._folder = folder
        self._child, self._parent = child, os.getpid()
        weakref.finalize(self, _reap, child, self._parent)
        self._writing = threading.Lock()  # keeps what is written in order

    def look(self) -> JobEnd | None:
        if end := self._noted_end():
            _reap(self._child, self._parent)
            return end
        if is_alive(*_process(self._folder / "keeper")):
            return None
        return self._noted_end() or JobEnd(exit_code=None, ended_at=time.time(), reason="lost")

    def read(self, offset: int, limit: int) -> Output:
        try:
            data, start, total, first, lines = read_part(str(self._folder), offset, limit)
        except OSError as error:
            raise JobError(f"its output cannot be read: {error}") from error
        return Output(data=data, start=start, total=total, first=first, lines_before=lines)

    def write(self, data: bytes) -> int:
        with self._writing, self._opened_input() as pipe:
            deadline = time.monotonic() + SECONDS_TO_WRITE
            for at in range(0, len(data), LONGEST_PAYLOAD):
                _write(
                    pipe, frame(WRITE, data[at : at + LONGEST_PAYLOAD]), deadline, len(data) - at
                )
        return len(data)

    def close_input(self) -> None:
        if self.record.options.pty:
            self.write(END_OF_INPUT * (2 if self.unfinished else 1))
            return
        with contextlib.suppress(JobError), self._writing, self._opened_input() as pipe:
            # So that whoever writes from now on sees that it is closed.
            (self._folder / "in").unlink(missing_ok=True)
            _write(pipe, frame(CLOSE), time.monotonic() + SECONDS_TO_WRITE, 0)

    def kill(self) -> None:
        if self.status == "running":
            (self._folder / "killed").touch()
        if self._number_is_its_own():
            end_politely(self.pid, grace=SECONDS_TO_TIDY_UP)
        deadline = time.monotonic() + SECONDS_TO_NOTE
        while is_alive(*_process(self._folder / "keeper")) and time.monotonic() < deadline:
            time.sleep(0.005)
        _reap(self._child, self._parent)

    def forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _number_is_its_own(self) -> bool:
        """Does its number still mean it, or its session? Not if it may be another's by now."""
        if is_alive(self.pid, self.record.birth):
            return True
        # As long as something of its session lives, the system gives its number to nobody else.
        has_output_open = is_alive(*_process(self._folder / "keeper"))
        return self.pid > 0 and has_output_open and birth_of(self.pid) in ("", self.record.birth)

    def _noted_end(self) -> JobEnd | None:
        try:
            code, ended_at, *reason = (self._folder / "exit").read_text(encoding="utf-8").split()
        except (FileNotFoundError, NotADirectoryError):
            return None
        why: Reason = "killed" if (self._folder / "killed").exists() else "exited"
        why = next((known for known in get_args(Reason) if [known] == reason), why)
        return JobEnd(exit_code=int(code), ended_at=float(ended_at), reason=why)

    @contextlib.contextmanager
    def _opened_input(self) -> Iterator[int]:
        try:
            pipe = os.open(self._folder / "in", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError:
            raise JobError("its standard input is closed") from None
        try:
            yield pipe
        finally:
            os.close(pipe)


def _reap(child: int, owner: int) -> None:
    """Let go of a keeper. It ends with its job, at the latest when nobody holds its output."""
    if child and os.getpid() == owner:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def _write(pipe: int, message: bytes, deadline: float, left: int) -> None:
    """Write a message as a whole, but do not wait for ever for a job that does not read."""
    ready = select.poll()
    ready.register(pipe, select.POLLOUT)
    while True:
        patience = max(0.0, deadline - time.monotonic())
        if not ready.poll(patience * 1_000):
            raise JobError(f"it does not read its input; {left} bytes not written")
        try:
            os.write(pipe, message)
        except BlockingIOError:
            continue
        except BrokenPipeError:
            raise JobError("its standard input is closed") from None
        return


def _process(path: Path) -> tuple[int, str]:
    """Number and birth of a process, from a file; 0 if there is none."""
    try:
        pid, birth = path.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return 0, ""
    return int(pid), birth
