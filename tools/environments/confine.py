"""Take rights away from this process for ever, then become another program.

``python -m tools.environments.confine BOUNDS -- bash ...``: in a process of its own, for between
``fork`` and ``exec`` of a process with threads nothing of this would be safe.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import re
import socket
import sys
from pathlib import Path
from typing import Any

from tools.environments.bounds import Bounds
from tools.environments.landlock import restrict_this_process

SET_NO_NEW_PRIVS, DROP_CAPABILITY = 38, 24
CAPABILITIES = 64
NEVER = (
    "add_key", "bpf", "delete_module", "finit_module", "init_module", "io_uring_setup",
    "kexec_file_load", "kexec_load", "keyctl", "mount", "open_by_handle_at", "perf_event_open",
    "pivot_root", "ptrace", "reboot", "request_key", "setns", "swapoff", "swapon", "umount2",
    "unshare", "userfaultfd",
)  # fmt: skip
"""System calls that no ordinary program needs and that lead around bounds."""
FAILED = 126


def main() -> None:
    try:
        said, _, *argv = sys.argv[1:]
        bounds = _bounds(said)
        filters = _filters()  # looks for its library, which the bounds may forbid
        if filters is None and not bounds.network:
            raise OSError("the network cannot be switched off without pyseccomp")
        _control(SET_NO_NEW_PRIVS, 1)
        _give_up_capabilities()
        restrict_this_process(bounds)
        if filters is not None:
            _filter_calls(filters, network=bounds.network)
        os.execvp(argv[0], argv)
    except (OSError, ValueError, TypeError) as error:
        print(f"cannot be contained: {error}", file=sys.stderr)
        raise SystemExit(FAILED) from None


def _bounds(said: str) -> Bounds:
    fields = json.loads(said)
    return Bounds(**{**fields, "hidden": tuple(fields["hidden"])})


def _filters() -> Any:
    try:
        return importlib.import_module("pyseccomp")
    except ImportError:
        return None


def _filter_calls(filters: Any, *, network: bool) -> None:
    refuse = filters.ERRNO(errno.EPERM)
    rules = filters.SyscallFilter(filters.ALLOW)
    for name in NEVER:
        rules.add_rule(refuse, name)
    if not network:
        rules.add_rule(refuse, "socket", filters.Arg(0, filters.NE, socket.AF_UNIX))
    rules.load()


def _give_up_capabilities() -> None:
    """Root without them is a user who owns the system's files, which the bounds protect."""
    for number in range(CAPABILITIES):
        try:
            _control(DROP_CAPABILITY, number)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EPERM):  # unknown, or not ours to give up
                raise
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    left = re.search(r"^CapBnd:\s*([0-9a-f]+)$", status, re.MULTILINE)
    if os.geteuid() == 0 and (left is None or int(left[1], 16)):
        raise OSError("root's capabilities cannot be given up here")


def _control(operation: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(operation, value, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


if __name__ == "__main__":
    main()
