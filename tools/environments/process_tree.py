"""Ending all processes of a session: whatever a command started, and whatever that started.

On Linux ``/proc`` tells who belongs to it, including children that left for a session of their
own; elsewhere the process group of the leader has to do.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
SECONDS_BETWEEN_LOOKS = 0.005
SECONDS_TO_DIE = 0.5


def session_members(leader: int, also: Iterable[int] = ()) -> set[int]:
    """Living processes of the session of ``leader``, and the descendants of all these.

    Parameters
    ----------
    also
        Processes whose descendants count as well.
    """
    table = _processes()
    members = {pid for pid, (_, session) in table.items() if session == leader}
    members.update(pid for pid in also if pid in table)
    grown = True
    while grown:
        children = {pid for pid, (parent, _) in table.items() if parent in members} - members
        members |= children
        grown = bool(children)
    return members - {os.getpid()}


def end_session(leader: int, *, grace: float, also: Iterable[int] = ()) -> None:
    """Kill the leader at once and the others after ``grace`` seconds in which they may tidy up.

    The leader goes first, so that a shell cannot start the next command of its list.

    Parameters
    ----------
    also
        Processes that belonged to it a moment ago, though they may have lost their parents since.
    """
    if not PROC.is_dir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    members = session_members(leader, also) | (set(also) & _processes().keys())
    _signal(members & {leader}, signal.SIGKILL)
    _end_all(leader, members, asked={leader}, dead={leader}, grace=grace)


def end_politely(leader: int, *, grace: float) -> None:
    """Ask all of them to end, the leader first; kill those that are left after ``grace`` seconds.

    Whoever calls this knows that the number still means the session: that its leader lives, or
    something that holds its output.
    """
    if not PROC.is_dir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGTERM)
            time.sleep(grace)
            os.killpg(leader, signal.SIGKILL)
        return
    _end_all(leader, session_members(leader), asked=set(), dead=set(), grace=grace)


def _end_all(
    leader: int, members: set[int], *, asked: set[int], dead: set[int], grace: float
) -> None:
    """We look again and again, for processes may still be forked meanwhile.

    The leader comes first each time, so that a shell cannot start the next command of its list.
    """
    now = time.monotonic()
    patience, deadline = now + grace, now + grace + SECONDS_TO_DIE
    while (members := members - dead) and time.monotonic() < deadline:
        if time.monotonic() < patience:
            _signal(_first(leader, members - asked), signal.SIGTERM)
        else:
            _signal(_first(leader, members), signal.SIGKILL)
        asked |= members
        time.sleep(SECONDS_BETWEEN_LOOKS)
        _reap(members - {leader})
        members = session_members(leader, also=members)


def _first(leader: int, members: set[int]) -> list[int]:
    return sorted(members, key=lambda pid: pid != leader)


def _reap(pids: Iterable[int]) -> None:
    """Orphans become our children if we are the first process of a container."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _processes() -> dict[int, tuple[int, int]]:
    """Parent and session of every process that is not a zombie."""
    if not PROC.is_dir():
        return {}
    found = {}
    for name in os.listdir(PROC):  # noqa: PTH208 - runs every few milliseconds during a kill
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError):
            stat = (PROC / name / "stat").read_bytes()
            # The name of the program may contain spaces and brackets; the last one ends it.
            state, parent, _, session, *_ = stat[stat.rindex(b")") + 2 :].split(maxsplit=4)
            if state not in b"ZX":
                found[int(name)] = (int(parent), int(session))
    return found
