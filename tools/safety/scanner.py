"""A program of the user's that looks at commands before they run: tirith, or one like it.

``PROGRAM check --json --non-interactive --shell posix -- COMMAND`` ends with 0 (nothing found), 1
(blocked) or 2 (a warning) and says why on its standard output: JSON with ``findings``, or text. It
can only add questions. What it blocks a person may still allow, once or for the session: it judges
by the text, and its rules are made for people who read its answer.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tools.environments.process_tree import end_session
from tools.secrets.variables import for_children

logger = logging.getLogger(__name__)

ARGUMENTS = ("check", "--json", "--non-interactive", "--shell", "posix", "--")
DEFAULT = "tirith"
Verdict = Literal["allow", "block", "warn"]
VERDICTS: Mapping[int, Verdict] = {0: "allow", 1: "block", 2: "warn"}
"""By exit code; any other one is a crash."""
SAID: Mapping[Verdict, str] = {
    "block": "is blocked by {name}",
    "warn": "draws a warning from {name}",
}
CRASHES = 3
LONGEST_COMMAND = 120_000
"""In bytes. The system passes no longer argument to a program."""
NAMED_FINDINGS = 3
MAX_REASON_CHARS = 300

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannerChoice:
    """What a user has chosen."""

    program: str = "auto"
    """A path or a name on PATH; ``auto`` takes tirith if it is there, ``off`` none."""
    timeout: float = 5.0
    """Seconds that it may take for one command."""
    fail_open: bool = True
    """Whether commands run unscanned when it fails; otherwise a person is asked."""
    places: tuple[str, ...] = ()
    """Where else tirith may be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a person should look at a command: "is blocked by tirith: Pipe to interpreter"."""

    reason: str


def is_wanted(choice: ScannerChoice) -> bool:
    """Is there a scanner, or should there be one?"""
    return choice.program != "off" and (choice.program != "auto" or _find(choice) is not None)


class ScannerFailed(Exception):
    """It crashed or took too long."""


class Scanner:
    """The scanner of a session. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the next two
        self._crashes = 0
        self._told: set[str] = set()

    def scan(self, command: str, cwd: str, choice: ScannerChoice, tell: Tell) -> Finding | None:
        """What it finds in a command that would run in ``cwd``; None if nothing.

        Parameters
        ----------
        tell
            Hears once in a session that there is no scanner, or no more.
        """
        if not is_wanted(choice):
            return None
        program = _find(choice)
        name = Path(program or choice.program).name
        if program is None:
            self._tell_once(f"there is no scanner {choice.program!r}: {_then(choice)}", tell)
            return _unscanned(choice, f"there is no {name}")
        if self._crashes >= CRASHES:
            return _unscanned(choice, f"{name} is switched off after {CRASHES} failures")
        if len(command.encode("utf-8", "surrogatepass")) > LONGEST_COMMAND or "\0" in command:
            return Finding(f"cannot be scanned by {name}: it is too long or holds a NUL")
        try:
            verdict, reason = _asked(program, command, cwd, choice.timeout)
        except (ScannerFailed, OSError) as error:
            return self._failed(name, str(error), choice, tell)
        with self._lock:
            self._crashes = 0
        if verdict == "allow":
            return None
        said = SAID[verdict].format(name=name)
        return Finding(f"{said}: {reason}" if reason else said)

    def _failed(self, name: str, why: str, choice: ScannerChoice, tell: Tell) -> Finding | None:
        logger.warning("the scanner %s failed: %s", name, why)
        with self._lock:
            self._crashes += 1
            is_last = self._crashes >= CRASHES
        if is_last:
            self._tell_once(
                f"the scanner {name} failed {CRASHES} times in a row ({why}) and is switched off "
                f"in this session: {_then(choice)}",
                tell,
            )
        return _unscanned(choice, f"{name} {why}")

    def _tell_once(self, text: str, tell: Tell) -> None:
        with self._lock:
            is_new = text not in self._told
            self._told.add(text)
        if is_new:
            tell(text)


def _then(choice: ScannerChoice) -> str:
    return "commands run unscanned" if choice.fail_open else "every command is asked about"


def _unscanned(choice: ScannerChoice, why: str) -> Finding | None:
    return None if choice.fail_open else Finding(f"was not scanned: {why}")


def _find(choice: ScannerChoice) -> str | None:
    name = DEFAULT if choice.program == "auto" else os.path.expanduser(choice.program)  # noqa: PTH111
    places = choice.places if name == DEFAULT else ()
    return next(filter(None, map(shutil.which, (name, *places))), None)


def _asked(program: str, command: str, cwd: str, timeout: float) -> tuple[Verdict, str]:
    with subprocess.Popen(
        [program, *ARGUMENTS, command],
        cwd=cwd if Path(cwd).is_dir() else None,
        env=for_children(os.environ, ()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise ScannerFailed(f"took more than {timeout:g} s") from None
        finally:
            if process.returncode is None:
                end_session(process.pid, grace=0)
    verdict = VERDICTS.get(process.returncode)
    if verdict is None:
        raise ScannerFailed(f"ended with exit code {process.returncode}")
    return verdict, _reason_in(output.decode("utf-8", "replace"))


def _reason_in(output: str) -> str:
    """Why, in one line, from JSON or text."""
    try:
        told = json.loads(output)
    except ValueError:
        told = output
    parts = list(_reasons(told))
    more = len(parts) - NAMED_FINDINGS
    text = "; ".join(parts[:NAMED_FINDINGS]) + (f"; {more} more" if more > 0 else "")
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= MAX_REASON_CHARS else f"{line[: MAX_REASON_CHARS - 1]}…"


def _reasons(told: Any) -> Iterator[str]:
    if not isinstance(told, dict):
        yield from (line for line in str(told).splitlines() if line.strip())
        return
    findings = told.get("findings")
    for finding in findings if isinstance(findings, list) else ():
        if isinstance(finding, dict):
            said = _first(finding, "title", "description", "message", "rule_id")
            severity = _first(finding, "severity").lower()
            yield f"{said} ({severity})" if severity else said
    if not findings:
        yield from filter(None, [_first(told, "summary", "reason", "message", "error")])


def _first(told: Mapping[str, Any], *names: str) -> str:
    return next((str(told[name]) for name in names if told.get(name)), "")
