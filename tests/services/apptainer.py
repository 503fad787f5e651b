"""Apptainer for tests: its program, and images of what this machine has."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.services import apptainer_debian, roots
from tests.services.packages import Unavailable, locked

SECONDS_TO_BUILD = 120
NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")
FUSE = Path("/dev/fuse")


class Images:
    """What instances are started from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = folder / "debian"
        self.sif = folder / "busybox.sif"
        self.archive = folder / "busybox-docker.tar"

    def settings(self, image: Path | None = None) -> dict[str, str]:
        return {
            "TERMINAL_SINGULARITY_IMAGE": str(image or self.sandbox),
            "TERMINAL_SCRATCH_DIR": str(self.folder / "scratch"),
            "TERMINAL_CONTAINER_PERSISTENT": "false",
            "TERMINAL_SINGULARITY_NETWORK": "false",
        }


@functools.cache
def images() -> Images | Unavailable:
    """The images, made once per process; or why there can be none."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-apptainer-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    try:
        _find_or_install()
        made = Images(folder)
        _build("--sandbox", made.sandbox, roots.debian(folder / "debian-root"))
        _build(made.sif, roots.busybox(folder / "busybox-root"))
    except Unavailable as reason:
        return reason
    return made


def why_none() -> str:
    """Why there is no apptainer here; "" if there is."""
    found = images()
    return str(found) if isinstance(found, Unavailable) else ""


def _find_or_install() -> None:
    if shutil.which("apptainer"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Unavailable("needs apptainer (https://apptainer.org)")
    with locked():
        if not shutil.which("apptainer"):
            apptainer_debian.install()


def _build(*arguments: object) -> None:
    command = ["apptainer", "-q", "build", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_BUILD)
    if done.returncode:
        raise Unavailable(f"apptainer cannot build an image: {done.stderr.strip()[-200:]}")


def as_nobody(folder: Path) -> list[str]:
    """How to start apptainer as an ordinary user who keeps things in ``folder``.

    Raises
    ------
    Unavailable
    """
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Unavailable("needs root, to become another user")
    shutil.chown(folder, "nobody", "nogroup")
    variables = [f"HOME={folder}", f"APPTAINER_CONFIGDIR={folder}/config"]
    return [*NOBODY, "env", *variables, str(shutil.which("apptainer"))]
