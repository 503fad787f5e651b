"""The process that ends what a killed kernel has left behind: its shells and scripts.

A kernel that ends as it should does that itself. Killed outright it cannot, and a long command
would go on with nobody to read it. Background jobs, which may outlive their kernel, have keepers
of their own. One watchdog is started for each kernel, with its first shell; it imports little.

On its standard input it reads lines: ``+PID BIRTH FOLDER`` for a session that shall end with the
kernel (``-`` for no folder), and ``-PID`` for one that has ended.
"""

from __future__ import annotations

import os
import select
import signal
import sys

from tools.environments.births import is_alive

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_TIDY_UP = 0.5
PIECE = 65_536


def main() -> None:
    """Watch the kernel whose number and birth are the arguments."""
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    kernel, birth = int(sys.argv[1]), sys.argv[2]
    for pid, (born, folder) in _left_by(kernel, birth).items():
        _end(pid, born, folder)


def _left_by(kernel: int, birth: str) -> dict[int, tuple[str, str]]:
    """What is left when the kernel has ended.

    Its end closes the pipe; a process that it has forked may hold that open, so we look, too.
    """
    sessions: dict[int, tuple[str, str]] = {}
    rest = b""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    while True:
        if poll.poll(SECONDS_BETWEEN_LOOKS * 1_000):
            piece = os.read(0, PIECE)
            if not piece:
                return sessions
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                _note(os.fsdecode(line), sessions)
        elif not is_alive(kernel, birth):
            return sessions


def _note(line: str, sessions: dict[int, tuple[str, str]]) -> None:
    if line.startswith("-"):
        sessions.pop(int(line[1:]), None)
    else:
        pid, birth, folder = line[1:].split(" ", 2)
        sessions[int(pid)] = birth, folder


def _end(pid: int, birth: str, folder: str) -> None:
    from tools.environments.process_tree import end_session

    if folder != "-":  # first, so that it is gone when they are
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
    if is_alive(pid, birth):
        end_session(pid, grace=SECONDS_TO_TIDY_UP)
