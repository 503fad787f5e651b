"""Whose a container is: which process of which machine, so that what it left can be found."""

from __future__ import annotations

import os
import platform
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")


def this_owner() -> str:
    """This process, told apart from a later one with the same number."""
    return _owner(os.getpid())


def is_gone(owner: str) -> bool:
    """Whether that process certainly lives no more; False about other machines and boots of ours.

    A container of another machine's process may be here, if the engine is shared.
    """
    place, _, process = owner.rpartition("/")
    number = process.partition(":")[0]
    if place != _place() or not number.isdigit():
        return False
    return _owner(int(number)) != owner


def short_owner() -> str:
    """`this_owner` in letters and digits that a file or an instance may be named by."""
    return this_owner().rpartition("/")[2].replace(":", "-")


def is_gone_here(short: str) -> bool:
    """As `is_gone` for a `short_owner` that is known to be of this machine."""
    number, _, moment = short.partition("-")
    return number.isdigit() and started(int(number)) != moment


def _owner(pid: int) -> str:
    return f"{_place()}/{pid}:{started(pid)}"


def _place() -> str:
    """The machine since its start, and the namespace in which process numbers mean something."""
    try:
        boot = BOOT.read_text().strip()
        return f"{platform.node()}/{boot}/{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116
    except OSError:
        return platform.node()


def started(pid: int) -> str:
    """When it started, in ticks since boot; "0" where that is not known, "" if it does not live."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        fields = stat[stat.rindex(b")") + 2 :].split()
        return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0"
