"""Have sessions of processes end with this one, even if it is killed outright."""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import tools
from tools.environments.births import birth_of

logger = logging.getLogger(__name__)

SECONDS_TO_END = 2.0
PROGRAM = (
    "import sys, types; package = sys.modules['tools'] = types.ModuleType('tools'); "
    f"package.__path__ = [{str(Path(tools.__file__).parent)!r}]; "
    "from tools.environments.watchdog import main; main()"
)


class Watched:
    """The sessions of one process; its watchdog is started with the first. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards all of it
        self._lines: dict[int, str] = {}
        self._dog: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def add(self, pid: int, folder: str = "-") -> None:
        """The session that ``pid`` leads shall end with this process, and its folder go."""
        with self._lock:
            if self._owner != os.getpid():  # a fork: what it has inherited is its parent's
                self._owner, self._lines, self._dog = os.getpid(), {}, None
            self._lines[pid] = f"+{pid} {birth_of(pid)} {folder}\n"
            is_there = self._dog is not None and self._dog.poll() is None
            if not is_there or not self._say(self._lines[pid]):
                self._begin()

    def forget(self, pid: int) -> None:
        """It has ended."""
        with self._lock:
            if self._owner != os.getpid() or pid not in self._lines:
                return
            del self._lines[pid]
            if self._dog is not None:
                self._say(f"-{pid}\n")

    def close(self) -> None:
        """Let the watchdog go; what is left ends with it."""
        with self._lock:
            dog, self._dog = self._dog, None
            if dog is None or self._owner != os.getpid():
                return
            with suppress(OSError):
                dog.stdin.close()  # type: ignore[union-attr]
            with suppress(subprocess.TimeoutExpired):
                dog.wait(SECONDS_TO_END)

    def _begin(self) -> None:
        me = os.getpid()
        try:
            self._dog = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", PROGRAM, str(me), birth_of(me)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            logger.warning("nothing watches the shells of this kernel", exc_info=True)
            return
        self._say("".join(self._lines.values()))

    def _say(self, text: str) -> bool:
        """False if nobody listens any more."""
        assert self._dog is not None
        try:
            self._dog.stdin.write(os.fsencode(text))  # type: ignore[union-attr]
        except OSError:
            return False
        return True


WATCHED = Watched()
atexit.register(WATCHED.close)
