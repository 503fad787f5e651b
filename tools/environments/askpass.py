"""How ``sudo`` gets a password without a terminal: it starts a program, which asks us.

A folder that only this user can enter holds three things: a ``sudo`` for the front of PATH, which
starts the real one with ``-A``; the program that the real one then runs; and the socket on which
that program gets the password from this process. So the password is on no command line, in no
environment and in no file, and the standard input of the command stays the command's own, in
pipes, here-documents and the background alike.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

SECONDS_TO_SAY_WHO = 5.0
LONGEST_NUMBER = 32
ASK = """
import os, socket, sys
line = socket.socket(socket.AF_UNIX)
try:
    line.connect(sys.argv[1])
    line.sendall(b"%d\\n" % os.getppid())
    answer = line.makefile("rb").readline()
except OSError as error:
    sys.exit(f"the password cannot be asked for: {error}")
if not answer:
    sys.exit(1)
sys.stdout.buffer.write(answer)
"""

Answer = Callable[[int], str | None]
"""The password for the ``sudo`` of this process id; None if there is none to be had."""


class Askpass:
    """The folder, and the thread that answers. It ends with its owner, or when closed."""

    def __init__(self, real_sudo: str, answer: Answer) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hermes-sudo-"))
        self.program = self.folder / "askpass"
        self.bin = self.folder / "bin"
        address = self.folder / "socket"
        self.bin.mkdir()
        _write_program(self.bin / "sudo", f'exec {shlex.quote(real_sudo)} -A "$@"')
        python = shlex.quote(sys.executable)
        _write_program(self.program, f"exec {python} -I -S -c {shlex.quote(ASK)} {address}")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen()
        serving = threading.Thread(
            target=_serve, args=(self._listener, answer), name="hermes-askpass", daemon=True
        )
        serving.start()
        self.close = weakref.finalize(self, _close, self._listener, self.folder, os.getpid())


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o700)


def _serve(listener: socket.socket, answer: Answer) -> None:
    """Answer one after the other: whoever waits meanwhile finds the password known."""
    while True:
        try:
            caller, _ = listener.accept()
        except OSError:  # closed
            return
        with caller, contextlib.suppress(OSError, ValueError):  # it hung up, or is none of ours
            caller.settimeout(SECONDS_TO_SAY_WHO)
            number = int(caller.makefile("rb").readline(LONGEST_NUMBER))
            password = answer(number)
            if password is not None:
                caller.sendall(password.encode("utf-8", "surrogateescape") + b"\n")


def _close(listener: socket.socket, folder: Path, owner: int) -> None:
    if os.getpid() != owner:
        return
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)  # or the thread would not wake
    listener.close()
    shutil.rmtree(folder, ignore_errors=True)
