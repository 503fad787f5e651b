"""A persistent shell on a host: how to speak with it. `remote_scripts` holds its other side.

Two streams come back. Standard output is what commands print, and after it a mark that only we and
the relay on the host know; standard error tells how a command ended. Requests are lines, written
for the ``%b`` of `printf`, which is in every shell.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.environments.host import Host, HostError
from tools.environments.output import OutputCollector
from tools.environments.turns import SECONDS_BETWEEN_LOOKS

SCRIPTS = Path(__file__).with_name("remote_scripts")
SECONDS_TO_START = 60.0
SECONDS_TO_END = 10.0
SECONDS_FOR_THE_REST = 0.2
"""How long to read on after the end of a command whose pipe a background child keeps open."""
SECONDS_TO_DROP = 10.0
SECONDS_TO_READ_ON = 2.0
"""After a command was killed."""
NEEDS_ESCAPE = re.compile(rb"[^ -\[\]-~]")


def _script(name: str) -> str:
    """Without the lines that explain it."""
    lines = (SCRIPTS / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


START, END = _script("start.sh"), _script("end.sh")
LOOP = " ".join(_script("loop.sh").splitlines())

Halt = Callable[[], str]
"""Asked often while a command runs; a text other than "" says why it must end now."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What another shell needs to go on where this one ended."""

    home: str = ""
    """A folder there, with the pipes of the shell and its state."""
    state: str = ""
    """A file to source."""
    number: int = 0
    """Of the last command."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command for the shell."""

    command: bytes
    folder: str
    must_be_there: bool = False
    """Do not run it in a parent if the folder is gone."""
    stdin: str = "/dev/null"


@dataclass(frozen=True, slots=True)
class RemoteEnding:
    """How one command ended."""

    exit_code: int
    cwd: str
    halted: str = ""
    """Why it was killed, if it was."""
    shell_ended: bool = False
    left_running: bool = False
    """A background child still holds the output pipe."""
    moved: bool = False
    """The folder was gone; it ran in a parent of it."""
    no_folder: bool = False
    """The folder was gone; nothing was run."""


class RemoteShell:
    """A shell on a host. Not thread-safe: its owner serialises the calls.

    Raises
    ------
    HostError
        If it cannot be started.
    """

    def __init__(self, host: Host, env: Mapping[str, str], saved: Saved) -> None:
        self._host = host
        self._secret = secrets.token_hex(16).encode()
        self._reports = b""
        self._text = b""
        self._ended: set[str] = set()  # streams of which no more will come
        self._channel = host.open(["sh", "-c", START, "sh", LOOP], env=env)
        try:
            self._channel.write(self._secret + f"\n{saved.home}\n{saved.state}\n".encode())
            status, home = self._greeting()
        except BaseException:
            self._channel.close()
            raise
        pid, began, relay, self.kind = status.split()
        self._ids = [pid, began, relay, home]
        self.kept_state = home == saved.home
        """Whether it goes on with the state of the former shell."""
        self.saved = Saved(home, saved.state if self.kept_state else "", saved.number)

    @property
    def pid(self) -> int:
        return int(self._ids[0])

    def look(self) -> str:
        """Why it can take no command: it has "ended", it is "lost"; "" if it can."""
        try:
            while self._read(0.0, None):
                continue
        except HostError:
            return "lost"
        return "" if self._channel.exit_code is None else "ended"

    def run(self, request: Request, output: OutputCollector, halt: Halt) -> RemoteEnding:
        """Run a command; its output goes to ``output`` as it comes.

        Raises
        ------
        HostError
            If the connection is lost.
        """
        number = self.saved.number + 1
        fields = (request.folder.encode("utf-8", "surrogateescape"), request.command)
        lines = [b"in" if request.must_be_there else b"run", str(number).encode()]
        lines += [_escaped(field) for field in (*fields, request.stdin.encode())]
        self._channel.write(b"".join(line + b"\n" for line in lines))
        self.saved = Saved(self.saved.home, self.saved.state, number)
        try:
            return self._wait(number, request, output, halt)
        except HostError:
            raise
        except BaseException:  # a KeyboardInterrupt: the command must not go on unseen
            self.end()
            raise

    def end(self, *, remove: bool = False) -> None:
        """Kill it and everything in its session; ``remove`` its folder, too.

        Raises
        ------
        HostError
            If the host cannot be reached.
        """
        try:
            self._kill(remove=remove)
        finally:
            self._channel.close()

    def _kill(self, *, remove: bool = False) -> None:
        argv = ["sh", "-c", END, "sh", *self._ids, "remove" if remove else ""]
        self._host.run(argv, timeout=SECONDS_TO_END)

    def _greeting(self) -> tuple[str, str]:
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline:
            self._read(0.1, None)
            if found := self._report("0"):
                return found
            if self._channel.exit_code is not None and "err" in self._ended:
                break
        said = self._reports.decode("utf-8", "replace").strip()[-500:]
        code = self._channel.exit_code
        raise HostError(
            f"no shell could be started: {said or f'exit code {code}'}"
            if code is not None
            else f"the shell did not start within {SECONDS_TO_START:g} s: {said}"
        )

    def _wait(
        self, number: int, request: Request, output: OutputCollector, halt: Halt
    ) -> RemoteEnding:
        complete = False
        while (report := self._report(str(number))) is None:
            came = self._read(SECONDS_BETWEEN_LOOKS, output)
            complete = complete or self._take_mark(number, output)
            if why := halt():
                return self._halt(number, request, output, why)
            if not came and self._channel.exit_code is not None:
                return self._ending_of_shell(number, request, output)
        complete = complete or self._completes(number, output, SECONDS_FOR_THE_REST)
        left_running = not complete and self._leave_behind(number, output, report[0])
        return self._ending(report, left_running=left_running)

    def _completes(self, number: int, output: OutputCollector | None, seconds: float) -> bool:
        """Read to the end of the output of a command; False if it does not come in time."""
        deadline = time.monotonic() + seconds
        while not self._take_mark(number, output):
            gone = "out" in self._ended and not self._text
            if gone or time.monotonic() > deadline:
                return False
            self._read(SECONDS_BETWEEN_LOOKS, output)
        return True

    def _leave_behind(self, number: int, output: OutputCollector, status: str) -> bool:
        """Read what the command itself has printed, and have the rest dropped.

        True if a background child goes on printing. The relay may just have been slow, so the
        shell writes a word behind what it knows of.
        """
        if status.startswith("ended "):
            self._kill()  # the others in its session
            self._completes(number, output, SECONDS_TO_DROP)
            return False
        word = secrets.token_hex(16).encode()
        self._channel.write(b"word\n%s\n" % word)
        deadline = time.monotonic() + SECONDS_TO_DROP
        while time.monotonic() < deadline and not self._pass_on(output, word):
            self._read(SECONDS_BETWEEN_LOOKS, None)
            if self._take_mark(number, output):
                return False
        self._channel.write(b"drop\n")
        if not self._completes(number, None, SECONDS_TO_DROP):
            raise HostError("the shell does not answer; it is started again")
        return True

    def _ending(self, report: tuple[str, str], *, left_running: bool) -> RemoteEnding:
        status, cwd = report
        home, number = self.saved.home, self.saved.number
        self.saved = Saved(home, f"{home}/state/{number % 2}", number)
        words = status.split()
        ended = "ended" in words
        if ended:
            self.end()
        return RemoteEnding(
            int(words[-1]),
            cwd,
            shell_ended=ended,
            left_running=left_running and not ended,
            moved="moved" in words,
            no_folder="nofolder" in words,
        )

    def _halt(
        self, number: int, request: Request, output: OutputCollector, why: str
    ) -> RemoteEnding:
        self._end_and_read(number, output)
        return RemoteEnding(-1, request.folder, halted=why, shell_ended=True)

    def _ending_of_shell(
        self, number: int, request: Request, output: OutputCollector
    ) -> RemoteEnding:
        """The command was ``exec``, or it killed the shell: nothing was told."""
        code = self._channel.exit_code
        self._end_and_read(number, output)
        return RemoteEnding(-1 if code is None else code, request.folder, shell_ended=True)

    def _end_and_read(self, number: int, output: OutputCollector) -> None:
        """End the shell; what it had printed by then is read."""
        try:
            self._kill()
            self._completes(number, output, SECONDS_TO_READ_ON)
            output.feed(self._text)
        finally:
            self._channel.close()

    def _read(self, timeout: float, output: OutputCollector | None) -> bool:
        """Take in what has come; whether there was anything. Output goes to ``output``."""
        piece = self._channel.read(timeout)
        if piece is None:
            return False
        if not piece.data:
            self._ended.add(piece.stream)
        elif piece.stream == "err":
            self._reports += piece.data
        else:
            self._text += piece.data
            if output is not None:
                self._pass_on(output)
        return True

    def _pass_on(self, output: OutputCollector, word: bytes = b"") -> bool:
        """Feed all before a mark, and not what may be the beginning of one.

        True if the word was found, which is a mark as well.
        """
        marks = [b"\0" + self._secret, *([b"\0%s\0" % word] if word else [])]
        starts = [start for mark in marks if (start := self._text.find(mark)) >= 0]
        last = self._text.rfind(b"\0", -len(marks[-1]) - 1)
        if last >= 0 and any(mark.startswith(self._text[last:]) for mark in marks):
            starts.append(last)
        start = min(starts, default=len(self._text))
        output.feed(self._text[:start])
        self._text = self._text[start:]
        return bool(word) and self._text.startswith(marks[-1])

    def _take_mark(self, number: int, output: OutputCollector | None) -> bool:
        """Whether the output of a command is complete. What comes before is dropped if None."""
        mark = b"\0%s\0%d\0" % (self._secret, number)
        before, found, after = self._text.partition(mark)
        if not found:
            return False
        if output is not None:
            output.feed(before)
        self._text = after
        return True

    def _report(self, number: str) -> tuple[str, str] | None:
        """Status and folder that are told for a command."""
        start = b"\0%s\0%s\0" % (self._secret, number.encode())
        _, found, rest = self._reports.partition(start)
        if not found or rest.count(b"\0") < 2:
            return None
        status, cwd, self._reports = rest.split(b"\0", 2)
        return status.decode(), cwd.decode("utf-8", "surrogateescape")


def _escaped(field: bytes) -> bytes:
    """On one line of plain characters, for the ``%b`` of `printf`."""
    return NEEDS_ESCAPE.sub(lambda found: b"\\0%03o" % found[0][0], field)
