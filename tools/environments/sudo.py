"""The password for ``sudo``: a person enters it, it is kept in memory, the model never sees it."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tools.environments.askpass import Askpass
from tools.environments.jobs import Job

AskSecret = Callable[[str], str | None]
"""Asks a person for something that nobody else may see; None if nobody can be asked."""
ASKED: ContextVar[AskSecret | None] = ContextVar("ask_secret", default=None)
"""Who asks the person on behalf of the call that runs in this context."""

VARIABLE = "SUDO_PASSWORD"
NAMED = re.compile(r"(?<![\w.-])sudo(?![\w.-])")
REFUSED = re.compile(r"sudo: \d+ incorrect password attempts?")
"""It asks no more. Before that it asks again, and so tells us."""
ON_STDIN = re.compile(r"(?<![\w.-])sudo\s+(?:-\S+\s+)*(?:-[a-zA-Z]*S[a-zA-Z]*|--stdin)(?=\s|$)")
CHECK_SUDO = "sudo -n true 2>/dev/null || sudo -v"
"""Succeeds if commands with ``sudo`` can run from now on; asks for the password if need be."""
SECONDS_TO_TYPE = 120
"""What a call may take longer when a password is asked for."""


@dataclass(slots=True)
class Attempt:
    """One command that runs now, and what its ``sudo`` got."""

    command: str
    ask: AskSecret | None
    given: dict[int, str] = field(default_factory=dict)
    """Password by the process id of the ``sudo`` that got it."""
    unanswered: bool = False


class Sudo:
    """The password of one session.

    Parameters
    ----------
    on_password
        Told each password before it is used, so that it can be masked wherever it may turn up.
    program
        The real ``sudo``; looked for on PATH if None, and none if empty.
    """

    def __init__(
        self, on_password: Callable[[str], object] = len, *, program: str | None = None
    ) -> None:
        self._on_password, self._program = on_password, program
        self._lock = threading.Lock()  # guards what follows; never held while a person is asked
        self._password: str | None = None
        self._wrong: set[str] = set()
        """What the environment said and ``sudo`` refused."""
        self._attempt: Attempt | None = None
        self._background: list[Job] = []
        self._askpass: Askpass | None = None
        self._asking_since: float | None = None
        self._seconds_asked = 0.0

    @property
    def seconds_asking(self) -> float:
        """How long persons have been asked so far, all in all."""
        since = self._asking_since
        return self._seconds_asked + (time.monotonic() - since if since is not None else 0.0)

    @property
    def is_known(self) -> bool:
        """Would a command get a password without asking anybody?"""
        return self._kept() is not None

    def forget(self) -> None:
        """Forget the password."""
        with self._lock:
            self._password = None

    def close(self) -> None:
        """Forget the password, and answer nobody any more."""
        self.forget()
        if self._askpass is not None:
            self._askpass.close()

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What a shell needs in its environment; nothing where ``sudo`` asks for no password."""
        path = environment.get("PATH", os.defpath)
        program = self._program
        if program is None:  # root is never asked
            program = shutil.which("sudo", path=path) if os.geteuid() else ""
        if not program:
            return {}
        if self._askpass is None or not self._askpass.bin.is_dir():
            self._askpass = Askpass(program, self._answer)
        return {
            "SUDO_ASKPASS": str(self._askpass.program),
            "PATH": f"{self._askpass.bin}{os.pathsep}{path}",
        }

    @contextmanager
    def serving(self, command: str) -> Iterator[Attempt]:
        """Answer the ``sudo`` of a command while the block runs; one command at a time."""
        attempt = self._attempt = Attempt(command, ASKED.get())
        try:
            yield attempt
        finally:
            self._attempt = None

    def serve_also(self, process: Job) -> None:
        """Answer this one as long as it runs; nobody is asked for it."""
        with self._lock:
            running = [each for each in self._background if each.status == "running"]
            self._background = [*running, process]

    def after(self, attempt: Attempt, output: str) -> str:
        """Look at what a command printed; what to tell about ``sudo``, or ""."""
        if attempt.unanswered:
            return (
                "sudo needs a password and nobody entered one. The user can allow the command "
                f"without one (NOPASSWD), or start the kernel with {VARIABLE} set"
            )
        if attempt.given and REFUSED.search(output):
            self._drop(set(attempt.given.values()))
            return "sudo did not accept the password; it is forgotten, and asked for next time"
        return ""

    def _answer(self, sudo: int) -> str | None:
        """For the process ``sudo``, which asks again if what it got was wrong. Askpass thread."""
        attempt = self._attempt
        if attempt is not None and sudo in attempt.given:
            self._drop({attempt.given.pop(sudo)})
            return self._asked(attempt, sudo, "That was not accepted. ")
        is_named = attempt is not None and uses_sudo(attempt.command)
        in_background = any(each.status == "running" for each in self._background)
        password = self._kept() if is_named or in_background else None
        if password is None:
            return self._asked(attempt, sudo, "") if attempt is not None else None
        self._on_password(password)
        if attempt is not None:
            attempt.given[sudo] = password
        return password

    def _asked(self, attempt: Attempt, sudo: int, before: str) -> str | None:
        self._asking_since = time.monotonic()
        try:
            text = attempt.ask(before + _question(attempt.command)) if attempt.ask else None
        finally:
            self._seconds_asked, self._asking_since = self.seconds_asking, None
        password = (text or "").rstrip("\r\n")
        if not password:
            attempt.unanswered = True
            return None
        self._on_password(password)
        attempt.given[sudo] = password
        with self._lock:
            self._password = password
        return password

    def _kept(self) -> str | None:
        """What is there without asking: what a person has entered, else the variable."""
        with self._lock:
            told = os.environ.get(VARIABLE)
            return self._password or (told if told and told not in self._wrong else None)

    def _drop(self, wrong: set[str]) -> None:
        with self._lock:
            self._wrong |= wrong
            if self._password in wrong:
                self._password = None


@contextmanager
def asking(ask: AskSecret | None) -> Iterator[None]:
    """Let the commands of this context, in the block, ask the person through ``ask``."""
    token = ASKED.set(ask)
    try:
        yield
    finally:
        ASKED.reset(token)


def uses_sudo(command: str) -> bool:
    """Does the word stand in the command?"""
    return NAMED.search(command) is not None


def _question(command: str) -> str:
    asked_by = "" if uses_sudo(command) else "A program started by this command uses sudo. "
    return f"{asked_by}Your password for sudo, to run: {command}"
