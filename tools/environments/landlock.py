"""Landlock: the kernel refuses a process, and all it starts, the files it has not been granted.

Weaker than bubblewrap: permissions and times of files can still be changed, sockets in the file
system can be spoken to, and other processes are seen (not touched, from Linux 6.12 on).
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import platform
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.environments.bounds import Bounds, NotContained
from tools.files.paths import is_inside

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls; the numbers are the same on all machines."""
ASK_VERSION = 1
BELOW_PATH = 1
OLDEST = 3
"""Before this version (Linux 6.2) any file could be cut to nothing."""
SCOPES_SINCE = 6
NO_SOCKETS, NO_SIGNALS = 1, 2

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
IOCTL_DEVICE = 1 << 15
ALL_OF_VERSION_3 = (1 << 15) - 1
READ = EXECUTE | READ_FILE | READ_DIR
USE_DEVICE = READ_FILE | WRITE_FILE | READ_DIR | IOCTL_DEVICE
RIGHTS_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | IOCTL_DEVICE
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
LAUNCHER = """\
import sys
place = [at for at, path in enumerate(sys.path) if path.endswith("-packages")][:1] or [None]
sys.path[place[0]:place[0]] = [sys.argv.pop(1)]
from tools.environments.confine import main; main()"""
"""Our own package is found before others of that name, and after Python's modules."""


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_fs", ctypes.c_uint64),
        ("handled_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@dataclass(frozen=True, slots=True)
class Landlock:
    """Landlock of this kernel."""

    version: int
    filters: bool
    """Whether system calls can be filtered as well."""
    name: str = "landlock"

    @classmethod
    def find(cls) -> Landlock:
        """The one of this kernel.

        Raises
        ------
        NotContained
            If it has none, or an old one.
        """
        version = version_of_kernel()
        if version < OLDEST:
            raise NotContained("landlock needs Linux 6.2 or later, and must be enabled there")
        return cls(version, importlib.util.find_spec("pyseccomp") is not None)

    @property
    def weakness(self) -> str:
        return "weaker than bubblewrap" + ("" if self.filters else "; no system call is filtered")

    def around(self, argv: Sequence[str], bounds: Bounds, cwd: str) -> list[str]:
        """The command that runs ``argv`` within the bounds. It starts where it is started."""
        if not bounds.network and not self.filters:
            raise NotContained("landlock cannot switch the network off without pyseccomp")
        root = str(Path(__file__).parents[2])
        said = json.dumps(asdict(bounds))
        return [sys.executable, "-I", "-c", LAUNCHER, root, said, "--", *argv]

    def variables(self, bounds: Bounds) -> Mapping[str, str]:
        return {"TMPDIR": bounds.tmp}

    def outside(self, path: str, bounds: Bounds) -> str:
        return path


def version_of_kernel() -> int:
    """What the kernel offers; 0 if nothing."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def restrict_this_process(bounds: Bounds) -> None:
    """From now on, and for ever. `no_new_privs` must be set.

    Raises
    ------
    OSError
    """
    version = version_of_kernel()
    rights = ALL_OF_VERSION_3 | (IOCTL_DEVICE if version >= 5 else 0)
    scoped = NO_SOCKETS | NO_SIGNALS if version >= SCOPES_SINCE else 0
    ruleset = _Ruleset(rights, 0, scoped)
    size = ctypes.sizeof(ruleset) if scoped else 8
    number = _call(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    for path, granted in grants(bounds):
        _grant(number, path, granted & rights)
    _call(RESTRICT_SELF, number, 0)
    os.close(number)


def grants(bounds: Bounds) -> Iterator[tuple[str, int]]:
    """Places, and what may be done with them and what is below."""
    everything = ALL_OF_VERSION_3 & ~(MAKE_CHAR | MAKE_BLOCK)
    yield from ((place, everything) for place in (bounds.workspace, bounds.tmp))
    if bounds.shell:
        yield bounds.shell, READ
        yield f"{bounds.shell}/pipes", WRITE_FILE
        yield f"{bounds.shell}/state", everything
    yield from ((f"/dev/{name}", USE_DEVICE) for name in DEVICES)
    yield from _readable("/", (*bounds.hidden, "/dev", "/run/user"))


def _readable(folder: str, hidden: Sequence[str]) -> Iterator[tuple[str, int]]:
    """All but what is hidden. Landlock can only grant: so name what is beside it.

    The names in a folder that holds something hidden can be seen, not what is in the files. What
    is made there later stays closed.
    """
    if folder in hidden:
        return
    if not any(is_inside(place, folder) for place in hidden):
        yield folder, READ
        return
    yield folder, READ_DIR
    try:
        names = [entry.name for entry in os.scandir(folder) if not entry.is_symlink()]
    except PermissionError:
        return
    for name in names:
        yield from _readable(os.path.join(folder, name), hidden)  # noqa: PTH118


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        number = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return  # cannot be reached anyway
    try:
        if not stat.S_ISDIR(os.fstat(number).st_mode):
            rights &= RIGHTS_OF_A_FILE
        if rights:
            _call(ADD_RULE, ruleset, BELOW_PATH, ctypes.byref(_Rule(rights, number)), 0)
    finally:
        os.close(number)


def _call(number: int, *arguments: object) -> int:
    result = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result
