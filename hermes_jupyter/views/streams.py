"""Standard output and input of a cell: written to as far as it goes, and asked as a person would.

What was typed before a question appeared does not answer it. A terminal's input is emptied before
each question; in a kernel, whose front end keeps what was typed ahead, an answer that comes faster
than anybody reads is not heard.
"""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Awaitable, Callable

from hermes_jupyter.views.base import CellOutput
from hermes_jupyter.views.withdrawing import withdrawable

READING_SECONDS = 0.15
"""Nobody reads a question and answers it in less, from when the kernel sent it."""
MAX_HASTY = 50
"""Answers that may be typed ahead; whoever is faster still is no person."""
HASTY = "  That was typed before the question was here. Once more:"
LATER = "  A question waits for you: %hermes attach, in any cell, asks it.\n"


class StandardStreams:
    """Standard output and input of the cell. Either may be missing, or break during the turn."""

    def __init__(self, cell: CellOutput, clock: Callable[[], float] = time.monotonic) -> None:
        self._cell, self._clock = cell, clock
        self._out = None if getattr(sys.stdout, "closed", False) else sys.stdout

    def isatty(self) -> bool:
        """Does a terminal show the output? IPython hides this behind a ``write`` of its own."""
        return self._out is not None and self._out.isatty()

    @property
    def prefills(self) -> bool:
        """Can `ask` begin with a text?"""
        return not self._cell.has_kernel and self.isatty() and _is_terminal() and _has_readline()

    def write(self, text: str) -> None:
        if self._out is None:
            return
        try:
            self._out.write(self._printable(text, "replace"))
            if not self._cell.has_kernel:  # ipykernel flushes by itself, and makes others wait
                self._out.flush()
        except (OSError, ValueError):
            self._out = None  # whoever read it has gone; the turn goes on

    def ask(self, prompt: str, prefill: str = "") -> Awaitable[str]:
        """The next line that is typed after the prompt; an empty prompt takes any next line."""
        exact = self._printable(prompt, "backslashreplace")  # "?" could stand for anything
        self._announce()
        run = self._cell.in_attended_thread
        return withdrawable(run, lambda: self._entered(exact, prefill))

    def ask_secret(self, prompt: str) -> Awaitable[str]:
        """The same for a password: it is not shown."""
        exact = self._printable(prompt, "backslashreplace")
        self._announce()
        run = self._cell.in_attended_thread
        return withdrawable(run, lambda: self._entered_secret(exact))

    def _announce(self) -> None:
        """Of a turn in the background: nobody looks at its cell, whose prompt would be missed."""
        if not self._cell.asks_now:
            self.write(LATER)

    def _entered_secret(self, prompt: str) -> str:
        if self._cell.has_kernel:
            return self._unhurried(prompt, getpass.getpass)  # ipykernel's own, while a cell runs
        if not _is_terminal():
            raise OSError("there is no terminal to enter a password at")
        _forget_typed_ahead()
        return getpass.getpass(prompt)

    def _entered(self, prompt: str, prefill: str) -> str:
        try:
            return self._unhurried(prompt) if self._cell.has_kernel else _line(prompt, prefill)
        except (EOFError, KeyboardInterrupt) as error:
            if not self._cell.has_kernel:
                self.write("\n")  # a front end ends the line itself
            if isinstance(error, EOFError) and self._ends_by_hand():
                return ""
            raise

    def _unhurried(self, prompt: str, ask: Callable[[str], str] | None = None) -> str:
        again = f"{HASTY}\n{prompt.rpartition(chr(10))[2]}"
        for _ in range(MAX_HASTY):
            began = self._clock()
            line = (ask or input)(prompt)
            if not prompt or self._clock() - began >= READING_SECONDS:
                return line
            prompt = again
        raise OSError("no person enters these lines: they come faster than anybody reads")

    def _ends_by_hand(self) -> bool:
        """Does the end of the input mean that a person pressed Ctrl-D?"""
        return self._cell.has_kernel or _is_terminal()

    def _printable(self, text: str, errors: str) -> str:
        """The text in the characters that standard output can write."""
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        return text.encode(encoding, errors).decode(encoding)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _line(prompt: str, prefill: str) -> str:
    if prompt and _is_terminal():
        _forget_typed_ahead()
    if not prefill:
        return input(prompt)
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(prefill))
    try:
        return input(prompt)
    finally:
        readline.set_startup_hook(None)


def _has_readline() -> bool:
    try:
        import readline
    except ImportError:  # Windows, and some builds of Python
        return False
    return hasattr(readline, "set_startup_hook")


def _forget_typed_ahead() -> None:
    try:
        import termios
    except ImportError:  # Windows
        _forget_keys()
        return
    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except (OSError, ValueError, termios.error):
        return  # no terminal after all, so nobody types


def _forget_keys() -> None:
    import msvcrt

    while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
        msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
