"""The process that keeps one background job: holds its pipe or terminal, writes down its output.

It belongs to no kernel, so a job outlives the kernel that started it. It ends the job when that is
too old, or when its kernel is gone for good, and it notes how the job ended. It is started for
each job and imports little.

In the folder of the job: out.N and first (`job_output`), pid and keeper (number, birth), in (input
for the job), owner (the kernel that the job is for), exit (code, time, reason).
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import signal
import sys
import time

from tools.environments.births import birth_of, is_alive
from tools.environments.job_output import Ring, write_whole
from tools.environments.keeper_input import PIECE, Input
from tools.environments.keeper_start import Order, start

SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_FOR_THE_REST = 0.2
"""How long to read on after the end before it is noted, if a child of the job holds its pipe."""
SECONDS_TO_TIDY_UP = 2.0


class Keeper:
    """Keeps one job, from its start to the end of its output."""

    def __init__(self, order: Order) -> None:
        self._folder, self._longest = order["folder"], order["longest"]
        self._ring = Ring(self._folder)
        self._poll = select.poll()
        self._woken = _wakes_at_the_end_of_children()
        self._code: int | None = None
        self._ended_at = 0.0
        self._reason = ""
        self._note_at: float | None = None
        self._noted = False
        self._began = self._looked = time.monotonic()
        self._pid, self._output, to_job = start(order)
        self._is_terminal = to_job == self._output
        self._input = Input(self._folder, to_job, self._poll)
        self.told = f"{self._pid} {birth_of(self._pid)}"
        write_whole(self._folder, "keeper", f"{os.getpid()} {birth_of(os.getpid())}\n")
        write_whole(self._folder, "pid", f"{self.told}\n")

    def keep(self) -> None:
        """Work until the job has ended and nobody holds its output any more."""
        self._poll.register(self._woken, select.POLLIN)
        while self._output >= 0 or self._code is None:
            self._listen()
            for number, happened in self._poll.poll(self._patience()):
                self._serve(number, happened)
            self._reap()
            if time.monotonic() - self._looked > SECONDS_BETWEEN_LOOKS:
                self._looked = time.monotonic()
                self._look_around()
        self._note_end()

    def _patience(self) -> int:
        waits_for_rest = self._note_at is not None and not self._noted
        return int((0.05 if waits_for_rest else SECONDS_BETWEEN_LOOKS) * 1_000)

    def _listen(self) -> None:
        self._input.listen()
        wanted = self._input.target_events
        if self._output >= 0:
            self._poll.register(self._output, select.POLLIN | (wanted if self._is_terminal else 0))
        if not self._is_terminal and self._input.target >= 0:
            self._poll.register(self._input.target, wanted)

    def _serve(self, number: int, happened: int) -> None:
        if number == self._woken:
            os.read(self._woken, PIECE)
        elif number == self._input.source:
            self._input.take()
        elif number == self._output and happened & ~select.POLLOUT:
            self._read()
        elif number == self._input.target and happened & ~select.POLLOUT:
            self._input.close()  # the job has closed its end
        elif number == self._input.target:
            self._input.feed()
        if not self._input.is_open:
            self._let_go_of_input()

    def _read(self) -> None:
        try:
            piece = os.read(self._output, PIECE)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            piece = b""  # nobody holds the terminal any more
        if piece:
            self._ring.add(piece)
            return
        self._input.close()
        self._poll.unregister(self._output)
        os.close(self._output)
        self._output = -1
        self._ring.close()

    def _let_go_of_input(self) -> None:
        """A job that reads from a pipe sees its end."""
        if not self._is_terminal and self._input.target >= 0:
            self._poll.unregister(self._input.target)
            os.close(self._input.target)
            self._input.target = -1

    def _reap(self) -> None:
        """The job, and orphans of it where they become ours."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid == self._pid:
                code = os.waitstatus_to_exitcode(status)
                self._code = code if code >= 0 else 128 - code
                self._ended_at = time.time()
                self._note_at = time.monotonic() + SECONDS_FOR_THE_REST
        if self._note_at is not None and time.monotonic() >= self._note_at:
            self._note_end()

    def _note_end(self) -> None:
        if not self._noted:
            self._noted = True
            self._input.close()
            self._let_go_of_input()
            text = f"{self._code} {self._ended_at} {self._reason}"
            write_whole(self._folder, "exit", f"{text.strip()}\n")

    def _look_around(self) -> None:
        """End the job if it is too old, or if its kernel is gone for good."""
        if time.monotonic() - self._began > self._longest:
            self._end("expired")
        elif not is_wanted(self._folder):
            self._end("orphaned")

    def _end(self, reason: str) -> None:
        from tools.environments.process_tree import end_politely

        self._reason = self._reason or reason
        end_politely(self._pid, grace=SECONDS_TO_TIDY_UP)


def is_wanted(folder: str) -> bool:
    """Does the kernel live that the job is for, or can it be started again?"""
    try:
        with open(f"{folder}/owner", encoding="utf-8") as file:  # noqa: PTH123
            kernel, connection_file, *_ = [*file.read().split("\n"), "", ""]
    except OSError:
        return False
    pid, _, birth = kernel.partition(" ")
    if pid.isdecimal() and is_alive(int(pid), birth):
        return True
    return bool(connection_file) and os.path.exists(connection_file)  # noqa: PTH110


def _wakes_at_the_end_of_children() -> int:
    """A descriptor that can be read from whenever a child has ended."""
    reader, writer = os.pipe()
    for number in (reader, writer):
        os.set_blocking(number, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    return reader


def main() -> None:
    """Take the order from standard input; say on standard output how the start went."""
    try:
        keeper = Keeper(marshal.loads(sys.stdin.buffer.read()))
    except (OSError, ValueError) as error:
        print(f"failed {error}", flush=True)
        return
    print(f"started {keeper.told}", flush=True)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    keeper.keep()
