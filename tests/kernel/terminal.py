"""A person at a terminal: types into IPython or jupyter console, and reads what they show."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pexpect

READING_SECONDS = 0.2
"""A person reads before a key is pressed: what comes faster was typed before the question, and a
Ctrl-C in the very moment in which a prompt appears is lost in readline, which then waits in
``read()``; nothing outside tells when that moment is over."""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07")
NEXT = r"In \[(?:\x1b\[[\d;]*m)*{}(?:\x1b\[[\d;]*m)*\]: "
PROGRAMS = {
    "prompt": ["-m", "IPython", "--no-banner", "--no-confirm-exit"],
    "ipython": ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit"],
    "console": ["-m", "jupyter_console", "--simple-prompt", "--no-confirm-exit"],
}


class Terminal:
    """One program in a pseudo-terminal."""

    def __init__(self, program: str, *options: str, cwd: Path, env: dict[str, str]) -> None:
        self.child = pexpect.spawn(
            sys.executable,
            [*PROGRAMS[program], *options],
            cwd=str(cwd),
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **env},
            encoding="utf-8",
            timeout=20,
            dimensions=(50, 160),
        )
        self.child.delaybeforesend = None
        self.program = program
        self.at_prompt = False
        self.until_prompt()

    def type(self, line: str) -> None:
        self.at_prompt = False
        self.child.sendline(line)

    def until_prompt(self, number: str = r"\d+") -> str:
        """Wait for the next ``In [n]:``; what was shown before it.

        The program "prompt" paints its prompts again as one types: wait for the number.
        """
        self.child.expect(NEXT.format(number))
        self.at_prompt = True
        self.child.delaybeforesend = None
        return str(self.child.before).replace("\r", "")

    def run(self, code: str) -> str:
        """Run a line; what is shown, without colours."""
        self.type(code)
        return plain(self.until_prompt())

    def agent(self, prompt: str, line: str = "") -> None:
        """Start a turn and return at once."""
        self.type(f"get_ipython().run_cell_magic('agent', {line!r}, {prompt!r})")
        self.child.expect_exact("\r\n")  # the echo holds the prompt, too

    def until(self, text: str) -> str:
        """Wait until ``text`` is shown; what was shown before it."""
        self.child.expect_exact(text)
        self.child.delaybeforesend = READING_SECONDS
        return plain(str(self.child.before))

    def until_either(self, *texts: str) -> str:
        """Wait until one of these is shown; what was shown, up to its end."""
        self.child.expect_exact(list(texts))
        self.child.delaybeforesend = READING_SECONDS
        return plain(f"{self.child.before}{self.child.after}")

    def interrupt(self) -> float:
        """Press Ctrl-C; the seconds until the next prompt."""
        self.child.delaybeforesend = None
        time.sleep(READING_SECONDS)
        began = time.monotonic()
        self.child.send("\x03")
        self.shown = plain(self.until_prompt())
        return time.monotonic() - began

    def close(self) -> None:
        if self.at_prompt:
            self.child.sendline("exit")
            self.child.expect(pexpect.EOF, timeout=10)
        self.child.close(force=True)


def plain(text: str) -> str:
    """Text without escape sequences."""
    return ESCAPES.sub("", text).replace("\r", "")
