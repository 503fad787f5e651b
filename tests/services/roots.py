"""File systems for containers, made from what this machine has: nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.services.packages import Unavailable, need

PASSWD = "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home:/bin/sh\n"
GROUP = "root:x:0:\nagent:x:1000:\n"
FOLDERS = (
    "bin", "etc", "proc", "sys", "dev", "tmp", "root", "home", "var/tmp", "usr/bin", "usr/sbin",
    "run", "opt",
)  # fmt: skip
PACKAGES = (
    "base-files", "base-passwd", "bash", "dash", "coreutils", "grep", "sed", "findutils", "tar",
    "gzip", "procps", "util-linux", "mawk", "python3",
)  # fmt: skip
RECURSE = (
    "--recurse", "--installed", "--no-recommends", "--no-suggests", "--no-conflicts",
    "--no-breaks", "--no-replaces", "--no-enhances",
)  # fmt: skip
UNNEEDED = tuple(f"/usr/share/{name}/" for name in ("doc", "man", "locale", "info", "lintian"))
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
EXTRA = (
    "/etc/passwd", "/etc/group", "/etc/ld.so.cache", "/etc/alternatives/awk", "/usr/bin/awk",
)  # fmt: skip


def busybox(folder: Path) -> Path:
    """A root with nothing but busybox: no bash, no python."""
    need({"busybox": "busybox-static"})
    program = Path(shutil.which("busybox") or "")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=10)
    if linked.returncode == 0:
        raise Unavailable("needs busybox-static; the busybox here is linked dynamically")
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(program, folder / "bin/busybox")
    names = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=10)
    for name in names.stdout.split():
        if not (folder / "bin" / name).exists():
            (folder / "bin" / name).symlink_to("busybox")
    (folder / "usr/bin/env").symlink_to("../../bin/busybox")
    (folder / "etc/passwd").write_text(PASSWD)
    (folder / "etc/group").write_text(GROUP)
    for name in ("tmp", "var/tmp"):
        (folder / name).chmod(0o1777)
    return folder


def debian(folder: Path) -> Path:
    """A root with bash, the usual tools and python3, copied from this machine's packages."""
    if not shutil.which("dpkg") or not shutil.which("apt-cache"):
        raise Unavailable("needs Debian, whose installed packages are copied into an image")
    for name in (*FOLDERS, "usr/lib", "usr/lib64"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "bin").rmdir()
    for name in ("bin", "sbin", "lib", "lib64"):
        (folder / name).symlink_to(f"usr/{name}")
    for path in _files():
        _copy(Path(path), folder / path.lstrip("/"))
    for name in ("tmp", "var/tmp"):
        (folder / name).chmod(0o1777)
    return folder


def packed(folder: Path, archive: Path) -> Path:
    """The root as a tar file, for an engine to import."""
    with tarfile.open(archive, "w") as tar:
        tar.add(folder, arcname=".")
    return archive


def _files() -> list[str]:
    listed = _lines(["apt-cache", "depends", *RECURSE, *PACKAGES])
    names = sorted({line.strip() for line in listed if line[:1].isalnum()})
    found = set(EXTRA)
    for line in _lines(["dpkg", "-L", *names]):
        if line.startswith("/") and not line.startswith(UNNEEDED):
            first = line.split("/")[1]
            found.add(f"/usr{line}" if first in MERGED else line)
    return sorted(found)


def _copy(source: Path, target: Path) -> None:
    if not (source.is_symlink() or source.is_file()) or target.is_symlink() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(os.readlink(source))  # noqa: PTH115 - as it is written
    else:
        shutil.copy2(source, target)


def _lines(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()
