"""Which process a number meant when it was written down: numbers are used again."""

from __future__ import annotations

import os


def birth_of(pid: int) -> str:
    """When a process was started, in words that only mean something here; "" if it is gone.

    One that has ended is there until its parent looks.
    """
    return _state_and_birth(pid)[1]


def is_alive(pid: int, birth: str) -> bool:
    """Does the process still run that had this number and this birth?"""
    if pid <= 0 or not birth:
        return False
    state, there = _state_and_birth(pid)
    return there == birth and state not in ("Z", "X")


def _state_and_birth(pid: int) -> tuple[str, str]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            stat = file.read()
    except OSError:
        return ("", "") if os.path.isdir("/proc/self") else _told_by_ps(pid)  # noqa: PTH112
    # The name of the program may contain spaces and brackets; the last one ends it.
    fields = stat[stat.rindex(b")") + 2 :].decode().split()
    return fields[0], fields[19]


def _told_by_ps(pid: int) -> tuple[str, str]:
    """Where there is no ``/proc``."""
    import subprocess  # not above: keepers start with this module

    asked = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False).stdout
    state, _, birth = told.strip().partition(" ")
    return state[:1], "_".join(birth.split())
